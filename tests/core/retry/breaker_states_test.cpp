// The table of the breaker's states: complete, what the machine does, and as the documentation draws it.
#include "core/retry/breaker_states.hpp"

#include "core/retry/breaker.hpp"
#include "tests/state_table.hpp"

namespace tidemark::retry {
namespace {

const test::StateTable table(kBreakerTransitions, kBreakerStateCount, kBreakerSignalCount);

TEST_CASE("the breaker's table is sound, and the documentation draws it", "[breaker]") {
  table.check_pairs();
  table.check_names();
  table.check_diagram("The breaker", Breaker().state(0));
}

constexpr TimeMs kOpened = 1000;
constexpr TimeMs kHalfOpen = 2000;

// A breaker in a state, what is left to say of a request from before the opening, and the probe where one is out.
struct Scene {
  Breaker breaker{{1, kHalfOpen - kOpened}};
  TimeMs now = kOpened;
  std::uint64_t old_ticket = 0;
  std::uint64_t probe = 0;
};

Scene scene_in(BreakerState state) {
  Scene scene;
  scene.old_ticket = scene.breaker.admit(0).ticket;
  if (state == BreakerState::Closed) return scene;
  scene.breaker.outcome(scene.breaker.admit(0).ticket, Outcome::Challenge, kOpened);
  if (state == BreakerState::Open) return scene;
  scene.now = kHalfOpen;
  scene.probe = scene.breaker.admit(kHalfOpen).ticket;
  return scene;
}

// Does to the breaker what the signal stands for, as far as the state lets it happen.
void signal(Scene& scene, BreakerSignal on) {
  const std::uint64_t ticket = scene.probe != 0 ? scene.probe : scene.old_ticket;
  switch (on) {
    case BreakerSignal::StruckOut:
      scene.breaker.outcome(scene.old_ticket, Outcome::Challenge, scene.now);
      return;
    case BreakerSignal::TimeUp:
      scene.now += kHalfOpen - kOpened;
      scene.breaker.admit(scene.now);
      return;
    case BreakerSignal::ProbeAnswered:
      scene.breaker.outcome(ticket, Outcome::Answer, scene.now);
      return;
    case BreakerSignal::ProbeChallenged:
      if (scene.probe != 0) scene.breaker.outcome(ticket, Outcome::Challenge, scene.now);
      return;
    case BreakerSignal::ProbeVoid:
      scene.breaker.outcome(ticket, Outcome::Neutral, scene.now);
      return;
  }
}

TEST_CASE("the breaker goes by its table, and stays where the table says nothing", "[breaker]") {
  table.for_every_pair([](BreakerState state, BreakerSignal on) {
    INFO(name(state) << ", " << name(on));
    Scene scene = scene_in(state);
    REQUIRE(scene.breaker.state(scene.now) == state);
    signal(scene, on);
    CHECK(scene.breaker.state(scene.now) == next_state(state, on).value_or(state));
  });
}

}  // namespace
}  // namespace tidemark::retry
