// Circuit breaker.
#include "core/retry/breaker.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/random.hpp"
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

TEST_CASE("strikes are counted in a row, across what is neither answer nor challenge", "[breaker]") {
  Breaker breaker;
  strike(breaker, 0);
  breaker.outcome(breaker.admit(0).ticket, Outcome::Neutral, 0);
  strike(breaker, 0);
  CHECK(breaker.strikes() == 2);
  CHECK(breaker.outcome(breaker.admit(0).ticket, Outcome::Challenge, 0) == Transition::Opened);
}

TEST_CASE("a probe's neutral end at any time leaves the breaker half-open", "[breaker]") {
  Breaker breaker = open_at(0);
  const Admission probe = breaker.admit(60000);
  CHECK(breaker.outcome(probe.ticket, Outcome::Neutral, 500000) == Transition::None);
  CHECK(breaker.next_deadline() == kNever);
  CHECK(breaker.admit(500000).probe);
  // What the old probe says after its end is nobody's word.
  CHECK(breaker.outcome(probe.ticket, Outcome::Answer, 500001) == Transition::None);
  CHECK(breaker.state(500001) == BreakerState::HalfOpen);
}

TEST_CASE("one strike is enough where one is asked for", "[breaker]") {
  for (const unsigned strikes : {0u, 1u}) {
    Breaker breaker({strikes, 1000});
    CHECK(breaker.outcome(breaker.admit(0).ticket, Outcome::Challenge, 0) == Transition::Opened);
  }
}

TEST_CASE("an opening beyond all time never ends", "[breaker]") {
  Breaker breaker({1, kNever - 1});
  strike(breaker, 1000);
  CHECK(breaker.next_deadline() == kNever);
  CHECK_FALSE(breaker.admit(kNever - 1).allowed);
}

// What holds whatever happens, in whatever order requests begin and end.
TEST_CASE("in any course of events: one probe at most, and truth about every change", "[breaker]") {
  Random random(41);
  std::size_t opened = 0, closed = 0;
  for (int round = 0; round < 300; ++round) {
    Breaker breaker({1 + static_cast<unsigned>(random.next() % 3), 100});
    std::vector<Admission> running;
    TimeMs now = 0, opened_at = 0;
    unsigned strikes = 0;
    for (int step = 0; step < 200; ++step) {
      now += static_cast<TimeMs>(random.next() % 30);
      const BreakerState before = breaker.state(now);
      if (random.next() % 2 == 0 || running.empty()) {
        const Admission admission = breaker.admit(now);
        const auto is_probe = [](const Admission& one) { return one.probe; };
        const bool probe_out = std::any_of(running.begin(), running.end(), is_probe);
        REQUIRE(admission.allowed ==
                (before == BreakerState::Closed || (before == BreakerState::HalfOpen && !probe_out)));
        REQUIRE(admission.probe == (admission.allowed && before == BreakerState::HalfOpen));
        REQUIRE((admission.ticket != 0) == admission.allowed);
        REQUIRE((admission.retry_in_ms > 0) == !admission.allowed);
        if (before == BreakerState::Open) REQUIRE(now + admission.retry_in_ms == opened_at + 100);
        if (admission.allowed) running.push_back(admission);
        continue;
      }
      const std::size_t which = random.next() % running.size();
      const Admission ended = running[which];
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      const auto outcome = static_cast<Outcome>(random.next() % 3);
      const Transition transition = breaker.outcome(ended.ticket, outcome, now);
      strikes = outcome == Outcome::Answer ? 0 : strikes + (outcome == Outcome::Challenge ? 1 : 0);
      REQUIRE(breaker.strikes() == strikes);
      REQUIRE((transition == Transition::Closed) == (ended.probe && outcome == Outcome::Answer));
      if (transition == Transition::Opened) opened_at = now;
      const BreakerState after = breaker.state(now);
      if (transition == Transition::None) REQUIRE(after == before);
      if (transition == Transition::Opened) REQUIRE((before != BreakerState::Open && after == BreakerState::Open));
      if (transition == Transition::Closed) REQUIRE(after == BreakerState::Closed);
      opened += transition == Transition::Opened ? 1 : 0;
      closed += transition == Transition::Closed ? 1 : 0;
    }
  }
  CHECK(opened > 300);
  CHECK(closed > 300);
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
