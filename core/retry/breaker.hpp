// Circuit breaker, one per upstream (contract § 4.1).
#pragma once

#include <cstdint>

#include "core/base/time.hpp"
#include "core/retry/breaker_states.hpp"

namespace tidemark::retry {

struct BreakerOptions {
  unsigned strikes = 3;    // challenges in a row that open it; 0 counts as 1
  TimeMs open_ms = 60000;  // 0 turns the breaker off
};

/// What a request is told. Who is allowed to go owes the breaker one outcome at its end, exactly once: a probe that
/// never tells keeps everybody else out.
struct Admission {
  bool allowed = false;
  bool probe = false;        // this request is the half-open probe
  TimeMs retry_in_ms = 0;    // where refused, above 0: what is left of the opening; 1000 while a probe is out
  std::uint64_t ticket = 0;  // identifies the request to outcome(); 0 where refused
};

enum class Outcome : std::uint8_t {
  Answer,     // an answer: clears the strikes; a probe's answer closes
  Challenge,  // one strike; a probe's challenge opens again
  Neutral,    // 4xx, 429, 503, connection failures, a client that left: no strike, clears none; a probe hands over
};

/// What an outcome has changed, for the log.
enum class Transition : std::uint8_t { None, Opened, Closed };

class Breaker {
 public:
  explicit Breaker(BreakerOptions options = {});

  /// May this request go out? Once the opening is over, the first to ask is the probe.
  Admission admit(TimeMs now);
  /// How an admitted request ended. An answer of a request from before the opening clears strikes but does not close; a
  /// challenge of one neither prolongs the opening nor touches the probe.
  Transition outcome(std::uint64_t ticket, Outcome outcome, TimeMs now);

  BreakerState state(TimeMs now) const;
  /// Challenges since the last answer.
  unsigned strikes() const { return strikes_; }
  /// When the opening is over; kNever while it is not open.
  TimeMs next_deadline() const;

 private:
  Transition outcome_of_probe(Outcome outcome, TimeMs now);
  void take(BreakerSignal signal);
  void open(BreakerSignal why, TimeMs now);

  BreakerOptions options_;
  BreakerState state_ = BreakerState::Closed;
  unsigned strikes_ = 0;
  TimeMs opened_at_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t probe_ = 0;  // ticket of the probe that is out; 0 where none is. Only ever set while half-open
};

}  // namespace tidemark::retry
