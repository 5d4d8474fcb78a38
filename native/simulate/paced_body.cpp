// Frames at their pace, and what comes after the last.
#include "native/simulate/paced_body.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::simulate {
namespace {

// Keepalives without an interval would be a flood.
constexpr TimeMs kRepeatMs = 10;

}  // namespace

PacedBody::PacedBody(loop::Loop& loop, const std::shared_ptr<downstream::Exchange>& exchange, Plan plan,
                     TimeMs interval_ms)
    : loop_(loop), exchange_(exchange), plan_(std::move(plan)), interval_ms_(interval_ms), timer_(loop) {}

downstream::Pull PacedBody::pull(std::string& out, std::size_t /*max*/) {
  if (waiting_) return downstream::Pull::Pending;
  if (next_ == plan_.frames.size()) return end();
  const std::string& frame = plan_.frames[next_];
  if (plan_.byte_by_byte) {
    out += frame[offset_++];
    if (offset_ < frame.size()) {
      // Its own turn, and so its own write.
      wait_for_next(loop_.now_ms());
      return downstream::Pull::Pending;
    }
    offset_ = 0;
  } else {
    out += frame;
  }
  ++next_;
  if (next_ == plan_.frames.size() && plan_.end == PlanEnd::Repeat) --next_;
  if (interval_ms_ == 0 && plan_.end != PlanEnd::Repeat) {
    return next_ == plan_.frames.size() ? end() : downstream::Pull::More;
  }
  wait_for_next(loop_.now_ms() + std::max<TimeMs>(interval_ms_, plan_.end == PlanEnd::Repeat ? kRepeatMs : 0));
  return downstream::Pull::Pending;
}

downstream::Pull PacedBody::end() {
  switch (plan_.end) {
    case PlanEnd::EndOfBody:
      return downstream::Pull::End;
    case PlanEnd::Cut:
      return downstream::Pull::Abort;
    case PlanEnd::Reset:
      // What was said comes first; a reset would throw away what has not left yet.
      wait(loop_.now_ms(), [this] { reset_when_sent(); });
      return downstream::Pull::Pending;
    case PlanEnd::Stall:
    case PlanEnd::Repeat:
      return downstream::Pull::Pending;
  }
  return downstream::Pull::End;
}

void PacedBody::reset_when_sent() {
  const auto open = exchange_.lock();
  if (!open) return;
  if (open->unsent() == 0) return open->reset();
  wait(loop_.now_ms() + 1, [this] { reset_when_sent(); });
}

void PacedBody::wait(TimeMs until, std::function<void()> then) {
  waiting_ = true;
  timer_.set(until, std::move(then));
}

void PacedBody::wait_for_next(TimeMs until) {
  wait(until, [this] {
    waiting_ = false;
    if (const auto open = exchange_.lock()) open->wake();
  });
}

}  // namespace tidemark::simulate
