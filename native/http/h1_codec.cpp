// Messages to actions.
#include "native/http/h1_codec.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "native/http/h1_parser.hpp"

namespace tidemark::http {
namespace {

using State = H1Parser::State;

template <class A>
A of_kind(typename A::Kind kind) {
  A action;
  action.kind = kind;
  return action;
}

// RFC 9112 § 3.2.2: a server takes the absolute form too, "http://host/path?query"; what counts is what follows the
// host.
std::string origin_form(std::string target) {
  const std::size_t scheme = target.find("://");
  if (scheme == std::string::npos || target.front() == '/') return target;
  const std::size_t end = std::min(target.find_first_of("/?", scheme + 3), target.size());
  target.erase(0, end);
  if (target.empty() || target.front() == '?') target.insert(0, "/");
  return target;
}

template <class A>
void add_failure(const H1Parser& parser, std::vector<A>& actions) {
  A action = of_kind<A>(A::Kind::Failed);
  action.fault = parser.fault();
  action.why = parser.why();
  actions.push_back(std::move(action));
}

template <class A>
void add_end(H1Parser& parser, bool framed, std::vector<A>& actions) {
  A action = of_kind<A>(A::Kind::End);
  action.framed = framed;
  action.keep_alive = framed && parser.keep_alive();
  actions.push_back(std::move(action));
  parser.restart();
}

template <class A>
std::size_t feed_body(H1Parser& parser, std::string_view bytes, std::vector<A>& actions) {
  const std::size_t consumed = parser.feed_body(bytes);
  for (const std::string_view piece : parser.pieces) {
    A& action = actions.emplace_back();
    action.kind = A::Kind::Body;
    action.bytes = piece;
  }
  if (parser.state() == State::Failed) add_failure(parser, actions);
  if (parser.state() == State::Complete) add_end(parser, true, actions);
  return consumed;
}

}  // namespace

H1RequestDecoder::H1RequestDecoder(const CodecLimits& limits)
    : parser_(std::make_unique<H1Parser>(H1HeadReader::Kind::Request, limits)) {}
H1RequestDecoder::~H1RequestDecoder() = default;

std::size_t H1RequestDecoder::feed(std::string_view bytes, std::vector<RequestAction>& actions) {
  std::size_t consumed = 0;
  if (parser_->state() == State::Head) {
    consumed = parser_->feed_head(bytes);
    if (parser_->state() == State::Failed) {
      add_failure(*parser_, actions);
      return consumed;
    }
    if (parser_->state() == State::Head) return consumed;
    RequestAction action = of_kind<RequestAction>(RequestAction::Kind::Head);
    action.head.method = parser_->method();
    action.head.target = origin_form(std::move(parser_->start));
    action.head.headers = std::move(parser_->fields);
    action.head.minor_version = parser_->minor_version();
    action.head.keep_alive = parser_->keep_alive();
    actions.push_back(std::move(action));
    if (parser_->state() == State::Complete) {
      add_end(*parser_, true, actions);
      return consumed;
    }
  }
  if (parser_->state() == State::Body && consumed < bytes.size()) {
    consumed += feed_body(*parser_, bytes.substr(consumed), actions);
  }
  return consumed;
}

H1ResponseDecoder::H1ResponseDecoder(const CodecLimits& limits)
    : parser_(std::make_unique<H1Parser>(H1HeadReader::Kind::Response, limits)) {}
H1ResponseDecoder::~H1ResponseDecoder() = default;

void H1ResponseDecoder::expect(std::string_view method) { parser_->expect_no_body(method == "HEAD"); }

std::size_t H1ResponseDecoder::feed(std::string_view bytes, std::vector<ResponseAction>& actions) {
  std::size_t consumed = 0;
  while (parser_->state() == State::Head && consumed < bytes.size()) {
    consumed += parser_->feed_head(bytes.substr(consumed));
    if (parser_->state() == State::Failed) {
      add_failure(*parser_, actions);
      return consumed;
    }
    if (parser_->state() == State::Head) return consumed;
    if (parser_->status() / 100 == 1) {
      parser_->restart();
      continue;
    }
    ResponseAction action = of_kind<ResponseAction>(ResponseAction::Kind::Head);
    action.head.status = parser_->status();
    action.head.reason = std::move(parser_->start);
    action.head.headers = std::move(parser_->fields);
    actions.push_back(std::move(action));
    if (parser_->state() == State::Complete) {
      add_end(*parser_, true, actions);
      return consumed;
    }
    break;
  }
  if (parser_->state() == State::Body && consumed < bytes.size()) {
    consumed += feed_body(*parser_, bytes.substr(consumed), actions);
  }
  return consumed;
}

void H1ResponseDecoder::finish(std::vector<ResponseAction>& actions) {
  if (parser_->state() == State::Failed) return;
  if (parser_->until_end()) return add_end(*parser_, false, actions);
  parser_->fail(Fault::CutShort, "ended before it was complete");
  add_failure(*parser_, actions);
}

}  // namespace tidemark::http
