// Circuit breaker, one per upstream (contract § 4.1).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/time.hpp"

namespace tidemark::retry {

struct BreakerOptions {
  unsigned strikes = 3;
  TimeMs open_ms = 60000;  // 0 turns the breaker off
};

enum class BreakerState : std::uint8_t { Closed, Open, HalfOpen };
std::string_view name(BreakerState state);

/// What a request is told, and what it must say at its end: exactly one outcome for each ticket, exactly once.
struct Admission {
  bool allowed = false;
  bool probe = false;       // this request is the half-open probe
  TimeMs retry_in_ms = 0;   // where refused: what is left of the opening
  std::uint64_t ticket = 0; // identifies the request to outcome()
};

enum class Outcome : std::uint8_t {
  Answer,     // an answer: clears the strikes; a probe's answer closes
  Challenge,  // one strike; a probe's challenge opens again
  Neutral,    // 4xx, 429, 503, connection failures, a client that left: no strike; a probe hands over to the next request
};

enum class Transition : std::uint8_t { None, Opened, Closed };

class Breaker {
 public:
  explicit Breaker(BreakerOptions options = {});

  Admission admit(TimeMs now);
  /// An answer still running when the breaker opened clears strikes but does not close it.
  Transition outcome(std::uint64_t ticket, Outcome outcome, TimeMs now);
  BreakerState state(TimeMs now) const;
  unsigned strikes() const { return strikes_; }
  TimeMs next_deadline() const;

 private:
  BreakerOptions options_;
  BreakerState state_ = BreakerState::Closed;
  unsigned strikes_ = 0;
  TimeMs opened_at_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t probe_ = 0;  // ticket of the probe that is out; 0 where none is
};

}  // namespace tidemark::retry
