// Prints how models' continuations are judged, as docs/seams.md has it: a Markdown table by the kind of answer, one by
// the place of the cut, and how many events of a clean continuation were held.
//
//   seam_confusion [CASES A CELL, 200 [SEED, 7]]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "core/dialect/interpreter.hpp"
#include "tests/core/seam/seam_cases.hpp"
#include "tests/recordings.hpp"

namespace {

namespace dialect = tidemark::dialect;
namespace seam = tidemark::seam;
namespace test = tidemark::seam::test;

using Row = std::array<unsigned, test::kOutcomes>;
using Rows = std::array<Row, test::kKinds>;

std::string text_of(const tidemark::test::Recording& recording) {
  dialect::Interpreter interpreter(recording.dialect);
  std::string text;
  for (const std::string& line : recording.data) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    const std::string name = json.is_object() ? json.value("type", "") : "";
    tidemark::sse::Event event;
    if (recording.dialect != dialect::Dialect::OpenaiChat) event.name = name;
    event.data = line;
    text += interpreter.interpret(event).text;
  }
  return text;
}

void add_recordings(std::vector<test::Answer>& answers) {
  constexpr std::size_t kLongEnough = 300;
  for (const auto& recording : tidemark::test::recordings()) {
    std::string text = text_of(recording);
    if (text.size() >= kLongEnough) answers.push_back({"recorded", std::move(text), {}});
  }
}

unsigned sum(const Row& row) {
  unsigned cases = 0;
  for (const unsigned count : row) cases += count;
  return cases;
}

void print(const char* column, const std::vector<std::pair<std::string, Rows>>& table) {
  std::printf("| continuation | %s | cases | exact | trimmed | chance | wrong | refused |\n", column);
  std::printf("|---|---|---:|---:|---:|---:|---:|---:|\n");
  for (std::size_t kind = 0; kind < test::kKinds; ++kind) {
    for (const auto& [key, rows] : table) {
      const unsigned cases = sum(rows[kind]);
      if (cases == 0) continue;
      const std::string continuation(test::name(static_cast<test::Kind>(kind)));
      std::printf("| %s | %s | %u |", continuation.c_str(), key.c_str(), cases);
      for (const unsigned count : rows[kind]) std::printf(" %u |", count);
      std::printf("\n");
    }
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long cases = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
  const unsigned long seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 7;
  std::vector<test::Answer> answers = test::read_answers();
  if (answers.empty()) {
    std::fprintf(stderr, "seam_confusion: no answers at tests/core/seam/answers; run it in the project's directory\n");
    return 1;
  }
  add_recordings(answers);

  std::vector<std::pair<std::string, Rows>> by_answer;
  std::vector<std::pair<std::string, Rows>> by_place{
      {"in a word", {}}, {"right after a sentence", {}}, {"between words", {}}, {"where something may begin", {}}};
  std::map<std::size_t, unsigned> held;
  for (const auto& group : test::by_kind(answers)) {
    Rows rows{};
    for (std::size_t kind = 0; kind < test::kKinds; ++kind) {
      const auto continuation = static_cast<test::Kind>(kind);
      if (group.front()->paraphrases.empty() && test::needs_paraphrase(continuation)) continue;
      tidemark::Random random(seed * 1000 + by_answer.size() * test::kKinds + kind);
      for (unsigned long i = 0; i < cases; ++i) {
        const test::Case item = test::make_case(random, group, continuation);
        const test::Joined joined = test::join(item);
        const auto outcome = static_cast<std::size_t>(joined.outcome);
        ++rows[kind][outcome];
        ++by_place[static_cast<std::size_t>(seam::place_of(item.delivered))].second[kind][outcome];
        if (continuation == test::Kind::Clean) ++held[joined.held_events];
      }
    }
    by_answer.emplace_back(group.front()->kind, rows);
  }
  print("answer", by_answer);
  print("cut", by_place);
  std::printf("| events held of a clean continuation | cases |\n|---|---:|\n");
  const auto count_up_to = [&held](std::size_t most) {
    unsigned count = 0;
    for (; !held.empty() && held.begin()->first <= most; held.erase(held.begin())) count += held.begin()->second;
    return count;
  };
  std::printf("| none | %u |\n", count_up_to(0));
  std::printf("| 1 to 3 | %u |\n", count_up_to(3));
  std::printf("| 4 to 8 | %u |\n", count_up_to(8));
  std::printf("| 9 to 20 | %u |\n", count_up_to(20));
  std::printf("| more | %u |\n", count_up_to(SIZE_MAX));
  return 0;
}
