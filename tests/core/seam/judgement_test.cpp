// What is aimed at over generated seams (docs/seams.md has the whole table): no continuation of the answer refused, and
// none accepted wrongly that can be told.
#include <string>

#include "core/base/utf8.hpp"
#include "core/seam/joiner.hpp"
#include "tests/catch.hpp"
#include "tests/core/seam/seam_cases.hpp"

namespace tidemark::seam {
namespace {

using test::Kind;
using test::Outcome;

constexpr int kCasesACell = 40;

// Whether one of these outcomes is the right one for every case of that kind.
bool can_be_told(Kind kind, Place place) {
  switch (kind) {
    case Kind::Clean:
    case Kind::Stripped:
    case Kind::EchoLight:
    case Kind::Echo:
    case Kind::Restart:
    case Kind::LeadIn:
      return true;
    case Kind::Refusal:
      return place != Place::Fresh;
    case Kind::EchoInPieces:   // beyond three events it may stand in the answer before
    case Kind::RestartDrifts:  // as soon as it drifts, only its words tell it
    case Kind::Paraphrase:
    case Kind::OtherAnswer:
      return false;
  }
  return false;
}

TEST_CASE("what can be told is judged rightly", "[joiner]") {
  const std::vector<test::Answer> answers = test::read_answers();
  const auto groups = test::by_kind(answers);
  REQUIRE(groups.size() == 7);
  for (const test::Group& group : groups) {
    REQUIRE(group.size() >= 6);
    for (std::size_t kind = 0; kind < test::kKinds; ++kind) {
      Random random(kind);
      for (int i = 0; i < kCasesACell; ++i) {
        const test::Case item = test::make_case(random, group, static_cast<Kind>(kind));
        const test::Joined joined = test::join(item);
        INFO(group.front()->kind << ", " << test::name(item.kind) << ": [" << item.delivered << "] + ["
                                 << item.events.front() << "…");
        if (item.kind <= Kind::Echo) REQUIRE(joined.outcome != Outcome::Refused);
        if (can_be_told(item.kind, place_of(item.delivered))) REQUIRE(joined.outcome != Outcome::Wrong);
      }
    }
  }
}

TEST_CASE("of what only its words tell, enough is", "[joiner]") {
  const std::vector<test::Answer> answers = test::read_answers();
  const test::Group english = test::by_kind(answers).front();
  REQUIRE(english.front()->kind == "english");
  // Of 200 seams in the middle of a word.
  const auto count = [&](Kind kind, auto is_right) {
    Random random(3);
    unsigned all = 0, right = 0;
    while (all < 200) {
      const test::Case item = test::make_case(random, english, kind);
      if (place_of(item.delivered) != Place::Word) continue;
      ++all;
      right += is_right(test::join(item).outcome) ? 1u : 0u;
    }
    return right;
  };
  const auto refused = [](Outcome outcome) { return outcome == Outcome::Refused; };
  CHECK(count(Kind::EchoInPieces, [](Outcome outcome) { return outcome == Outcome::Trimmed; }) >= 180);
  CHECK(count(Kind::EchoInPieces, [](Outcome outcome) { return outcome != Outcome::Wrong; }) >= 198);
  CHECK(count(Kind::RestartDrifts, refused) >= 190);
  CHECK(count(Kind::Paraphrase, refused) >= 140);
  CHECK(count(Kind::OtherAnswer, refused) >= 120);
}

// The only thing lost is what the contract's rule takes for overlap: a row of dashes in a table.
TEST_CASE("no clean continuation is refused, cut after every third byte", "[joiner]") {
  const std::vector<test::Answer> answers = test::read_answers();
  std::size_t cuts = 0, dashes = 0;
  for (const test::Answer& answer : answers) {
    const std::string_view text = answer.text;
    for (std::size_t at = 1; at < text.size(); at += 3) {
      while (at < text.size() && is_continuation(text[at])) ++at;
      if (at == text.size()) break;
      Joiner joiner(text.substr(0, at), {});
      Joiner::Decision decision;
      for (std::size_t from = at, size = 1 + cuts % 7; from < text.size() && !joiner.decided(); from += size) {
        size = 1 + cuts % 7;
        while (from + size < text.size() && is_continuation(text[from + size])) ++size;
        decision = joiner.offer(text.substr(from, size));
      }
      if (!joiner.decided()) decision = joiner.finish();
      ++cuts;
      INFO(text.substr(0, at) << "][" << text.substr(at, 80));
      REQUIRE(decision.step == Joiner::Step::Join);
      if (decision.trim_bytes == 0) continue;
      REQUIRE(text.substr(at, decision.trim_bytes).find_first_not_of("-|") == std::string_view::npos);
      ++dashes;
    }
  }
  CHECK(cuts > 10000);
  CHECK(dashes < 10);
}

}  // namespace
}  // namespace tidemark::seam
