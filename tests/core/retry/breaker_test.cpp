// Circuit breaker.
#include "core/retry/breaker.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace tidemark::retry {
namespace {

void strike(Breaker& breaker, TimeMs now) { breaker.outcome(breaker.admit(now).ticket, Outcome::Challenge, now); }

Breaker open_at(TimeMs now) {
  Breaker breaker;
  for (int i = 0; i < 3; ++i) strike(breaker, now);
  return breaker;
}

TEST_CASE("three strikes in a row open it", "[breaker]") {
  Breaker breaker;
  strike(breaker, 0);
  strike(breaker, 0);
  CHECK(breaker.outcome(breaker.admit(0).ticket, Outcome::Answer, 0) == Transition::None);
  strike(breaker, 0);
  strike(breaker, 0);
  CHECK(breaker.state(0) == BreakerState::Closed);
  CHECK(breaker.outcome(breaker.admit(5).ticket, Outcome::Challenge, 5) == Transition::Opened);
  CHECK(breaker.state(5) == BreakerState::Open);
  CHECK_FALSE(breaker.admit(6).allowed);
  CHECK(breaker.admit(6).retry_in_ms == 59999);
  CHECK(breaker.next_deadline() == 60005);
}

TEST_CASE("what is no challenge is no strike", "[breaker]") {
  Breaker breaker;
  for (int i = 0; i < 100; ++i) breaker.outcome(breaker.admit(0).ticket, Outcome::Neutral, 0);
  CHECK(breaker.state(0) == BreakerState::Closed);
  CHECK(breaker.strikes() == 0);
}

TEST_CASE("one probe goes out among a thousand", "[breaker]") {
  Breaker breaker = open_at(0);
  int allowed = 0;
  for (int i = 0; i < 1000; ++i) {
    const Admission admission = breaker.admit(60000);
    allowed += admission.allowed ? 1 : 0;
    CHECK(admission.allowed == admission.probe);
    if (!admission.allowed) CHECK(admission.retry_in_ms > 0);
  }
  CHECK(allowed == 1);
}

TEST_CASE("the probe's answer closes, its challenge opens again", "[breaker]") {
  Breaker breaker = open_at(0);
  CHECK(breaker.state(59999) == BreakerState::Open);
  CHECK(breaker.state(60000) == BreakerState::HalfOpen);
  CHECK(breaker.outcome(breaker.admit(60000).ticket, Outcome::Challenge, 60100) == Transition::Opened);
  CHECK_FALSE(breaker.admit(120099).allowed);
  CHECK(breaker.outcome(breaker.admit(120100).ticket, Outcome::Answer, 120200) == Transition::Closed);
  CHECK(breaker.state(120200) == BreakerState::Closed);
  CHECK(breaker.strikes() == 0);
}

TEST_CASE("a probe that ends in neither hands over", "[breaker]") {
  Breaker breaker = open_at(0);
  const Admission first = breaker.admit(60000);
  CHECK_FALSE(breaker.admit(60000).allowed);
  breaker.outcome(first.ticket, Outcome::Neutral, 60001);
  CHECK(breaker.state(60001) == BreakerState::HalfOpen);
  CHECK(breaker.admit(60001).probe);
}

TEST_CASE("an answer that was running clears strikes but does not close", "[breaker]") {
  Breaker breaker;
  const Admission old = breaker.admit(0);
  for (int i = 0; i < 3; ++i) strike(breaker, 0);
  CHECK(breaker.outcome(old.ticket, Outcome::Answer, 10) == Transition::None);
  CHECK(breaker.state(10) == BreakerState::Open);
  CHECK(breaker.strikes() == 0);
}

TEST_CASE("a challenge from before the opening changes nothing", "[breaker]") {
  Breaker breaker;
  const Admission first = breaker.admit(0);
  const Admission second = breaker.admit(0);
  for (int i = 0; i < 3; ++i) strike(breaker, 0);
  CHECK(breaker.outcome(first.ticket, Outcome::Challenge, 30000) == Transition::None);
  CHECK(breaker.next_deadline() == 60000);
  const Admission probe = breaker.admit(60000);
  CHECK(breaker.outcome(second.ticket, Outcome::Challenge, 60001) == Transition::None);
  CHECK(breaker.state(60001) == BreakerState::HalfOpen);
  CHECK(breaker.outcome(probe.ticket, Outcome::Answer, 60002) == Transition::Closed);
}

TEST_CASE("open_seconds 0 turns it off", "[breaker]") {
  Breaker breaker({3, 0});
  for (int i = 0; i < 100; ++i) strike(breaker, 0);
  CHECK(breaker.admit(0).allowed);
  CHECK(breaker.state(0) == BreakerState::Closed);
  CHECK(breaker.next_deadline() == kNever);
}

}  // namespace
}  // namespace tidemark::retry
