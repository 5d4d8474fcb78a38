// The seam of a repeated request: what goes on, what begins again, and what is another answer.
#include "core/seam/tail_joiner.hpp"

#include <optional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/core/seam/slow_overlap.hpp"

namespace tidemark::seam {
namespace {

using Step = TailJoiner::Step;
using Texts = std::vector<std::string>;

struct Outcome {
  std::string text;  // all that the reader has in the end
  bool refused = false;
  bool replayed = false;
  std::size_t joined_at = 0;  // the event, from 1; 0: only by the end
};

// As a leg of its own that brings `events` and then a finish.
Outcome outcome(const std::string& delivered, const Texts& events) {
  TailJoiner joiner(delivered);
  Outcome out{.text = delivered};
  std::string held;
  std::optional<TailJoiner::Decision> joined;
  for (std::size_t i = 0; i < events.size(); ++i) {
    held += events[i];
    if (joined) continue;
    const TailJoiner::Decision decision = joiner.offer(events[i]);
    if (decision.step == Step::Drop) held.clear();
    if (decision.step == Step::Hold || decision.step == Step::Drop) continue;
    out.joined_at = i + 1;
    out.refused = decision.step == Step::Refuse;
    if (out.refused) return out;
    if (decision.step == Step::Join) joined = decision;
  }
  if (!joined) {
    joined = joiner.finish();
    out.refused = joined->step == Step::Refuse;
    if (out.refused) return out;
  }
  out.text += held.substr(joined->trim_bytes);
  out.replayed = joiner.replayed();
  return out;
}

const Texts kPieces{"Low",   " tide",  " uncovers", " 沙洲", "，潮水",       "退去",       "。\n\n",
                    "| a |", " b |\n", "```",       "go\n",  "if x {",       "\n\treturn", " 1",
                    "\n}",   "```",    "\n🌊",       " wave", " 👩‍🚀", " ends."};

std::string joined(const Texts& texts, std::size_t from, std::size_t to) {
  std::string all;
  for (std::size_t i = from; i < to; ++i) all += texts[i];
  return all;
}

bool begins(const std::string& text, std::size_t at) { return at == text.size() || test::begins_code_point(text[at]); }

Texts points_of(const std::string& text) {
  Texts points;
  for (const char c : text) {
    if (points.empty() || test::begins_code_point(c)) points.emplace_back();
    points.back() += c;
  }
  return points;
}

TEST_CASE("cut behind every piece, with every overlap, the answer is whole", "[tail-joiner]") {
  const std::string answer = joined(kPieces, 0, kPieces.size());
  for (std::size_t cut = 1; cut < kPieces.size(); ++cut) {
    const std::string delivered = joined(kPieces, 0, cut);
    for (std::size_t from = 1; from <= delivered.size(); ++from) {
      if (!begins(delivered, from)) continue;
      const std::string overlap = delivered.substr(from);
      Texts rest(kPieces.begin() + static_cast<std::ptrdiff_t>(cut), kPieces.end());
      rest.front() = overlap + rest.front();
      INFO("cut " << cut << ", overlap " << overlap);
      const Outcome one = outcome(delivered, rest);
      CHECK_FALSE(one.refused);
      CHECK(one.text == answer);
      CHECK_FALSE(one.replayed);
      if (overlap.empty()) continue;
      // The overlap in an event of its own.
      rest.front() = kPieces[cut];
      rest.insert(rest.begin(), overlap);
      CHECK(outcome(delivered, rest).text == answer);
      // In an event for each code point.
      Texts points = points_of(overlap);
      if (points.size() > 60) continue;
      points.insert(points.end(), rest.begin() + 1, rest.end());
      CHECK(outcome(delivered, points).text == answer);
    }
  }
}

TEST_CASE("begun again, at every cut and in pieces of any kind, the answer is whole", "[tail-joiner]") {
  const std::string answer = joined(kPieces, 0, kPieces.size());
  for (std::size_t cut = 1; cut <= kPieces.size(); ++cut) {
    const std::string delivered = joined(kPieces, 0, cut);
    for (const Texts& events : {kPieces, points_of(answer), Texts{answer}}) {
      const Outcome again = outcome(delivered, events);
      INFO("cut " << cut << ", " << events.size() << " events");
      CHECK_FALSE(again.refused);
      CHECK(again.text == answer);
      CHECK(again.replayed);
    }
  }
}

TEST_CASE("begun again and changed anywhere, it is refused, and nothing is added", "[tail-joiner]") {
  const std::string delivered = joined(kPieces, 0, kPieces.size() - 1);
  for (std::size_t at = TailJoiner::kNoChance; at < delivered.size(); ++at) {
    if (!begins(delivered, at)) continue;
    const std::string other = delivered.substr(0, at) + "#" + delivered.substr(at);
    for (const Texts& events : {points_of(other), Texts{other}}) {
      const Outcome again = outcome(delivered, events);
      INFO(at);
      CHECK(again.refused);
      CHECK(again.text == delivered);
    }
  }
}

TEST_CASE("a replay that ends before the delivered text does is another answer", "[tail-joiner]") {
  CHECK(outcome("Hello there, sailor", {"Hello there"}).refused);
  CHECK(outcome("Hello there, sailor", {"Hel", "lo", " the", "re"}).refused);
  // So little may be chance, and a continuation.
  CHECK(outcome("He said: ", {"He"}).text == "He said: He");
  CHECK(outcome("ab ab ab", {"ab"}).text == "ab ab ab");
}

struct Ambiguous {
  std::string_view what;
  std::string delivered;
  Texts events;
  std::string text;  // empty: refused
  std::size_t joined_at;
};

TEST_CASE("where the first events could be both, all of the text decides", "[tail-joiner]") {
  const std::vector<Ambiguous> cases{
      {"the end, and not the beginning", "a tide is a", {"a", " wave"}, "a tide is a wave", 2},
      {"the beginning, and not the end", "a tide is a", {"a", " tide", " is a", " wave"}, "a tide is a wave", 3},
      {"both explain three events: the beginning holds",
       "ha ha ha ha ha",
       {"ha", " ha", " ha", " ha", " ha!"},
       "ha ha ha ha ha!",
       5},
      {"all of it at once", "ha ha", {"ha ha ha"}, "ha ha ha", 1},
      {"another beginning", "Hello wor", {"Hello ", "there"}, "", 2},
      {"another beginning, in one event", "Hello wor", {"Hello there"}, "", 1},
      {"six letters agree, and the overlap is longer",
       "again and again and",
       {"again and", " off"},
       "again and again and off",
       2},
      {"a heading like the first one", "# A\n\ntext\n\n", {"# B\n"}, "# A\n\ntext\n\n# B\n", 1},
      {"from a single code point", "系统架构", {"构设计"}, "系统架构设计", 1},
      {"a clean continuation is not held up", "Low tide", {" uncovers", " sand"}, "Low tide uncovers sand", 1},
      {"half an emoji sequence", "👩", {"👩\u200D", "🚀"}, "👩‍🚀", 1},
      {"nothing was delivered", "", {"text"}, "text", 1},
  };
  for (const Ambiguous& item : cases) {
    INFO(item.what);
    const Outcome out = outcome(item.delivered, item.events);
    CHECK(out.refused == item.text.empty());
    CHECK(out.text == (item.text.empty() ? item.delivered : item.text));
    CHECK(out.joined_at == item.joined_at);
  }
}

TEST_CASE("a finish and nothing else goes on behind everything", "[tail-joiner]") {
  CHECK(outcome("some text", {}).text == "some text");
  CHECK_FALSE(outcome("some text", {}).refused);
}

TEST_CASE("what repeats itself without end costs no more than the window", "[tail]") {
  // Each is looked at again at every length: without the bound this would not end.
  constexpr std::size_t kMuch = 4u << 20;
  const std::string same(kMuch, 'a');
  CHECK(outcome("b" + same + "c", {same}).text.size() == 2 * kMuch + 2);
  CHECK(outcome("c" + same, {std::string(kMuch / 2, 'a') + "b"}).text ==
        "c" + same + std::string(kMuch / 2 - TailJoiner::kWindowBytes, 'a') + "b");
}

}  // namespace
}  // namespace tidemark::seam
