// Overlap: known seams, the linear search against a slow one, and the trimmer's patience.
#include "core/seam/overlap_trimmer.hpp"

#include <algorithm>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/utf8.hpp"
#include "tests/catch.hpp"

namespace tidemark::seam {
namespace {

std::size_t slow_overlap(std::string_view delivered, std::string_view continuation) {
  for (std::size_t n = std::min(delivered.size(), continuation.size()); n > 0; --n) {
    const bool cut = (n < continuation.size() && is_continuation(continuation[n])) || is_continuation(continuation[0]);
    if (!cut && delivered.substr(delivered.size() - n) == continuation.substr(0, n)) return n;
  }
  return 0;
}

TEST_CASE("known overlaps", "[overlap]") {
  CHECK(overlap_bytes("系统架构", "构设计") == 3);
  CHECK(overlap_bytes("ha ha", " ha") == 3);
  CHECK(overlap_bytes("the cat", "the cat sat") == 7);
  CHECK(overlap_bytes("", "abc") == 0);
  CHECK(overlap_bytes("abc", "") == 0);
  CHECK(overlap_bytes("aaaa", "aaaaaa") == 4);
  CHECK(overlap_bytes("abcabc", "abcabd") == 3);
}

TEST_CASE("an overlap never cuts a code point", "[overlap]") {
  // U+6F6E and U+6F6F share their first two bytes; 🌊 and 🌋 share three.
  CHECK(overlap_bytes("x\xE6\xBD", "\xE6\xBD\xAE") == 0);
  CHECK(overlap_bytes("\xE6\xBD\xAE", "\xAE") == 0);
  CHECK(overlap_bytes("a🌊", "🌋b") == 0);
  // Code points are the rule, not what is seen as one: the sequence may be cut at its joiner.
  CHECK(overlap_bytes("👩", "👩‍🚀") == 4);
}

TEST_CASE("the linear search finds what the slow one finds", "[overlap]") {
  const std::vector<std::string> alphabet{"a", "b", "潮", "\xE6\xBD\xAF", "🌊"};
  Random random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string delivered, continuation;
    for (std::uint64_t i = random.next() % 12; i > 0; --i)
      delivered += alphabet[random.next() % (2 + random.next() % 4)];
    if (random.next() % 2 == 0) {
      std::size_t from = random.next() % (delivered.size() + 1);
      while (from < delivered.size() && is_continuation(delivered[from])) ++from;
      continuation = delivered.substr(from);
    }
    for (std::uint64_t i = random.next() % 8; i > 0; --i)
      continuation += alphabet[random.next() % (2 + random.next() % 4)];
    INFO(delivered << " + " << continuation);
    REQUIRE(overlap_bytes(delivered, continuation) == slow_overlap(delivered, continuation));
  }
}

TEST_CASE("a CJK code point weighs three", "[overlap]") {
  CHECK(weight("") == 0);
  CHECK(weight("abc é") == 5);
  CHECK(weight("潮汐") == 6);
  CHECK(weight("かな한글。Ａ𠀀") == 21);
  CHECK(weight("🌊") == 1);
}

// What reaches the reader when a continuation comes in these events.
std::string join(const std::string& delivered, const std::vector<std::string>& events, Continuer continuer,
                 std::uint32_t overlap_min = 12) {
  OverlapTrimmer trimmer(delivered, continuer, overlap_min);
  std::string out = delivered, held;
  for (const std::string& text : events) {
    held += text;
    const auto decision = trimmer.offer(text);
    if (!decision.decided) continue;
    out += held.substr(decision.trim_bytes);
    held.clear();
  }
  if (!trimmer.decided()) out += held.substr(trimmer.finish().trim_bytes);
  return out;
}

TEST_CASE("a server that resumes its own generation is trimmed from one code point on", "[overlap]") {
  CHECK(join("系统架构", {"构设计"}, Continuer::SameGeneration) == "系统架构设计");
  CHECK(join("Hello, w", {"w", "or", "ld"}, Continuer::SameGeneration) == "Hello, world");
  CHECK(join("Hello, wor", {"o, w", "or", "ld"}, Continuer::SameGeneration) == "Hello, world");
  CHECK(join("abc", {"def"}, Continuer::SameGeneration) == "abcdef");
}

TEST_CASE("a model's light match is chance and kept", "[overlap]") {
  CHECK(join("ha ha", {" ha"}, Continuer::Model) == "ha ha ha");
  CHECK(join("one two three four", {"three four", " five"}, Continuer::Model, 10) == "one two three four five");
  CHECK(join("one two three four", {"three four", " five"}, Continuer::Model, 11) ==
        "one two three fourthree four five");
  CHECK(join("潮汐表明海", {"表明海", "水"}, Continuer::Model, 9) == "潮汐表明海水");
}

TEST_CASE("the trimmer decides as soon as no longer overlap can arise, and at the third event at the latest",
          "[overlap]") {
  OverlapTrimmer early("abcabc", Continuer::SameGeneration);
  CHECK(early.offer("xyz").decided);
  OverlapTrimmer late("abcdefgh", Continuer::SameGeneration);
  CHECK_FALSE(late.offer("b").decided);
  CHECK_FALSE(late.offer("c").decided);
  CHECK(late.offer("d").decided);
  CHECK(late.offer("bcd").trim_bytes == 0);
  OverlapTrimmer ended("abc", Continuer::SameGeneration);
  CHECK_FALSE(ended.offer("b").decided);
  CHECK(ended.finish().trim_bytes == 0);
}

TEST_CASE("text beyond the window is not looked at", "[overlap]") {
  const std::string old = "an old beginning ";
  const std::string delivered = old + std::string(OverlapTrimmer::kWindowBytes, 'z');
  OverlapTrimmer trimmer(delivered, Continuer::SameGeneration);
  const auto decision = trimmer.offer(delivered + "!");
  CHECK(decision.decided);
  CHECK(decision.trim_bytes == 0);
}

TEST_CASE("trimming is the same however the continuation is cut into up to three events", "[overlap]") {
  const std::string delivered = "The tide comes in, and 潮 goes out";
  const std::string rest = " 潮 goes out again.";
  const std::string whole = join(delivered, {rest}, Continuer::SameGeneration);
  CHECK(whole == delivered + " again.");
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (is_continuation(rest[i])) continue;
    for (std::size_t j = i + 1; j < rest.size(); ++j) {
      if (is_continuation(rest[j])) continue;
      REQUIRE(join(delivered, {rest.substr(0, i), rest.substr(i, j - i), rest.substr(j)}, Continuer::SameGeneration) ==
              whole);
    }
  }
}

}  // namespace
}  // namespace tidemark::seam
