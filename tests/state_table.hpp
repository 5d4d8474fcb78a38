// What the tests of the state machines ask of each table of transitions: sound, named, and drawn in the documentation.
#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/catch.hpp"

namespace tidemark::test {

/// A row is `{from, on, to}`; next_state(from, on) and name() are found beside the enums, which count from 0.
template <class Table>
class StateTable {
 public:
  using Row = typename Table::value_type;
  using State = decltype(Row::from);
  using Signal = decltype(Row::on);

  StateTable(const Table& rows, int states, int signals) : rows_(rows), states_(states), signals_(signals) {}

  template <class Visit>
  void for_every_pair(Visit visit) const {
    for (int s = 0; s < states_; ++s) {
      for (int g = 0; g < signals_; ++g) visit(static_cast<State>(s), static_cast<Signal>(g));
    }
  }
  template <class Visit>
  void for_every_state(Visit visit) const {
    for (int s = 0; s < states_; ++s) visit(static_cast<State>(s));
  }

  /// Every pair of state and signal is in the table once or illegal, and next_state() says the same.
  void check_pairs() const {
    std::size_t legal = 0;
    for_every_pair([&](State state, Signal signal) {
      INFO(name(state) << ", " << name(signal));
      std::size_t found = 0;
      for (const Row& row : rows_) {
        if (row.from != state || row.on != signal) continue;
        ++found;
        CHECK(next_state(state, signal) == row.to);
      }
      CHECK(found <= 1);
      CHECK(next_state(state, signal).has_value() == (found == 1));
      legal += found;
    });
    CHECK(legal == rows_.size());
  }

  /// Every state and signal has a name of its own.
  void check_names() const {
    std::set<std::string_view> states;
    std::set<std::string_view> signals;
    for_every_pair([&](State state, Signal signal) {
      states.insert(name(state));
      signals.insert(name(signal));
    });
    CHECK(states.size() == static_cast<std::size_t>(states_));
    CHECK(signals.size() == static_cast<std::size_t>(signals_));
    CHECK(states.count("") + signals.count("") == 0);
  }

  /// The diagram under `heading` in docs/state-machines.md is this table, and begins in `initial`. Where it ends is for
  /// the eye only.
  void check_diagram(const std::string& heading, State initial) const {
    std::multiset<std::string> expected{"[*] --> " + identifier(initial)};
    for_every_state([&](State state) {
      const std::string title(name(state));
      if (identifier(state) != title) expected.insert("state \"" + title + "\" as " + identifier(state));
    });
    for (const Row& row : rows_) {
      expected.insert(identifier(row.from) + " --> " + identifier(row.to) + " : " + std::string(name(row.on)));
    }
    CHECK(drawn_under(heading) == expected);
  }

 private:
  // Mermaid takes no dash in an identifier.
  static std::string identifier(State state) {
    std::string text(name(state));
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
  }

  static std::multiset<std::string> drawn_under(const std::string& heading) {
    const std::string opening = "```mermaid\nstateDiagram-v2\n";
    const std::string end_of_line = " --> [*]";
    std::ifstream file("docs/state-machines.md");
    REQUIRE(file);
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    const std::size_t section = text.find("## " + heading + "\n");
    REQUIRE(section != std::string::npos);
    const std::size_t begin = text.find(opening, section);
    REQUIRE(begin != std::string::npos);
    const std::size_t from = begin + opening.size();
    const std::size_t end = text.find("```\n", from);
    REQUIRE(end != std::string::npos);
    std::istringstream diagram(text.substr(from, end - from));
    std::multiset<std::string> lines;
    for (std::string line; std::getline(diagram, line);) {
      line.erase(0, line.find_first_not_of(' '));
      const bool is_end = line.size() > end_of_line.size() &&
                          line.compare(line.size() - end_of_line.size(), end_of_line.size(), end_of_line) == 0;
      if (!is_end) lines.insert(line);
    }
    return lines;
  }

  const Table& rows_;
  int states_;
  int signals_;
};

}  // namespace tidemark::test
