// A reader's place in the log, and what goes out between and after the events.
#include "native/proxy/stream_reader.hpp"

#include "core/dialect/ending.hpp"

namespace tidemark::proxy {

StreamReader::StreamReader(const log::StreamLog& log, log::StreamId stream, log::Offset from, dialect::Dialect dialect,
                           TimeMs keepalive_ms, TimeMs now)
    : log_(log), stream_(stream), at_(from), keepalive_ms_(keepalive_ms), last_sent_(now), dialect_(dialect) {}

StreamReader::Next StreamReader::next(TimeMs now, std::string_view end_comment) {
  waiting_ = false;
  if (phase_ == Phase::Keepalive) return {State::Bytes, dialect::keepalive(dialect_).substr(extra_at_)};
  if (phase_ == Phase::Events) {
    const log::Read read = log_.read(stream_, at_);
    switch (read.state) {
      case log::Read::State::Bytes:
        return {State::Bytes, read.bytes};
      case log::Read::State::Gone:
        return {State::Lost, {}};
      case log::Read::State::Waiting:
        // All that was written has been sent, and it ends with a whole event: the only place for a keepalive.
        if (now < last_sent_ + keepalive_ms_ && !hurried_) {
          waiting_ = true;
          return {State::Waiting, {}};
        }
        phase_ = Phase::Keepalive;
        return {State::Bytes, dialect::keepalive(dialect_)};
      case log::Read::State::Ended:
        phase_ = Phase::Ending;
        break;
    }
  }
  if (phase_ == Phase::Ending && extra_at_ < end_comment.size()) {
    return {State::Bytes, end_comment.substr(extra_at_)};
  }
  return {State::Done, {}};
}

void StreamReader::taken(std::size_t count, TimeMs now) {
  last_sent_ = now;
  hurried_ = false;
  if (phase_ == Phase::Events) {
    at_ += count;
    return;
  }
  extra_at_ += count;
  if (phase_ == Phase::Keepalive && extra_at_ == dialect::keepalive(dialect_).size()) {
    extra_at_ = 0;
    phase_ = Phase::Events;
  }
}

}  // namespace tidemark::proxy
