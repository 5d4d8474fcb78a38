// Whole answers, cut and continued: what clients build from the spliced stream is what they build from the uncut one.
#include <algorithm>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/core/seam/continuing.hpp"
#include "tests/core/seam/whole_answers.hpp"
#include "tests/recordings.hpp"

namespace tidemark::seam::test {
namespace {

struct Whole {
  std::string name;
  Dialect dialect = Dialect::Opaque;
  Events events;
};

Events events_of(const tidemark::test::Recording& recording) {
  Events events;
  for (const std::string& line : recording.data) {
    const bool named = recording.dialect == Dialect::OpenaiResponses || recording.dialect == Dialect::AnthropicMessages;
    events.push_back({named ? Json::parse(line).at("type").get<std::string>() : "", line});
  }
  if (recording.dialect == Dialect::OpenaiChat) events.push_back({"", "[DONE]"});
  return events;
}

bool is_spliced_dialect(Dialect dialect) {
  return dialect == Dialect::OpenaiChat || dialect == Dialect::OpenaiResponses ||
         dialect == Dialect::AnthropicMessages || dialect == Dialect::Gemini;
}

// The recordings, where they are, that a client takes when they are not cut; and the answers made for these tests.
std::vector<Whole> wholes() {
  std::vector<Whole> all;
  for (const WholeAnswer& own : whole_answers()) all.push_back({own.name, own.dialect, own.events});
  for (const auto& recording : tidemark::test::recordings()) {
    if (!is_spliced_dialect(recording.dialect)) continue;
    Whole whole{recording.file, recording.dialect, events_of(recording)};
    if (answer_of(whole.dialect, whole.events).is_object()) all.push_back(std::move(whole));
  }
  return all;
}

// Of a long answer, where one delta follows another, not each of those in the middle.
std::vector<std::size_t> cuts_of(const Whole& whole) {
  constexpr std::size_t kEnds = 6;
  constexpr std::size_t kStride = 97;
  std::vector<std::size_t> cuts;
  Interpreter reader(whole.dialect);
  const std::size_t count = whole.events.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool middle = cuts.size() > kEnds && i + kEnds < count;
    if (may_continue(reader.answer()) && (!middle || i % kStride == 0)) cuts.push_back(i);
    reader.interpret(event_of(whole.events[i]));
  }
  return cuts;
}

// Without what an attempt may name and say as it likes: the ids of items that came after the seam, logprobs, and
// annotations, of which the last events tell the attempt's only.
Json comparable(Json answer, int last_index_at_cut) {
  if (!answer.is_object() || !answer.contains("response")) return answer;
  static const std::regex kFresh("^(new[0-9]+_)+");
  for (Json* items : {&answer["items"], &answer["response"]["output"]}) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      Json& item = (*items)[i];
      if (static_cast<int>(i) > last_index_at_cut && item.contains("id")) {
        item["id"] = std::regex_replace(item["id"].get<std::string>(), kFresh, "");
      }
      if (!item.contains("content") || !item["content"].is_array()) continue;
      for (Json& part : item["content"]) {
        part.erase("logprobs");
        part.erase("annotations");
      }
    }
  }
  return answer;
}

void check_cut(const Whole& whole, const Json& answer, std::size_t cut, const How& how) {
  const Continuing continuing(whole.dialect, whole.events, cut, how);
  const int last = delivered(whole.dialect, whole.events, cut).answer.last_index;
  const Json uncut = comparable(answer, last);
  const Json spliced = comparable(answer_of(whole.dialect, continuing.spliced()), last);
  if (spliced == uncut) return;
  INFO(whole.name << " cut before event " << cut << ", overlap " << how.overlap << ", reasoning " << how.reasoning);
  for (const auto& own : continuing.attempt()) UNSCOPED_INFO("attempt: " << own.data);
  CHECK(Json::diff(uncut, spliced).dump() == "[]");
}

TEST_CASE("cut at every event, the answer is the uncut one") {
  constexpr std::size_t kShort = 40;  // events
  std::size_t cuts = 0;
  for (const Whole& whole : wholes()) {
    const Json answer = answer_of(whole.dialect, whole.events);
    REQUIRE(answer.is_object());
    for (const std::size_t cut : cuts_of(whole)) {
      // A third of the overlaps at each cut of a short answer, one at each of a long one; with and without reasoning.
      const std::size_t step = whole.events.size() <= kShort ? 3 : 21;
      for (std::size_t overlap = cut % step; overlap <= 20; overlap += step) {
        check_cut(whole, answer, cut, {overlap, (cut / step + overlap) % 2 == 0});
      }
      ++cuts;
    }
  }
  CHECK(cuts > 30);
}

// Each seam's stream is the next one's client side: the cuts go forward.
void check_cuts(const Whole& whole, const Json& answer, std::size_t count, std::mt19937& random) {
  Events events = whole.events;
  std::size_t from = 0;
  int last = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::size_t> cuts = cuts_of({whole.name, whole.dialect, events});
    const auto first = std::lower_bound(cuts.begin(), cuts.end(), from);
    const auto left = static_cast<std::size_t>(cuts.end() - first);
    if (left == 0) break;
    const std::size_t cut = first[static_cast<std::ptrdiff_t>(random() % std::min<std::size_t>(left, 3))];
    How how;
    how.overlap = random() % 21;
    how.reasoning = random() % 2 == 0;
    how.number = static_cast<int>(i) + 1;
    how.split = &random;
    last = i == 0 ? delivered(whole.dialect, events, cut).answer.last_index : last;
    events = Continuing(whole.dialect, events, cut, how).spliced();
    from = cut + 1;
  }
  INFO(whole.name << ", " << count << " cuts");
  const Json uncut = comparable(answer, last);
  const Json spliced = comparable(answer_of(whole.dialect, events), last);
  CHECK(Json::diff(uncut, spliced).dump() == "[]");
}

TEST_CASE("two and five cuts in one answer, its continuations cut into other events") {
  std::mt19937 random(20260301);
  for (const Whole& whole : wholes()) {
    const Json answer = answer_of(whole.dialect, whole.events);
    const int rounds = whole.events.size() > 100 ? 1 : 8;
    for (int round = 0; round < rounds; ++round) {
      check_cuts(whole, answer, 2, random);
      check_cuts(whole, answer, 5, random);
    }
  }
}

}  // namespace
}  // namespace tidemark::seam::test
