// The deadlines of one loop: a binary heap of timers that know their places, so that each can be taken out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "native/loop/loop.hpp"

namespace tidemark::loop {

class DeadlineHeap {
 public:
  /// O(log n). Precondition: the timer is not in the heap.
  void add(Timer& timer);
  /// O(log n). Precondition: it is.
  void remove(Timer& timer);
  /// kNever when empty.
  TimeMs earliest() const { return timers_.empty() ? kNever : timers_.front()->deadline_; }
  /// Takes out the first timer whose deadline is at or before `now` and that was set before `set_before` (a value of
  /// next_order()), and returns its handler; an empty function where there is none.
  std::function<void()> take_due(TimeMs now, std::uint64_t set_before);
  std::uint64_t next_order() const { return next_order_; }

 private:
  static bool before(const Timer& a, const Timer& b) {
    return a.deadline_ != b.deadline_ ? a.deadline_ < b.deadline_ : a.order_ < b.order_;
  }
  void put(std::size_t place, Timer* timer);
  void sift_up(std::size_t place);
  void sift_down(std::size_t place);

  std::vector<Timer*> timers_;
  std::uint64_t next_order_ = 0;
};

}  // namespace tidemark::loop
