// Deadlines in order.
#include "native/loop/deadline_heap.hpp"

#include <utility>

namespace tidemark::loop {

void DeadlineHeap::put(std::size_t place, Timer* timer) {
  timers_[place] = timer;
  timer->place_ = place;
}

void DeadlineHeap::sift_up(std::size_t place) {
  Timer* const timer = timers_[place];
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (!before(*timer, *timers_[parent])) break;
    put(place, timers_[parent]);
    place = parent;
  }
  put(place, timer);
}

void DeadlineHeap::sift_down(std::size_t place) {
  Timer* const timer = timers_[place];
  for (;;) {
    std::size_t child = 2 * place + 1;
    if (child >= timers_.size()) break;
    if (child + 1 < timers_.size() && before(*timers_[child + 1], *timers_[child])) ++child;
    if (!before(*timers_[child], *timer)) break;
    put(place, timers_[child]);
    place = child;
  }
  put(place, timer);
}

void DeadlineHeap::add(Timer& timer) {
  timer.order_ = next_order_++;
  timers_.push_back(&timer);
  sift_up(timers_.size() - 1);
}

void DeadlineHeap::remove(Timer& timer) {
  const std::size_t place = timer.place_;
  timer.place_ = Timer::kNowhere;
  Timer* const last = timers_.back();
  timers_.pop_back();
  if (last == &timer) return;
  put(place, last);
  sift_up(place);
  sift_down(last->place_);
}

std::function<void()> DeadlineHeap::take_due(TimeMs now, std::uint64_t set_before) {
  if (timers_.empty()) return nullptr;
  Timer& first = *timers_.front();
  if (first.deadline_ > now || first.order_ >= set_before) return nullptr;
  remove(first);
  return std::exchange(first.handler_, nullptr);
}

}  // namespace tidemark::loop
