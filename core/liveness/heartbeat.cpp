// Heartbeat.
#include "core/liveness/heartbeat.hpp"

#include <algorithm>

namespace tidemark::liveness {

void Heartbeat::start(TimeMs now) {
  running_ = true;
  last_ = now;
}

void Heartbeat::stop() { running_ = false; }

void Heartbeat::beat(TimeMs now) { last_ = now; }

void Heartbeat::pause() { paused_ = true; }

void Heartbeat::resume(TimeMs now) {
  paused_ = false;
  give_grace(now);
}

TimeMs Heartbeat::deadline() const {
  return running_ && !paused_ && timeout_ms_ > 0 ? later(last_, timeout_ms_) : kNever;
}

bool Heartbeat::expired(TimeMs now) {
  const TimeMs due = deadline();
  if (due == kNever || now < due) return false;
  if (now - due > timeout_ms_) {
    give_grace(now);
    return false;
  }
  return true;
}

void Heartbeat::give_grace(TimeMs now) { last_ = std::max(last_, now - timeout_ms_ + std::min(timeout_ms_, kGraceMs)); }

}  // namespace tidemark::liveness
