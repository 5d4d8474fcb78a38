// Heartbeat: a leg on which nothing came for too long counts as lost.
#pragma once

#include "core/base/time.hpp"

namespace tidemark::liveness {

/// Judges only while running and not paused. After a pause (a hidden page) and late timers (a sleeping phone) bytes may
/// be waiting that nobody has read yet: a leg that has been silent for the timeout is then given kGraceMs to hand them
/// over.
class Heartbeat {
 public:
  static constexpr TimeMs kGraceMs = 2000;

  /// timeout 0: never judges.
  explicit Heartbeat(TimeMs timeout_ms) : timeout_ms_(timeout_ms) {}

  void start(TimeMs now);
  void stop();
  void beat(TimeMs now);
  void pause();
  void resume(TimeMs now);

  /// kNever while stopped or paused.
  TimeMs deadline() const;
  /// True when the leg is to be given up. Called later than the deadline by more than one timeout, it gives the leg its
  /// grace instead: the machine slept.
  bool expired(TimeMs now);

 private:
  void give_grace(TimeMs now);

  TimeMs timeout_ms_;
  TimeMs last_ = 0;
  bool running_ = false;
  bool paused_ = false;
};

}  // namespace tidemark::liveness
