// Tail fingerprint: known values, and the incremental form against the whole-text one.
#include "core/seam/tail_fingerprint.hpp"

#include "core/base/random.hpp"
#include "tests/catch.hpp"

namespace tidemark::seam {
namespace {

TEST_CASE("known fingerprints", "[fingerprint]") {
  CHECK(to_hex(tail_fingerprint("")) == "cbf29ce484222325");
  CHECK(to_hex(tail_fingerprint("abc")) == "e71fa2190541574b");
  CHECK(to_hex(0x1a) == "000000000000001a");
}

TEST_CASE("only the last thirty code points count", "[fingerprint]") {
  const std::string tail = "潮汐的痕迹🌊0123456789abcdefghijklmn";  // 5 + 1 + 24
  CHECK(tail_fingerprint("anything before it" + tail) == tail_fingerprint(tail));
  CHECK(tail_fingerprint("x" + tail.substr(3)) != tail_fingerprint(tail));
}

TEST_CASE("appended in any pieces, the tail is that of the whole text", "[fingerprint]") {
  const std::vector<std::string> points{"a", " ", "é", "潮", "🌊", "\xCC\x81", "👩‍🚀"};
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    std::uint64_t units = 0;
    for (std::uint64_t i = random.next() % 200; i > 0; --i) text += points[random.next() % points.size()];
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      units += byte >= 0xF0 ? 2 : (byte & 0xC0) == 0x80 ? 0 : 1;
    }
    Tail tail;
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t piece = 1 + random.next() % (round % 2 == 0 ? 5 : 300);
      tail.append(rest.substr(0, piece));
      rest.remove_prefix(std::min(piece, rest.size()));
    }
    REQUIRE(tail.fingerprint() == tail_fingerprint(text));
    REQUIRE(tail.utf16_length() == units);
  }
}

TEST_CASE("ill-formed text stays within the bound", "[fingerprint]") {
  Tail tail;
  tail.append(std::string(100000, '\x80'));
  CHECK(tail.text().size() == kTailCodePoints * 4);
  CHECK(tail.utf16_length() == 0);
  tail.append(std::string(40, 'x'));
  CHECK(tail.text() == std::string(kTailCodePoints, 'x'));
}

}  // namespace
}  // namespace tidemark::seam
