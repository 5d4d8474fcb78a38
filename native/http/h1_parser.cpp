// llhttp and what it lets pass.
#include "native/http/h1_parser.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::http {
namespace {

H1Parser& parser_of(llhttp_t* llhttp) { return *static_cast<H1Parser*>(llhttp->data); }

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

// They only note what they are told: nothing is called from here.
struct H1Parser::Callbacks {
  static int on_start(llhttp_t* llhttp, const char* at, std::size_t length) {
    parser_of(llhttp).start.append(at, length);
    return HPE_OK;
  }

  static int on_field(llhttp_t* llhttp, const char* at, std::size_t length) {
    H1Parser& parser = parser_of(llhttp);
    if (!parser.head_parsed_) parser.name_.append(at, length);
    return HPE_OK;
  }

  static int on_value(llhttp_t* llhttp, const char* at, std::size_t length) {
    H1Parser& parser = parser_of(llhttp);
    if (!parser.head_parsed_) parser.value_.append(at, length);
    return HPE_OK;
  }

  static int on_value_complete(llhttp_t* llhttp) {
    H1Parser& parser = parser_of(llhttp);
    if (!parser.head_parsed_) parser.fields.add(parser.name_, without_trailing_space(parser.value_));
    parser.name_.clear();
    parser.value_.clear();
    return HPE_OK;
  }

  static int on_head(llhttp_t* llhttp) {
    H1Parser& parser = parser_of(llhttp);
    parser.head_parsed_ = true;
    llhttp->upgrade = 0;  // no protocol is ever switched: Upgrade is passed over (RFC 9110 § 7.8)
    parser.keep_alive_ = llhttp_should_keep_alive(llhttp) != 0;
    // The length that a 204 or 304 states is not that of a body of its own (RFC 9112 § 6.3, 1); llhttp would wait for
    // it.
    const bool bodiless = llhttp->status_code / 100 == 1 || llhttp->status_code == 204 || llhttp->status_code == 304;
    constexpr int kNoBody = 1;
    return parser.no_body_ || bodiless ? kNoBody : 0;
  }

  static int on_body(llhttp_t* llhttp, const char* at, std::size_t length) {
    parser_of(llhttp).pieces.emplace_back(at, length);
    return HPE_OK;
  }

  static int on_complete(llhttp_t* llhttp) {
    parser_of(llhttp).complete_ = true;
    return HPE_PAUSED;
  }

  static llhttp_settings_t settings() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_url = on_start;
    settings.on_status = on_start;
    settings.on_header_field = on_field;
    settings.on_header_value = on_value;
    settings.on_header_value_complete = on_value_complete;
    settings.on_headers_complete = on_head;
    settings.on_body = on_body;
    settings.on_message_complete = on_complete;
    return settings;
  }
};

H1Parser::H1Parser(H1HeadReader::Kind kind, const CodecLimits& limits)
    : head_(kind, limits.head_bytes), limits_(limits), kind_(kind) {
  restart();
}

