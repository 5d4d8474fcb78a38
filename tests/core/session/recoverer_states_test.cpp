// The table of the client leg's states: complete, and as the documentation draws it.
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "core/session/recoverer_states.hpp"
#include "tests/catch.hpp"

namespace tidemark::session {
namespace {

constexpr RecovererState state_at(int i) { return static_cast<RecovererState>(i); }
constexpr RecovererSignal signal_at(int i) { return static_cast<RecovererSignal>(i); }

TEST_CASE("every pair of state and signal is either in the table once or illegal") {
  std::size_t legal = 0;
  for (int s = 0; s < kRecovererStateCount; ++s) {
    for (int g = 0; g < kRecovererSignalCount; ++g) {
      std::size_t rows = 0;
      for (const RecovererTransition& row : kRecovererTransitions) {
        if (row.from != state_at(s) || row.on != signal_at(g)) continue;
        ++rows;
        CHECK(next_state(row.from, row.on) == row.to);
      }
      CHECK(rows <= 1);
      CHECK(next_state(state_at(s), signal_at(g)).has_value() == (rows == 1));
      legal += rows;
    }
  }
  CHECK(legal == kRecovererTransitions.size());
}

TEST_CASE("every living state can end and be lost, and nothing leaves the last one") {
  for (int s = 0; s < kRecovererStateCount; ++s) {
    const bool living = state_at(s) != RecovererState::Finalized;
    const auto ended = next_state(state_at(s), RecovererSignal::Ended);
    const auto lost = next_state(state_at(s), RecovererSignal::Lost);
    CHECK(ended.has_value() == living);
    CHECK(lost.has_value() == living);
    if (!living) continue;
    CHECK(*ended == RecovererState::Finalized);
    CHECK(*lost == RecovererState::Compensating);
  }
}

TEST_CASE("the diagram of the documentation is the table") {
  std::ifstream file("docs/state-machines.md");
  REQUIRE(file);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const std::size_t section = text.find("## The client leg");
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
  for (const RecovererTransition& row : kRecovererTransitions) {
    expected.insert(std::string(name(row.from)) + " --> " + std::string(name(row.to)) + " : " +
                    std::string(name(row.on)));
  }
  CHECK(drawn == expected);
}

}  // namespace
}  // namespace tidemark::session
