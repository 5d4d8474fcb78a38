// What a stream says about itself.
#include "native/proxy/stream.hpp"

#include "core/sse/encoder.hpp"
#include "native/proxy/stream_run.hpp"

namespace tidemark::proxy {

Stream::Stream() = default;
Stream::~Stream() = default;

std::string_view Stream::state() const {
  if (end) return session::name(end->state);
  return log ? "running" : "waiting";
}

std::string Stream::end_comment() const {
  std::string out;
  if (!end) return out;
  std::string text = "tidemark end=";
  text.append(session::name(end->state)).append(" reason=").append(session::name(end->reason));
  sse::append_comment(out, text);
  return out;
}

}  // namespace tidemark::proxy
