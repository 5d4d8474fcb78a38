// An answer that begins again: skipped as far as it agrees, at every cut, and no further.
#include "core/seam/replay.hpp"

#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "tests/catch.hpp"
#include "tests/core/seam/slow_overlap.hpp"

namespace tidemark::seam {
namespace {

using Step = Replay::Step;

const std::string kAnswer = "The tide 潮汐 rises 🌊, and 🌋 too.";

bool cuts_code_point(const std::string& text, std::size_t at) {
  return at < text.size() && !test::begins_code_point(text[at]);
}

// The text in pieces of up to three code points.
std::vector<std::string> random_pieces(Random& random, const std::string& text) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    for (std::uint64_t points = 1 + random.next() % 3; points > 0 && end < text.size(); --points) {
      do ++end;
      while (cuts_code_point(text, end));
    }
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

TEST_CASE("what is repeated is skipped, what follows is new", "[replay]") {
  Replay replay("abc");
  CHECK(replay.offer("a").step == Step::Skipped);
  CHECK(replay.offer("").step == Step::Skipped);
  CHECK(replay.matched() == 1);
  CHECK_FALSE(replay.joined());
  const Replay::Result result = replay.offer("bcde");
  CHECK(result.step == Step::Joined);
  CHECK(result.skipped_bytes == 2);
  CHECK(replay.joined());
  const Replay::Result after = replay.offer("a");
  CHECK(after.step == Step::Joined);
  CHECK(after.skipped_bytes == 0);
}

TEST_CASE("a replay that ends where the delivered text does has joined", "[replay]") {
  Replay replay("abc");
  CHECK(replay.offer("ab").step == Step::Skipped);
  CHECK(replay.offer("c").step == Step::Joined);
  CHECK(replay.matched() == 3);
}

TEST_CASE("where nothing was delivered everything is new", "[replay]") {
  Replay replay("");
  CHECK(replay.joined());
  const Replay::Result result = replay.offer("abc");
  CHECK(result.step == Step::Joined);
  CHECK(result.skipped_bytes == 0);
}

TEST_CASE("a divergence is final", "[replay]") {
  Replay replay("abcdef");
  CHECK(replay.offer("ab").step == Step::Skipped);
  const Replay::Result result = replay.offer("cXef");
  CHECK(result.step == Step::Diverged);
  CHECK(result.skipped_bytes == 1);
  CHECK(replay.matched() == 3);
  CHECK(replay.offer("def").step == Step::Diverged);
  CHECK_FALSE(replay.joined());
}

TEST_CASE("a divergence at the last character leaves nothing joined", "[replay]") {
  Replay replay("a");
  CHECK(replay.offer("b").step == Step::Diverged);
  CHECK_FALSE(replay.joined());
}

TEST_CASE("texts part between code points", "[replay]") {
  // 🌊 and 🌋 share three bytes.
  Replay replay("a🌊b");
  const Replay::Result result = replay.offer("a🌋b");
  CHECK(result.step == Step::Diverged);
  CHECK(result.skipped_bytes == 1);
  CHECK(replay.matched() == 1);
  // What was delivered ends inside a code point that the replay has whole, and the other way round.
  Replay half("a\xF0\x9F");
  CHECK(half.offer("a🌊").skipped_bytes == 1);
  CHECK_FALSE(half.joined());
  Replay whole("a🌊");
  CHECK(whole.offer("a\xF0\x9F").step == Step::Diverged);
  CHECK(whole.matched() == 1);
}

TEST_CASE("cut anywhere, in pieces of any size, the rest is exactly what is new", "[replay]") {
  Random random(5);
  for (std::size_t cut = 0; cut <= kAnswer.size(); ++cut) {
    if (cuts_code_point(kAnswer, cut)) continue;
    const std::string delivered = kAnswer.substr(0, cut);
    for (int round = 0; round < 20; ++round) {
      Replay replay(delivered);
      std::string all = delivered;
      for (const std::string& piece : random_pieces(random, kAnswer)) {
        const Replay::Result result = replay.offer(piece);
        REQUIRE(result.step != Step::Diverged);
        REQUIRE((result.step == Step::Skipped) == (replay.matched() < delivered.size()));
        if (result.step == Step::Skipped) REQUIRE(result.skipped_bytes == piece.size());
        all += piece.substr(result.skipped_bytes);
      }
      CHECK(all == kAnswer);
    }
  }
}

TEST_CASE("one changed character is found where it stands", "[replay]") {
  Random random(6);
  for (std::size_t at = 0; at < kAnswer.size(); ++at) {
    if (cuts_code_point(kAnswer, at)) continue;
    std::string other = kAnswer;
    other[at] = '#';
    while (cuts_code_point(other, at + 1)) other.erase(at + 1, 1);
    Replay replay(kAnswer);
    bool diverged = false;
    for (const std::string& piece : random_pieces(random, other)) {
      diverged = replay.offer(piece).step == Step::Diverged;
      if (diverged) break;
    }
    CHECK(diverged);
    CHECK(replay.matched() == at);
  }
}

}  // namespace
}  // namespace tidemark::seam
