// Answers cut in their text: the rest is a response of its own that the dialect's clients take.
#include "native/simulate/rest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/utf8.hpp"
#include "native/simulate/script.hpp"
#include "tests/catch.hpp"
#include "tests/core/dialect/strict_client.hpp"
#include "tests/recordings.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using Json = nlohmann::json;

constexpr Dialect kContinued[] = {Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::AnthropicMessages};

// What the strictest client finds wrong; empty where it takes all.
std::string wrong_with(const Script& script) {
  dialect::test::StrictClient client(script.dialect);
  for (const ScriptEvent& event : script.events) {
    if (std::string wrong = client.take(event.name, event.data); !wrong.empty()) return wrong + ": " + event.data;
  }
  return client.at_end(script.text());
}

// Where text events end, and places inside some; of a long answer, whose many events are alike, `most` or a few more,
// at its beginning, at its end and between.
std::set<std::size_t> cuts(const Script& script, std::size_t most) {
  std::vector<std::size_t> ends;
  std::set<std::size_t> found;
  std::size_t said = 0;
  for (const ScriptEvent& event : script.events) {
    if (event.text.empty()) continue;
    if (found.size() < 3 && event.text.size() > 4 && !is_continuation(event.text[2])) found.insert(said + 2);
    said += event.text.size();
    ends.push_back(said);
  }
  const std::size_t stride = ends.size() / most + 1;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i < most / 4 || ends.size() - i <= most / 4 || i % stride == 0) found.insert(ends[i]);
  }
  return found;
}

Telling telling_from(const Script& whole, std::size_t so_far) {
  Telling telling;
  telling.from = so_far;
  telling.shown = tokens_in(whole, so_far);
  telling.mark = "-2";
  return telling;
}

void check_rests(const Script& whole, std::size_t most) {
  const std::string text = whole.text();
  const bool legal = wrong_with(whole).empty();
  for (const std::size_t so_far : cuts(whole, most)) {
    const Script rest = rest_of(whole, Rest::Fresh, telling_from(whole, so_far));
    INFO("behind " << so_far << " of " << text.size() << " bytes");
    REQUIRE(rest.text() == text.substr(so_far));
    if (legal) REQUIRE(wrong_with(rest).empty());
    CHECK(rest.thoughts == 0);
    REQUIRE_FALSE(rest.events.empty());
    std::uint64_t sequence = 0;
    for (const ScriptEvent& event : rest.events) {
      if (event.sequence) REQUIRE(*event.sequence == sequence++);
    }
  }
}

TEST_CASE("the built-in answer goes on behind every event", "[simulate]") {
  for (const Dialect spoken : kContinued) check_rests(Recording().script(spoken), 60);
}

TEST_CASE("recorded answers go on behind every event, in their dialect and in the others", "[simulate]") {
  for (const auto& recorded : test::recordings()) {
    const std::string file = (test::recordings_directory() / recorded.file).string();
    const auto recording = Recording::load(file, recorded.dialect);
    REQUIRE(recording.ok());
    for (const Dialect spoken : kContinued) {
      INFO(recorded.file << " as " << dialect::name(spoken));
      check_rests(recording.value().script(spoken), spoken == recorded.dialect ? 24 : 6);
    }
  }
}

}  // namespace
}  // namespace tidemark::simulate
