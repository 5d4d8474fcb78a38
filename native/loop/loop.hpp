// The event loop: a façade over standalone Asio, which stays inside this directory's sources. One loop, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/time.hpp"

namespace tidemark::loop {

/// A turn is one handler (readiness, a posted task), then the deferred tasks, then the timers that are due, then the
/// end of retired objects. Everything runs in the thread that calls run(); only post() and stop() may be called from
/// others. What was made with a loop (sockets, timers) must not outlive it.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Until stop(), which may come before: then it returns at once.
  void run();
  /// From any thread.
  void stop();
  /// One turn: waits for a handler or a timer, at most `wait_ms`. False where nothing ran.
  bool run_one(TimeMs wait_ms);

  /// Runs `task` in a later turn. From any thread.
  void post(std::function<void()> task);
  /// Runs `task` at the end of this turn, or in the next one when called outside of any. The loop's thread only.
  void defer(std::function<void()> task);
  /// Keeps `object` until the end of this turn: for what may still be on the call stack.
  void retire(std::shared_ptr<void> object);

  /// A clock that never runs backwards, milliseconds from an origin of its own.
  TimeMs now_ms() const;
  /// The wall clock, milliseconds since 1970.
  std::int64_t unix_now_ms() const;

  /// SIGTERM and SIGINT call `handler` in the loop, each time that they come. Replaces the handler before.
  void on_termination(std::function<void()> handler);

  /// One buffer for all reads of this thread, so that a connection that waits holds none. Whoever reads into it is done
  /// with it, or has copied, before returning to the loop.
  static constexpr std::size_t kReadBuffer = std::size_t{64} * 1024;
  char* read_buffer();

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// One deadline; destroying the timer cancels it. A handler may set, cancel or destroy its own timer.
class Timer {
 public:
  explicit Timer(Loop& loop) : loop_(loop) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Calls `handler` once when `deadline` (of Loop::now_ms) has come, never from inside set(); kNever cancels. Replaces
  /// what was set before.
  void set(TimeMs deadline, std::function<void()> handler);
  void cancel();
  bool armed() const { return place_ != kNowhere; }
  TimeMs deadline() const { return armed() ? deadline_ : kNever; }

 private:
  friend class DeadlineHeap;
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  Loop& loop_;
  std::function<void()> handler_;
  TimeMs deadline_ = kNever;
  std::uint64_t order_ = 0;       // of setting: equal deadlines come in that order
  std::size_t place_ = kNowhere;  // in the loop's heap
};

}  // namespace tidemark::loop
