// The loop on asio::io_context. Deadlines bound how long it waits; no asio timer is used.
#include "native/loop/loop.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <chrono>
#include <csignal>
#include <utility>

#include "native/loop/loop_impl.hpp"

namespace tidemark::loop {

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() {
  // What waits here may hold sockets, which need the context.
  while (!impl_->deferred.empty() || !impl_->retired.empty()) {
    const auto deferred = std::exchange(impl_->deferred, {});
    const auto retired = std::exchange(impl_->retired, {});
  }
}

bool Loop::Impl::finish_turn() {
  bool ran = false;
  while (!deferred.empty()) {
    ran = true;
    running.swap(deferred);
    for (auto& task : running) {
      const auto moved = std::move(task);  // so that what it holds dies with it
      moved();
    }
    running.clear();
  }
  if (deadlines.earliest() != kNever) {
    const TimeMs now =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    // A handler that sets a timer into the past comes in the next turn.
    const std::uint64_t set_before = deadlines.next_order();
    while (const auto handler = deadlines.take_due(now, set_before)) {
      ran = true;
      handler();
    }
  }
  // Destructors may retire further objects.
  while (!retired.empty()) {
    const auto dying = std::exchange(retired, {});
  }
  return ran;
}

bool Loop::run_one(TimeMs wait_ms) {
  TimeMs wait = wait_ms;
  if (!impl_->deferred.empty()) wait = 0;
  const TimeMs earliest = impl_->deadlines.earliest();
  if (earliest != kNever) wait = std::min(wait, std::max<TimeMs>(earliest - now_ms(), 0));
  // Asio takes a deadline on a clock of nanoseconds: an hour at a time is far from its end. With no time to wait,
  // run_one_for would run nothing at all.
  constexpr TimeMs kLongest = 3'600'000;
  const std::size_t ran = wait <= 0 ? impl_->context.poll_one()
                                    : impl_->context.run_one_for(std::chrono::milliseconds(std::min(wait, kLongest)));
  return impl_->finish_turn() || ran != 0;
}

void Loop::run() {
  while (!impl_->context.stopped()) run_one(kNever);
  impl_->context.restart();
}

void Loop::stop() { impl_->context.stop(); }

void Loop::post(std::function<void()> task) { asio::post(impl_->context, std::move(task)); }

void Loop::defer(std::function<void()> task) { impl_->deferred.push_back(std::move(task)); }

void Loop::retire(std::shared_ptr<void> object) { impl_->retired.push_back(std::move(object)); }

TimeMs Loop::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t Loop::unix_now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Loop::Impl::wait_for_termination() {
  signals.async_wait([this](const asio::error_code& error, int) {
    if (error) return;
    wait_for_termination();
    const auto handler = terminated;
    handler();
  });
}

void Loop::on_termination(std::function<void()> handler) {
  const bool first = !impl_->terminated;
  impl_->terminated = std::move(handler);
  if (!first) return;
  impl_->signals.add(SIGTERM);
  impl_->signals.add(SIGINT);
  impl_->wait_for_termination();
}

char* Loop::read_buffer() { return impl_->read_buffer.data(); }

void Timer::set(TimeMs deadline, std::function<void()> handler) {
  cancel();
  if (deadline == kNever) return;
  handler_ = std::move(handler);
  deadline_ = deadline;
  loop_.impl().deadlines.add(*this);
}

void Timer::cancel() {
  if (!armed()) return;
  loop_.impl().deadlines.remove(*this);
  handler_ = nullptr;
}

}  // namespace tidemark::loop
