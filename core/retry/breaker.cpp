// Circuit breaker.
#include "core/retry/breaker.hpp"

namespace tidemark::retry {
namespace {

// Who comes while the probe is out can't know when it ends: soon, whichever way.
constexpr TimeMs kWhileProbing = 1000;

}  // namespace

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

std::string_view name(BreakerSignal signal) {
  switch (signal) {
    case BreakerSignal::StruckOut:
      return "struck-out";
    case BreakerSignal::TimeUp:
      return "time-up";
    case BreakerSignal::ProbeAnswered:
      return "probe-answered";
    case BreakerSignal::ProbeChallenged:
      return "probe-challenged";
    case BreakerSignal::ProbeVoid:
      return "probe-void";
  }
  return {};
}

Breaker::Breaker(BreakerOptions options) : options_(options) {}

// Time alone moves nothing: that the opening is over is acted upon when somebody asks.
BreakerState Breaker::state(TimeMs now) const {
  const bool time_up = state_ == BreakerState::Open && now - opened_at_ >= options_.open_ms;
  return time_up ? BreakerState::HalfOpen : state_;
}

TimeMs Breaker::next_deadline() const {
  return state_ == BreakerState::Open ? later(opened_at_, options_.open_ms) : kNever;
}

Admission Breaker::admit(TimeMs now) {
  if (state(now) != state_) take(BreakerSignal::TimeUp);
  Admission admission;
  switch (state_) {
    case BreakerState::Closed:
      admission.allowed = true;
      break;
    case BreakerState::Open:
      admission.retry_in_ms = options_.open_ms - (now - opened_at_);
      break;
    case BreakerState::HalfOpen:
      admission.allowed = admission.probe = probe_ == 0;
      admission.retry_in_ms = admission.allowed ? 0 : kWhileProbing;
      break;
  }
  if (admission.allowed) admission.ticket = next_ticket_++;
  if (admission.probe) probe_ = admission.ticket;
  return admission;
}

Transition Breaker::outcome(std::uint64_t ticket, Outcome outcome, TimeMs now) {
  if (options_.open_ms == 0) return Transition::None;
  if (outcome == Outcome::Answer) strikes_ = 0;
  if (outcome == Outcome::Challenge) ++strikes_;
  if (ticket != 0 && ticket == probe_) return outcome_of_probe(outcome, now);
  if (outcome != Outcome::Challenge || strikes_ < options_.strikes) return Transition::None;
  if (!next_state(state_, BreakerSignal::StruckOut)) return Transition::None;
  open(BreakerSignal::StruckOut, now);
  return Transition::Opened;
}

Transition Breaker::outcome_of_probe(Outcome outcome, TimeMs now) {
  probe_ = 0;
  switch (outcome) {
    case Outcome::Answer:
      take(BreakerSignal::ProbeAnswered);
      return Transition::Closed;
    case Outcome::Challenge:
      open(BreakerSignal::ProbeChallenged, now);
      return Transition::Opened;
    case Outcome::Neutral:
      take(BreakerSignal::ProbeVoid);
      return Transition::None;
  }
  return Transition::None;
}

void Breaker::take(BreakerSignal signal) { state_ = next_state(state_, signal).value_or(state_); }

void Breaker::open(BreakerSignal why, TimeMs now) {
  take(why);
  opened_at_ = now;
}

}  // namespace tidemark::retry