void H1Parser::restart() {
  static const llhttp_settings_t settings = Callbacks::settings();
  llhttp_init(&llhttp_, kind_ == H1HeadReader::Kind::Request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
  llhttp_.data = this;
  head_.restart();
  start.clear();
  fields = {};
  state_ = State::Head;
  body_bytes_ = 0;
  between_bytes_ = 0;
  between_last_ = 0;
  head_parsed_ = false;
  chunked_ = false;
  until_end_ = false;
  complete_ = false;
}

void H1Parser::fail(Fault fault, std::string_view why) {
  state_ = State::Failed;
  fault_ = fault;
  why_ = why;
}

std::string H1Parser::method() const { return llhttp_method_name(static_cast<llhttp_method_t>(llhttp_.method)); }

std::size_t H1Parser::run(std::string_view bytes) {
  const llhttp_errno_t error = llhttp_execute(&llhttp_, bytes.data(), bytes.size());
  if (error == HPE_OK) return bytes.size();
  if (error == HPE_PAUSED && complete_) {
    state_ = State::Complete;
    return static_cast<std::size_t>(llhttp_get_error_pos(&llhttp_) - bytes.data());
  }
  if (error == HPE_INVALID_METHOD) {
    fail(Fault::UnknownMethod, "has an unknown method");
  } else {
    fail(Fault::BadMessage, head_parsed_ ? "has a malformed body" : "has a malformed head");
  }
  return 0;
}

std::size_t H1Parser::feed_head(std::string_view bytes) {
  const std::size_t consumed = head_.feed(bytes);
  if (head_.state() == H1HeadReader::State::Reading) return consumed;
  if (head_.state() == H1HeadReader::State::Failed) {
    fail(head_.fault(), head_.why());
    return consumed;
  }
  const std::size_t parsed = run(head_.head());
  const std::size_t expected = head_.head().size();
  head_.restart();
  if (state_ == State::Failed) return consumed;
  if (!head_parsed_ || parsed != expected) {
    fail(Fault::BadMessage, "has a malformed head");
    return consumed;
  }
  if (state_ == State::Head) state_ = State::Body;
  check_framing();
  return consumed;
}

// RFC 9112 § 6.1 to 6.3, and stricter where that leaves a choice.
void H1Parser::check_framing() {
  const bool request = kind_ == H1HeadReader::Kind::Request;
  const std::size_t lengths = fields.count("content-length");
  const std::size_t codings = fields.count("transfer-encoding");
  if (lengths > 1) return fail(Fault::BadMessage, "has more than one Content-Length");
  if (lengths == 1) {
    const std::string_view length = fields.get("content-length");
    if (length.empty() || length.find_first_not_of("0123456789") != length.npos) {
      return fail(Fault::BadMessage, "has a Content-Length that is not a number");
    }
    if (codings > 0) return fail(Fault::BadMessage, "has both Content-Length and Transfer-Encoding");
    if (state_ == State::Body && llhttp_.content_length > limits_.body_bytes) {
      return fail(Fault::BodyTooLarge, "has a body that is too long");
    }
  }
  if (codings > 0) {
    if (codings > 1 || !equal_names(fields.get("transfer-encoding"), "chunked")) {
      return fail(Fault::BadMessage, "has a Transfer-Encoding other than chunked");
    }
    if (llhttp_.http_minor == 0) return fail(Fault::BadMessage, "has a Transfer-Encoding in HTTP/1.0");
    chunked_ = true;
  }
  if (request) {
    if (llhttp_.method == HTTP_CONNECT) return fail(Fault::UnknownMethod, "has the method CONNECT");
    const std::size_t hosts = fields.count("host");
    if (hosts > 1 || (hosts == 0 && llhttp_.http_minor > 0)) {
      return fail(Fault::BadMessage, "doesn't have exactly one Host");
    }
  } else {
    if (llhttp_.status_code == 101) return fail(Fault::BadMessage, "switches to a protocol that was not asked for");
    until_end_ = state_ == State::Body && llhttp_message_needs_eof(&llhttp_) != 0;
  }
}

// What lies between the pieces of a chunked body. llhttp takes some of it on trust: CR and LF apart, folded lines,
// control characters in extensions and trailers, any length.
void H1Parser::check_between(std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool line_feed = c == '\n';
    const bool folded = between_last_ == '\n' && (c == ' ' || c == '\t');
    const bool control = (byte < 0x20 && c != '\t' && c != '\r' && !line_feed) || byte == 0x7f;
    if (line_feed != (between_last_ == '\r') || folded || control) {
      return fail(Fault::BadMessage, "has malformed chunks");
    }
    between_last_ = c;
  }
  between_bytes_ += bytes.size();
  if (between_bytes_ > limits_.head_bytes)
    fail(Fault::HeadTooLarge, "has chunk extensions or trailers that are too long");
}

std::size_t H1Parser::feed_body(std::string_view bytes) {
  pieces.clear();
  const std::size_t consumed = run(bytes);
  if (state_ == State::Failed) return consumed;
  const char* at = bytes.data();
  for (const std::string_view piece : pieces) {
    if (state_ == State::Failed) break;
    if (chunked_) {
      check_between({at, static_cast<std::size_t>(piece.data() - at)});
      if (between_last_ == '\r') fail(Fault::BadMessage, "has malformed chunks");
      if (piece.data() != at) between_bytes_ = 0;
    }
    at = piece.data() + piece.size();
    body_bytes_ += piece.size();
    if (body_bytes_ > limits_.body_bytes) fail(Fault::BodyTooLarge, "has a body that is too long");
  }
  if (chunked_ && state_ != State::Failed) {
    check_between({at, static_cast<std::size_t>(bytes.data() + consumed - at)});
  }
  if (state_ == State::Failed) pieces.clear();
  return consumed;
}

}  // namespace tidemark::http
