// Heads, line by line.
#include "native/http/h1_head_reader.hpp"

#include <algorithm>

namespace tidemark::http {
namespace {

// RFC 9110 § 5.6.2
bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// RFC 9110 § 5.5: what a field's value may not hold.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

bool has_control(std::string_view text) { return std::any_of(text.begin(), text.end(), is_control); }

enum class Version : std::uint8_t { Known, Unknown, Malformed };

Version version_of(std::string_view text) {
  if (text == "HTTP/1.1" || text == "HTTP/1.0") return Version::Known;
  const bool formed =
      text.size() == 8 && text.substr(0, 5) == "HTTP/" && is_digit(text[5]) && text[6] == '.' && is_digit(text[7]);
  return formed ? Version::Unknown : Version::Malformed;
}

}  // namespace

std::size_t H1HeadReader::feed(std::string_view bytes) {
  std::size_t consumed = 0;
  while (state_ == State::Reading && consumed < bytes.size()) {
    const std::string_view rest = bytes.substr(consumed);
    const std::size_t line_feed = rest.find('\n');
    const std::size_t taken = line_feed == std::string_view::npos ? rest.size() : line_feed + 1;
    if (skipped_ + head_.size() + taken > limit_) {
      fail(Fault::HeadTooLarge, "has a head that is too long");
      break;
    }
    head_.append(rest.substr(0, taken));
    consumed += taken;
    if (line_feed == std::string_view::npos) break;
    const std::string_view line = std::string_view(head_).substr(line_start_);
    if (line.size() < 2 || line[line.size() - 2] != '\r') {
      fail(Fault::BadMessage, "has a line that ends without CR");
      break;
    }
    take_line(line.substr(0, line.size() - 2));
  }
  return consumed;
}

void H1HeadReader::take_line(std::string_view line) {
  const bool first = line_start_ == 0;
  if (line.empty()) {
    if (first) {
      skipped_ += head_.size();
      head_.clear();
    } else {
      state_ = State::Complete;
    }
    return;
  }
  if (has_control(line)) return fail(Fault::BadMessage, "has a control character in its head");
  if (!first) {
    take_field(line);
  } else if (kind_ == Kind::Request) {
    take_request_line(line);
  } else {
    take_status_line(line);
  }
  line_start_ = head_.size();
}

void H1HeadReader::take_request_line(std::string_view line) {
  const std::size_t after_method = line.find(' ');
  const std::size_t before_version = line.rfind(' ');
  if (after_method == std::string_view::npos || after_method == before_version) {
    return fail(Fault::BadMessage, "has a malformed request line");
  }
  const std::string_view target = line.substr(after_method + 1, before_version - after_method - 1);
  if (!is_token(line.substr(0, after_method)) || target.empty() || target.find_first_of(" \t") != target.npos) {
    return fail(Fault::BadMessage, "has a malformed request line");
  }
  switch (version_of(line.substr(before_version + 1))) {
    case Version::Known:
      return;
    case Version::Unknown:
      return fail(Fault::UnknownVersion, "is of an HTTP version other than 1.0 and 1.1");
    case Version::Malformed:
      return fail(Fault::BadMessage, "has a malformed request line");
  }
}

void H1HeadReader::take_status_line(std::string_view line) {
  switch (version_of(line.substr(0, 8))) {
    case Version::Known:
      break;
    case Version::Unknown:
      return fail(Fault::UnknownVersion, "is of an HTTP version other than 1.0 and 1.1");
    case Version::Malformed:
      return fail(Fault::BadMessage, "is not HTTP");
  }
  // The space after the status is often left out where no reason follows.
  const bool formed = line.size() >= 12 && line[8] == ' ' && is_digit(line[9]) && is_digit(line[10]) &&
                      is_digit(line[11]) && line[9] != '0' && (line.size() == 12 || line[12] == ' ');
  if (!formed) fail(Fault::BadMessage, "has a malformed status line");
}

void H1HeadReader::take_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') return fail(Fault::BadMessage, "has a folded header line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    fail(Fault::BadMessage, "has a malformed header name");
  }
}

void H1HeadReader::fail(Fault fault, std::string_view why) {
  state_ = State::Failed;
  fault_ = fault;
  why_ = why;
}

void H1HeadReader::restart() {
  std::string().swap(head_);
  line_start_ = 0;
  skipped_ = 0;
  state_ = State::Reading;
}

}  // namespace tidemark::http
