// The core's few common words: UTF-8, randomness, time, results.
#include <memory>
#include <string>

#include "core/base/random.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/base/utf8.hpp"
#include "tests/catch.hpp"

namespace tidemark {
namespace {

std::string encoded(char32_t point) {
  const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 0x3F))};
  if (point < 0x10000) {
    return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F))};
  }
  return {byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 0x3F)), byte(0x80 | (point >> 6 & 0x3F)),
          byte(0x80 | (point & 0x3F))};
}

TEST_CASE("every code point is decoded as it was encoded", "[utf8]") {
  std::size_t wrong = 0;
  for (char32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    const std::string text = encoded(point);
    std::size_t length = 0;
    const bool same = decode_at(text + "x", 0, length) == point && length == text.size();
    unsigned units = 0;
    for (const char c : text) units += utf16_units(c);
    if (!same || units != (point >= 0x10000 ? 2u : 1u)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("where no code point stands, one byte is U+FFFD", "[utf8]") {
  for (const char* text :
       {"\x80", "\xBF\x80", "\xC3", "\xC3z", "\xE6\xBD", "\xE6\xBDz", "\xF0\x9F\x8C", "\xF8\x88\x80\x80", "\xFF"}) {
    std::size_t length = 0;
    INFO(text);
    CHECK(decode_at(text, 0, length) == 0xFFFD);
    CHECK(length == 1);
  }
}

TEST_CASE("continuation bytes are those from 80 to BF", "[utf8]") {
  for (int byte = 0; byte < 256; ++byte) {
    CHECK(is_continuation(static_cast<char>(byte)) == (byte >= 0x80 && byte <= 0xBF));
  }
}

TEST_CASE("a seed gives the same numbers everywhere", "[random]") {
  // SplitMix64 from seed 0.
  Random random(0);
  CHECK(random.next() == 0xE220A8397B1DCDAFu);
  CHECK(random.next() == 0x6E789E6AA1B965F4u);
  CHECK(random.next() == 0x06C45D188009454Fu);
  double least = 1, most = 0;
  for (int i = 0; i < 100000; ++i) {
    const double unit = random.unit();
    least = unit < least ? unit : least;
    most = unit > most ? unit : most;
  }
  CHECK(least >= 0);
  CHECK(least < 0.001);
  CHECK(most < 1);
  CHECK(most > 0.999);
}

TEST_CASE("a wait past all time never comes", "[time]") {
  CHECK(later(5, 7) == 12);
  CHECK(later(5, kNever) == kNever);
  CHECK(later(5, kNever - 5) == kNever);
  CHECK(later(5, kNever - 6) == kNever - 1);
}

TEST_CASE("a result is a value or an error", "[result]") {
  const Result<std::string, int> good(std::string("text"));
  CHECK(good.ok());
  CHECK(good.value() == "text");
  const Result<std::string, int> bad(7);
  CHECK_FALSE(bad);
  CHECK(bad.error() == 7);
  Result<std::unique_ptr<int>, int> movable(std::make_unique<int>(3));
  CHECK(*std::move(movable).value() == 3);
}

}  // namespace
}  // namespace tidemark
