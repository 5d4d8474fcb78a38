// Runs a decoder over bytes cut in pieces and writes down what it says, one line an action.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "native/http/h1_codec.hpp"

namespace tidemark::http::testing {

inline std::string text_of(Fault fault) {
  switch (fault) {
    case Fault::BadMessage:
      return "BadMessage";
    case Fault::HeadTooLarge:
      return "HeadTooLarge";
    case Fault::BodyTooLarge:
      return "BodyTooLarge";
    case Fault::UnknownMethod:
      return "UnknownMethod";
    case Fault::UnknownVersion:
      return "UnknownVersion";
    case Fault::CutShort:
      return "CutShort";
  }
  return {};
}

inline std::string start_of(const RequestHead& head) {
  return head.method + " " + head.target + " 1." + std::to_string(head.minor_version) +
         (head.keep_alive ? " keep" : " close");
}
inline std::string start_of(const ResponseHead& head) { return std::to_string(head.status) + " " + head.reason; }

/// Bodies are joined: how they are cut is not part of their meaning.
template <class A>
class Trace {
 public:
  void add(std::vector<A>& actions) {
    for (A& action : actions) {
      if (action.kind != A::Kind::Body) flush();
      switch (action.kind) {
        case A::Kind::Head:
          text_ += "head " + start_of(action.head) + "\n";
          for (const Header& field : action.head.headers) text_ += "  " + field.name + "=" + field.value + "\n";
          break;
        case A::Kind::Body:
          body_ += action.bytes;
          break;
        case A::Kind::End:
          text_ += std::string("end") + (action.framed ? "" : " unframed") + "\n";
          break;
        case A::Kind::Failed:
          text_ += "failed " + text_of(action.fault) + "\n";
          failed = true;
          break;
      }
    }
    actions.clear();
  }
  std::string take() {
    flush();
    return text_;
  }
  bool failed = false;

 private:
  void flush() {
    if (!body_.empty()) text_ += "body " + body_ + "\n";
    body_.clear();
  }
  std::string text_;
  std::string body_;
};

/// Feeds `bytes` in two pieces, cut at `cut`; or byte by byte.
constexpr std::size_t kEveryByte = static_cast<std::size_t>(-1);

template <class A, class Decoder>
void feed(Decoder& decoder, std::string_view bytes, Trace<A>& trace) {
  std::vector<A> actions;
  while (!bytes.empty() && !trace.failed) {
    bytes.remove_prefix(decoder.feed(bytes, actions));
    trace.add(actions);
  }
}

template <class A, class Decoder>
void feed_cut(Decoder& decoder, std::string_view bytes, std::size_t cut, Trace<A>& trace) {
  if (cut == kEveryByte) {
    for (std::size_t i = 0; i < bytes.size(); ++i) feed(decoder, bytes.substr(i, 1), trace);
  } else {
    feed(decoder, bytes.substr(0, cut), trace);
    feed(decoder, bytes.substr(cut), trace);
  }
}

}  // namespace tidemark::http::testing
