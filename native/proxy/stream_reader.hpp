// One reader of one stream: the bytes of its response body, from the log, at the reader's own pace.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "core/dialect/dialect.hpp"
#include "native/log/stream_log.hpp"

namespace tidemark::proxy {

/// Sans-I/O. Holds no bytes of the stream: a reader that stalls costs its place in the log and nothing else.
class StreamReader {
 public:
  StreamReader(const log::StreamLog& log, log::StreamId stream, log::Offset from, dialect::Dialect dialect,
               TimeMs keepalive_ms, TimeMs now);

  enum class State : std::uint8_t {
    Bytes,    // `bytes` is next; tell taken() how much of it was used
    Waiting,  // nothing now; ask again when the log has changed, or at deadline()
    Done,     // the body is complete
    Lost,     // the log has dropped what was to come: the body must be cut, not ended
  };
  struct Next {
    State state = State::Waiting;
    std::string_view bytes;  // valid until the log changes or this reader is asked again
  };
  /// `end_comment`: the last bytes of the body, once the stream has ended.
  Next next(TimeMs now, std::string_view end_comment);
  void taken(std::size_t count, TimeMs now);
  /// Makes a keepalive due, where there is nothing else to send.
  void hurry() { hurried_ = true; }

  /// When a keepalive is due: kNever while there is something else to send.
  TimeMs deadline() const { return waiting_ ? last_sent_ + keepalive_ms_ : kNever; }

 private:
  enum class Phase : std::uint8_t { Events, Keepalive, Ending };

  const log::StreamLog& log_;
  log::StreamId stream_;
  log::Offset at_;
  std::size_t extra_at_ = 0;  // bytes already sent of the keepalive or of the end comment
  TimeMs keepalive_ms_;
  TimeMs last_sent_;
  dialect::Dialect dialect_;
  Phase phase_ = Phase::Events;
  bool waiting_ = false;
  bool hurried_ = false;
};

}  // namespace tidemark::proxy
