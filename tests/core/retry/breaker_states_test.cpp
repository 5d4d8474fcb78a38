// The table of the breaker's states: complete, what the machine does, and as the documentation draws it.
#include "core/retry/breaker_states.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "core/retry/breaker.hpp"
#include "tests/catch.hpp"

namespace tidemark::retry {
namespace {

constexpr BreakerState state_at(int i) { return static_cast<BreakerState>(i); }
constexpr BreakerSignal signal_at(int i) { return static_cast<BreakerSignal>(i); }

TEST_CASE("every pair of state and signal is in the table once at most", "[breaker]") {
  std::size_t found = 0;
  for (int s = 0; s < kBreakerStateCount; ++s) {
    for (int g = 0; g < kBreakerSignalCount; ++g) {
      std::size_t rows = 0;
      for (const BreakerTransition& row : kBreakerTransitions) {
        if (row.from != state_at(s) || row.on != signal_at(g)) continue;
        ++rows;
        CHECK(next_state(row.from, row.on) == row.to);
      }
      CHECK(rows <= 1);
      CHECK(next_state(state_at(s), signal_at(g)).has_value() == (rows == 1));
      found += rows;
    }
  }
  CHECK(found == kBreakerTransitions.size());
}

TEST_CASE("every state and signal has a name of its own", "[breaker]") {
  for (int i = 0; i < kBreakerStateCount; ++i) {
    CHECK_FALSE(name(state_at(i)).empty());
    for (int j = 0; j < i; ++j) CHECK(name(state_at(i)) != name(state_at(j)));
  }
  for (int i = 0; i < kBreakerSignalCount; ++i) {
    CHECK_FALSE(name(signal_at(i)).empty());
    for (int j = 0; j < i; ++j) CHECK(name(signal_at(i)) != name(signal_at(j)));
  }
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
  for (int s = 0; s < kBreakerStateCount; ++s) {
    for (int g = 0; g < kBreakerSignalCount; ++g) {
      INFO(name(state_at(s)) << ", " << name(signal_at(g)));
      Scene scene = scene_in(state_at(s));
      REQUIRE(scene.breaker.state(scene.now) == state_at(s));
      signal(scene, signal_at(g));
      CHECK(scene.breaker.state(scene.now) == next_state(state_at(s), signal_at(g)).value_or(state_at(s)));
    }
  }
}

// Mermaid takes no dash in an identifier.
std::string identifier(BreakerState state) {
  std::string text(name(state));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string diagram() {
  std::string text = "```mermaid\nstateDiagram-v2\n";
  for (int i = 0; i < kBreakerStateCount; ++i) {
    const std::string title(name(state_at(i)));
    if (identifier(state_at(i)) != title) text += "  state \"" + title + "\" as " + identifier(state_at(i)) + "\n";
  }
  text += "  [*] --> " + identifier(Breaker().state(0)) + "\n";
  for (const BreakerTransition& row : kBreakerTransitions) {
    text += "  " + identifier(row.from) + " --> " + identifier(row.to) + " : " + std::string(name(row.on)) + "\n";
  }
  return text + "```\n";
}

TEST_CASE("the diagram of the documentation is the table", "[breaker]") {
  std::ifstream file("docs/state-machines.md");
  REQUIRE(file);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const std::size_t section = text.find("## The breaker\n");
  REQUIRE(section != std::string::npos);
  const std::size_t begin = text.find("```mermaid\n", section);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = text.find("```\n", begin + 3);
  REQUIRE(end != std::string::npos);
  CHECK(text.substr(begin, end + 4 - begin) == diagram());
}

}  // namespace
}  // namespace tidemark::retry
