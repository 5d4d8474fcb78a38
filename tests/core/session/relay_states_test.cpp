// The table of the upstream leg's states: complete, and as the documentation draws it.
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "core/session/relay_states.hpp"
#include "tests/catch.hpp"

namespace tidemark::session {
namespace {

constexpr RelayState state_at(int i) { return static_cast<RelayState>(i); }
constexpr RelaySignal signal_at(int i) { return static_cast<RelaySignal>(i); }

TEST_CASE("relay: every pair of state and signal is either in the table once or illegal") {
  std::size_t legal = 0;
  for (int s = 0; s < kRelayStateCount; ++s) {
    for (int g = 0; g < kRelaySignalCount; ++g) {
      std::size_t rows = 0;
      for (const RelayTransition& row : kRelayTransitions) {
        if (row.from != state_at(s) || row.on != signal_at(g)) continue;
        ++rows;
        CHECK(next_state(row.from, row.on) == row.to);
      }
      CHECK(rows <= 1);
      CHECK(next_state(state_at(s), signal_at(g)).has_value() == (rows == 1));
      legal += rows;
    }
  }
  CHECK(legal == kRelayTransitions.size());
}

TEST_CASE("relay: what the contract forbids is not in the table") {
  // Content is never taken back (§ 4, rules 1 and 2): after it nothing is repeated.
  CHECK_FALSE(next_state(RelayState::Flowing, RelaySignal::Lose));
  CHECK_FALSE(next_state(RelayState::Draining, RelaySignal::Lose));
  CHECK_FALSE(next_state(RelayState::Holding, RelaySignal::HandOn));
  for (int g = 0; g < kRelaySignalCount; ++g) {
    CHECK_FALSE(next_state(RelayState::Passing, signal_at(g)));
    const auto after_the_end = next_state(RelayState::Over, signal_at(g));
    CHECK((!after_the_end || *after_the_end == RelayState::Over));
  }
  // Every attempt that is repeated waits, if only for no time at all, and goes out from there.
  for (const RelayTransition& row : kRelayTransitions) {
    CHECK((row.on == RelaySignal::Lose) == (row.to == RelayState::Waiting));
    CHECK((row.on == RelaySignal::Send) == (row.to == RelayState::Asking));
  }
}

TEST_CASE("relay: the diagram of the documentation is the table") {
  std::ifstream file("docs/state-machines.md");
  REQUIRE(file);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const std::size_t section = text.find("## The upstream leg");
  REQUIRE(section != std::string::npos);
  const std::size_t begin = text.find("```mermaid\n", section);
  REQUIRE(begin != std::string::npos);
  std::istringstream diagram(text.substr(begin, text.find("\n```", begin) - begin));

  std::multiset<std::string> drawn;
  for (std::string line; std::getline(diagram, line);) {
    if (line.find(" --> ") == std::string::npos || line.find("[*]") != std::string::npos) continue;
    drawn.insert(line.substr(line.find_first_not_of(' ')));
  }
  std::multiset<std::string> expected;
  for (const RelayTransition& row : kRelayTransitions) {
    expected.insert(std::string(name(row.from)) + " --> " + std::string(name(row.to)) + " : " +
                    std::string(name(row.on)));
  }
  CHECK(drawn == expected);
}

}  // namespace
}  // namespace tidemark::session
