// Heartbeat: a leg on which nothing came for too long counts as lost.
#pragma once

#include "core/base/time.hpp"

namespace tidemark::liveness {

/// Judges only while running and not paused. A pause (a hidden page) and late timers (a sleeping phone) never count as
/// silence: after either, a full timeout starts anew.
class Heartbeat {
 public:
  /// timeout 0: never judges.
  explicit Heartbeat(TimeMs timeout_ms) : timeout_ms_(timeout_ms) {}

  void start(TimeMs now);
  void stop();
  void beat(TimeMs now);
  void pause();
  void resume(TimeMs now);

  /// kNever while stopped or paused.
  TimeMs deadline() const;
  /// True when the leg is to be given up. Called much later than the deadline (more than one timeout), it gives the leg
  /// one more timeout instead: the machine slept, and bytes may be waiting.
  bool expired(TimeMs now);

 private:
  TimeMs timeout_ms_;
  TimeMs last_ = 0;
  bool running_ = false;
  bool paused_ = false;
};

}  // namespace tidemark::liveness
