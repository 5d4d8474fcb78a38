// The three states of a circuit breaker (contract § 4.1), and the table of their transitions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::retry {

enum class BreakerState : std::uint8_t {
  Closed,    // requests go out
  Open,      // requests are refused
  HalfOpen,  // one request, the probe, may be out; the others are refused
};
inline constexpr int kBreakerStateCount = 3;

/// What moves a breaker from state to state. What is not in the table leaves the state as it is: an answer or a
/// challenge of a request that was admitted before the opening, say.
enum class BreakerSignal : std::uint8_t {
  StruckOut,        // the last strike of the row
  TimeUp,           // the opening is over
  ProbeAnswered,    // the probe brought an answer
  ProbeChallenged,  // the probe met a challenge
  ProbeVoid,        // the probe ended in neither: the next request is the probe
};
inline constexpr int kBreakerSignalCount = 5;

struct BreakerTransition {
  BreakerState from;
  BreakerSignal on;
  BreakerState to;
};

/// Every transition. docs/state-machines.md draws this table.
inline constexpr std::array<BreakerTransition, 5> kBreakerTransitions{{
    {BreakerState::Closed, BreakerSignal::StruckOut, BreakerState::Open},
    {BreakerState::Open, BreakerSignal::TimeUp, BreakerState::HalfOpen},
    {BreakerState::HalfOpen, BreakerSignal::ProbeAnswered, BreakerState::Closed},
    {BreakerState::HalfOpen, BreakerSignal::ProbeChallenged, BreakerState::Open},
    {BreakerState::HalfOpen, BreakerSignal::ProbeVoid, BreakerState::HalfOpen},
}};

constexpr std::optional<BreakerState> next_state(BreakerState from, BreakerSignal on) {
  for (const BreakerTransition& transition : kBreakerTransitions) {
    if (transition.from == from && transition.on == on) return transition.to;
  }
  return std::nullopt;
}

/// "closed", "open", "half-open".
std::string_view name(BreakerState state);
/// "struck-out", "time-up", …
std::string_view name(BreakerSignal signal);

}  // namespace tidemark::retry
