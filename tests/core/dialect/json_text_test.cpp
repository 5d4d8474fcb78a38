// Strings of JSON, said and written: escapes, UTF-8 that is ill-formed, and views where nothing has to change.
#include "core/dialect/json_text.hpp"

#include <string>
#include <string_view>

#include "core/base/random.hpp"
#include "core/dialect/json_scan.hpp"
#include "tests/catch.hpp"
#include "tests/core/dialect/json_oracle.hpp"

namespace tidemark::dialect {
namespace {

std::string said(const std::string& quoted) {
  JsonReader reader(quoted);
  const JsonString string = reader.string();
  REQUIRE(reader.at_end());
  std::string out;
  append_decoded(out, string);
  return out;
}

TEST_CASE("ill-formed UTF-8 becomes U+FFFD as a decoder makes it") {
  constexpr std::string_view kFffd = "\xEF\xBF\xBD";
  const auto times = [&](int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += kFffd;
    return out;
  };
  CHECK(said("\"\x80\"") == times(1));
  CHECK(said("\"\xC3\"") == times(1));
  CHECK(said("\"\xC0\x80\"") == times(2));          // overlong
  CHECK(said("\"\xE0\x80\x80\"") == times(3));      // overlong
  CHECK(said("\"\xED\xA0\x80\"") == times(3));      // a surrogate
  CHECK(said("\"\xF4\x90\x80\x80\"") == times(4));  // beyond U+10FFFF
  CHECK(said("\"\xE2\x82\"") == times(1));          // a maximal part
  CHECK(said("\"\xF0\x9F\x8C\"") == times(1));
  CHECK(said("\"\xF0\x9F\x8Cz\"") == times(1) + "z");
  CHECK(said("\"\xE6\xB0\xB4\xC3\xA9\xF0\x9F\x8C\x8A\"") == "\xE6\xB0\xB4\xC3\xA9\xF0\x9F\x8C\x8A");
  CHECK(said("\"\xF0\x9F\\n\xC3\"") == times(1) + "\n" + times(1));
}

TEST_CASE("any bytes are repaired as the decoder of the Encoding Standard does it") {
  constexpr std::string_view kBytes = "a\x80\xBF\xC2\xC3\xE0\xA0\x9F\xED\xEF\xF0\x90\x8F\xF4\xF5\xFF";
  Random random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (std::size_t size = random.next() % 12; size > 0; --size) bytes += kBytes[random.next() % kBytes.size()];
    std::string out;
    append_decoded(out, {bytes, true, false});
    REQUIRE(out == test::repaired_utf8(bytes));
  }
}

TEST_CASE("a string that says what stands there is not copied") {
  std::string scratch;
  for (const std::string_view raw : {"plain", "", "caf\xC3\xA9 \xF0\x9F\x8C\x8A"}) {
    CHECK(decoded({raw, true, false}, scratch).data() == raw.data());
  }
  CHECK(scratch.empty());
  CHECK(decoded({"a\\nb", true, true}, scratch) == "a\nb");
  CHECK(decoded({"a\xFF", true, false}, scratch) == "a\xEF\xBF\xBD");
}

TEST_CASE("what is written is read back") {
  std::string every;
  for (int c = 0; c < 0x80; ++c) every += static_cast<char>(c);
  every += "\xC3\xA9\xE6\xB0\xB4\xF0\x9F\x8C\x8A";
  std::string quoted;
  append_json_string(quoted, every);
  CHECK(nlohmann::json::parse(quoted) == every);
  CHECK(said(quoted) == every);
  std::string repaired;
  append_json_string(repaired, "a\xFF\xE2\x82");
  CHECK(repaired == "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST_CASE("the writer puts commas where they belong") {
  std::string out;
  JsonWriter json(out);
  json.begin_object().field("a", "x\"y").number_field("n", 18446744073709551615u).raw_field("r", "null");
  json.key("l").begin_array().number(1).string("b").begin_object().end_object().raw("[]").end_array();
  json.key("o").begin_object().end_object().field("z", "").end_object();
  CHECK(out == R"({"a":"x\"y","n":18446744073709551615,"r":null,"l":[1,"b",{},[]],"o":{},"z":""})");
}

TEST_CASE("plain stretches end at the same byte whichever way they are scanned") {
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      for (const char stop : {'"', '\\', '\n', '\x1F', '\0'}) {
        std::string text(size, 'a');
        for (std::size_t i = 0; i < size; ++i) text[i] = i % 3 == 0 ? '\xFF' : i % 3 == 1 ? ' ' : '\x7F';
        if (at < size) text[at] = stop;
        if (at + 1 < size) text[at + 1] = '"';
        const char* const end = text.data() + size;
        REQUIRE(scan::find_plain_end_swar(text.data(), end) == text.data() + at);
        REQUIRE(scan::find_plain_end(text.data(), end) == text.data() + at);
      }
    }
  }
}

TEST_CASE("comparing eight bytes at a time sees every byte") {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string a(size, 'a');
    CHECK(scan::equal_swar(a.data(), std::string(size, 'a').data(), size));
    for (std::size_t at = 0; at < size; ++at) {
      std::string b = a;
      b[at] = 'b';
      REQUIRE_FALSE(scan::equal_swar(a.data(), b.data(), size));
    }
  }
}

}  // namespace
}  // namespace tidemark::dialect
