// Overlap: known seams, the linear search against a slow one, and the trimmer's patience.
#include "core/seam/overlap_trimmer.hpp"

#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "tests/catch.hpp"
#include "tests/core/seam/slow_overlap.hpp"

namespace tidemark::seam {
namespace {

using test::slow_overlap;
using test::SlowTrimmer;

// Letters of one to four bytes, few of them, so that texts repeat themselves.
const std::vector<std::string> kLetters{"a", "b", "潮", "\xE6\xBD\xAF", "🌊"};

std::string random_text(Random& random, std::size_t most, std::size_t letters) {
  std::string text;
  for (std::uint64_t i = random.next() % (most + 1); i > 0; --i) text += kLetters[random.next() % letters];
  return text;
}

// A place in `text` where a code point begins, or its end.
std::size_t random_boundary(Random& random, std::string_view text) {
  std::size_t at = random.next() % (text.size() + 1);
  while (at < text.size() && !test::begins_code_point(text[at])) ++at;
  return at;
}

// Begins, every other time, with an end of what was delivered.
std::string random_continuation(Random& random, const std::string& delivered, std::size_t letters) {
  std::string text;
  if (random.next() % 2 == 0) text = delivered.substr(random_boundary(random, delivered));
  return text + random_text(random, 7, letters);
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
  // U+6F6E and U+6F6F share their first two bytes.
  CHECK(overlap_bytes("x\xE6\xBD", "\xE6\xBD\xAE") == 0);
  CHECK(overlap_bytes("\xE6\xBD\xAE", "\xAE") == 0);
  // 🌊 and 🌋 share three bytes, and in UTF-16 their high surrogate.
  CHECK(overlap_bytes("a🌊", "🌋b") == 0);
  CHECK(overlap_bytes("a\xF0\x9F\x8C", "🌋b") == 0);
  CHECK(overlap_bytes("a🌊", "🌊b") == 4);
  CHECK(overlap_bytes("𠀀𠀁", "𠀁𠀂") == 4);
}

TEST_CASE("code points are the rule, not what is seen as one character", "[overlap]") {
  // A woman, a joiner, a rocket: delivered up to the woman, or up to the joiner.
  CHECK(overlap_bytes("👩", "👩‍🚀") == 4);
  CHECK(overlap_bytes("👩\u200D", "👩‍🚀") == 7);
  CHECK(overlap_bytes("👩‍🚀", "🚀") == 4);
  // é, composed or not, is compared as it is written.
  CHECK(overlap_bytes("caf\u00E9", "e\u0301") == 0);
  CHECK(overlap_bytes("cafe", "e\u0301") == 1);
}

TEST_CASE("ill-formed text is compared as it is", "[overlap]") {
  CHECK(overlap_bytes("a\xFF", "\xFFz") == 1);
  CHECK(overlap_bytes("a\xC3", "\xC3") == 1);
  CHECK(overlap_bytes("a\xC3", "\xC3z") == 1);
  CHECK(overlap_bytes("\x80\x80", "\x80") == 0);
}

TEST_CASE("the linear search finds what the slow one finds", "[overlap]") {
  Random random(11);
  std::size_t found = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t letters = 2 + random.next() % 4;
    const std::string delivered = random_text(random, 12, letters);
    const std::string continuation = random_continuation(random, delivered, letters);
    INFO(delivered << " + " << continuation);
    const std::size_t expected = slow_overlap(delivered, continuation);
    found += expected > 0 ? 1 : 0;
    REQUIRE(overlap_bytes(delivered, continuation) == expected);
  }
  CHECK(found > 5000);
}

TEST_CASE("the linear search finds what the slow one finds, over all short texts of any bytes", "[overlap]") {
  const std::string bytes = "a\xE6\xBD\xAE";
  std::vector<std::string> texts{""};
  for (std::size_t first = 0, length = 1; length <= 4; ++length) {
    const std::size_t last = texts.size();
    for (; first < last; ++first) {
      for (const char c : bytes) texts.push_back(texts[first] + c);
    }
  }
  REQUIRE(texts.size() == 1 + 4 + 16 + 64 + 256);
  std::size_t wrong = 0;
  for (const std::string& delivered : texts) {
    for (const std::string& continuation : texts) {
      if (overlap_bytes(delivered, continuation) != slow_overlap(delivered, continuation)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a CJK code point weighs three", "[overlap]") {
  CHECK(weight("") == 0);
  CHECK(weight("abc é") == 5);
  CHECK(weight("潮汐") == 6);
  CHECK(weight("かな한글。Ａ𠀀") == 21);
  CHECK(weight("🌊") == 1);
  CHECK(weight("\xE6\xBD"
               "a\xFF\x80") == 5);
}

struct Joined {
  std::string text;            // what reaches the reader, with what was delivered before
  std::size_t decided_by = 0;  // the event, from 1, that decided; 0 where only the end did
};

Joined join(const std::string& delivered, const std::vector<std::string>& events, Continuer continuer,
            std::uint32_t overlap_min = 12) {
  OverlapTrimmer trimmer(delivered, continuer, overlap_min);
  Joined joined{delivered, 0};
  std::string held;
  for (std::size_t i = 0; i < events.size(); ++i) {
    held += events[i];
    const auto decision = trimmer.offer(events[i]);
    if (!decision.decided) continue;
    if (joined.decided_by == 0) joined.decided_by = i + 1;
    joined.text += held.substr(decision.trim_bytes);
    held.clear();
  }
  if (!trimmer.decided()) joined.text += held.substr(trimmer.finish().trim_bytes);
  return joined;
}

constexpr auto kServer = Continuer::SameGeneration;
constexpr auto kModel = Continuer::Model;

TEST_CASE("a server that resumes its own generation is trimmed from one code point on", "[overlap]") {
  CHECK(join("系统架构", {"构设计"}, kServer).text == "系统架构设计");
  CHECK(join("Hello, w", {"w", "or", "ld"}, kServer).text == "Hello, world");
  CHECK(join("Hello, wor", {"o, w", "or", "ld"}, kServer).text == "Hello, world");
  CHECK(join("abc", {"def"}, kServer).text == "abcdef");
  CHECK(join("abc", {}, kServer).text == "abc");
  CHECK(join("", {"abc"}, kServer).text == "abc");
}

TEST_CASE("a model's light match is chance and kept", "[overlap]") {
  CHECK(join("ha ha", {" ha"}, kModel).text == "ha ha ha");
  CHECK(join("one two three four", {"three four", " five"}, kModel, 10).text == "one two three four five");
  CHECK(join("one two three four", {"three four", " five"}, kModel, 11).text == "one two three fourthree four five");
  CHECK(join("潮汐表明海", {"表明海", "水"}, kModel, 9).text == "潮汐表明海水");
  CHECK(join("潮汐表明海", {"表明海", "水"}, kModel, 10).text == "潮汐表明海表明海水");
  // Twelve is what a model's match must weigh by default.
  CHECK(join("0123456789ab", {"0123456789ab!"}, kModel).text == "0123456789ab!");
  CHECK(join("0123456789ab", {"123456789ab!"}, kModel).text == "0123456789ab123456789ab!");
}

TEST_CASE("text goes out as soon as no longer overlap can arise, and with the third event at the latest", "[overlap]") {
  CHECK(join("abcabc", {"xyz"}, kServer).decided_by == 1);
  CHECK(join("abcdefgh", {"b", "c", "d"}, kServer).decided_by == 3);
  CHECK(join("abcdefgh", {"b", "x"}, kServer).decided_by == 2);
  CHECK(join("abcdefgh", {"", "b", "", "", "c", "", "d"}, kServer).decided_by == 7);
  // The end of what was delivered, standing nowhere else in it: longer it cannot get.
  CHECK(join("Hello, w", {"w", "orld"}, kServer).decided_by == 1);
  CHECK(join("wow", {"w", "ow"}, kServer).decided_by == 2);
  // What a model may still repeat would be lighter than what counts.
  CHECK(join("a sea of seals", {" se", "als"}, kModel, 12).decided_by == 2);
  CHECK(join("a sea of seals", {" se", "als"}, kModel, 14).decided_by == 1);
  CHECK(join("short", {"s", "h"}, kModel).decided_by == 1);
  CHECK(join("潮", {"\xAE"}, kServer).decided_by == 1);
  CHECK(join("abcd", {"b"}, kServer).decided_by == 0);
}

TEST_CASE("once decided, nothing is looked at again", "[overlap]") {
  OverlapTrimmer trimmer("abcdefgh", kServer);
  CHECK(trimmer.offer("gh").trim_bytes == 2);
  CHECK(trimmer.decided());
  CHECK(trimmer.offer("abcdefgh").decided);
  CHECK(trimmer.offer("abcdefgh").trim_bytes == 0);
  CHECK(trimmer.finish().trim_bytes == 0);
}

TEST_CASE("the end of the attempt decides with what there is", "[overlap]") {
  OverlapTrimmer trimmer("abcb", kServer);
  CHECK_FALSE(trimmer.offer("b").decided);
  const auto decision = trimmer.finish();
  CHECK(decision.decided);
  CHECK(decision.trim_bytes == 1);
}

TEST_CASE("an overlap that reaches beyond the third event is not found", "[overlap]") {
  CHECK(join("abcdefgh", {"b", "c", "d", "efgh!"}, kServer).text == "abcdefghbcdefgh!");
  CHECK(join("abcdefgh", {"b", "c", "defgh!"}, kServer).text == "abcdefgh!");
  // What the three overlap by themselves is.
  CHECK(join("baab aab", {"a", "a", "b", " aab!"}, kServer).text == "baab aab aab!");
}

TEST_CASE("text beyond the window is not looked at", "[overlap]") {
  constexpr std::size_t kWindow = OverlapTrimmer::kWindowBytes;
  const std::string window = "w" + std::string(kWindow - 1, 'z');
  CHECK(join("v" + window, {window + "!"}, kServer).text == "v" + window + "!");
  const std::string one_more = "v" + window;
  CHECK(join(one_more, {one_more + "!"}, kServer).text == one_more + one_more + "!");
  // A code point cut by the window's edge does not count as one in it.
  const std::string inside(kWindow - 2, 'z');
  CHECK(join("潮" + inside, {"\xBD\xAE" + inside}, kServer).text == "潮" + inside + "\xBD\xAE" + inside);
  CHECK(join("潮" + inside, {inside}, kServer).text == "潮" + inside);
}

TEST_CASE("the trimmer trims what the slow one trims, as early as that one can know", "[overlap]") {
  Random random(23);
  std::size_t trimmed = 0, early = 0, held = 0;
  for (int round = 0; round < 40000; ++round) {
    const std::size_t letters = 2 + random.next() % 4;
    const std::string delivered = random_text(random, 14, letters);
    std::string rest = random_continuation(random, delivered, letters);
    std::vector<std::string> events;
    while (!rest.empty() && events.size() < 6) {
      const std::size_t at = random_boundary(random, rest);
      events.push_back(rest.substr(0, at));
      rest.erase(0, at);
    }
    const SlowTrimmer slow{delivered, random.next() % 2 == 0 ? kServer : kModel,
                           static_cast<std::uint32_t>(random.next() % 12)};
    OverlapTrimmer trimmer(delivered, slow.continuer, slow.overlap_min);
    std::string offered;
    int with_text = 0;
    OverlapTrimmer::Decision decision;
    for (const std::string& text : events) {
      offered += text;
      with_text += text.empty() ? 0 : 1;
      decision = trimmer.offer(text);
      INFO(delivered << " + " << offered << ", event of " << text.size() << " bytes");
      REQUIRE(decision.decided == (with_text > 0 && (with_text == 3 || !slow.may_trim_more(offered))));
      if (decision.decided) break;
      ++held;
    }
    early += decision.decided && with_text < 3 ? 1 : 0;
    if (!decision.decided) decision = trimmer.finish();
    trimmed += decision.trim_bytes > 0 ? 1 : 0;
    INFO(delivered << " + " << offered);
    REQUIRE(decision.trim_bytes == slow.trim(events));
  }
  CHECK(trimmed > 5000);
  CHECK(early > 5000);
  CHECK(held > 5000);
}

TEST_CASE("trimming is the same however the continuation is cut into up to three events", "[overlap]") {
  const std::string delivered = "The tide comes in, and 潮 goes out";
  const std::string rest = " 潮 goes out again.";
  const std::string whole = join(delivered, {rest}, kServer).text;
  CHECK(whole == delivered + " again.");
  for (std::size_t i = 1; i < rest.size(); ++i) {
    for (std::size_t j = i + 1; j < rest.size(); ++j) {
      if (!test::begins_code_point(rest[i]) || !test::begins_code_point(rest[j])) continue;
      REQUIRE(join(delivered, {rest.substr(0, i), rest.substr(i, j - i), rest.substr(j)}, kServer).text == whole);
    }
  }
}

}  // namespace
}  // namespace tidemark::seam
