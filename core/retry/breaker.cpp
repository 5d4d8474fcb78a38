// Circuit breaker.
#include "core/retry/breaker.hpp"

namespace tidemark::retry {

std::string_view name(BreakerState state) {
  switch (state) {
    case BreakerState::Closed:
      return "closed";
    case BreakerState::Open:
      return "open";
    case BreakerState::HalfOpen:
      return "half-open";
  }
  return {};
}

Breaker::Breaker(BreakerOptions options) : options_(options) {}

BreakerState Breaker::state(TimeMs now) const {
  return state_ == BreakerState::Open && now >= opened_at_ + options_.open_ms ? BreakerState::HalfOpen : state_;
}

TimeMs Breaker::next_deadline() const { return state_ == BreakerState::Open ? opened_at_ + options_.open_ms : kNever; }

Admission Breaker::admit(TimeMs now) {
  Admission admission;
  state_ = state(now);
  switch (state_) {
    case BreakerState::Closed:
      admission.allowed = true;
      break;
    case BreakerState::Open:
      admission.retry_in_ms = opened_at_ + options_.open_ms - now;
      break;
    case BreakerState::HalfOpen:
      admission.allowed = admission.probe = probe_ == 0;
      // Who comes while the probe is out can't know when it ends: soon, whichever way.
      admission.retry_in_ms = admission.allowed ? 0 : 1000;
      break;
  }
  if (admission.allowed) admission.ticket = next_ticket_++;
  if (admission.probe) probe_ = admission.ticket;
  return admission;
}

Transition Breaker::outcome(std::uint64_t ticket, Outcome outcome, TimeMs now) {
  if (options_.open_ms == 0) return Transition::None;
  const bool was_probe = ticket == probe_ && ticket != 0;
  if (was_probe) probe_ = 0;
  state_ = state(now);
  switch (outcome) {
    case Outcome::Neutral:
      return Transition::None;
    case Outcome::Answer:
      strikes_ = 0;
      if (!was_probe || state_ == BreakerState::Closed) return Transition::None;
      state_ = BreakerState::Closed;
      return Transition::Closed;
    case Outcome::Challenge:
      ++strikes_;
      if (state_ == BreakerState::Open || (!was_probe && strikes_ < options_.strikes)) return Transition::None;
      if (state_ == BreakerState::HalfOpen && !was_probe) return Transition::None;
      state_ = BreakerState::Open;
      opened_at_ = now;
      return Transition::Opened;
  }
  return Transition::None;
}

}  // namespace tidemark::retry
