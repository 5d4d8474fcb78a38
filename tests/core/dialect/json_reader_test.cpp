// The pull parser: its grammar, its bound, what it hands out, and its agreement with nlohmann/json.
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.hpp"
#include "core/dialect/json_reader.hpp"
#include "tests/catch.hpp"
#include "tests/core/dialect/json_oracle.hpp"
#include "tests/recordings.hpp"

namespace tidemark::dialect {
namespace {

bool accepts(std::string_view text) {
  JsonReader reader(text);
  reader.skip();
  return reader.at_end();
}

void check_agreement(const std::string& text) {
  const auto wrong = test::disagreement(text);
  if (!wrong) return;
  INFO(text);
  FAIL(*wrong);
}

TEST_CASE("what is JSON and what is not") {
  for (const std::string_view good : {"null",         "true",
                                      "false",        "0",
                                      "-0",           "12",
                                      "-1.5",         "1e5",
                                      "1E+5",         "1.25e-300",
                                      "1e999",        "\"\"",
                                      "\"a\"",        "[]",
                                      "{}",           "[1,2]",
                                      "{\"a\":1}",    " [ 1 , { \"a\" : [ ] } ] ",
                                      "\t\r\n1\n",    "{\"a\":1,\"a\":2}",
                                      "\"\\u0000\"",  "\"\\ud800\"",
                                      "\"\xC3\xA9\"", "\"\x7F\"",
                                      "[[[[]]]]",     "[{},[],{\"a\":{}}]",
                                      "\"\xFF\""}) {
    INFO(good);
    CHECK(accepts(good));
  }
  for (const std::string_view bad : {"",
                                     " ",
                                     "nul",
                                     "nulll",
                                     "True",
                                     "01",
                                     "-",
                                     "+1",
                                     "1.",
                                     ".5",
                                     "1e",
                                     "1e+",
                                     "0x1",
                                     "--1",
                                     "\"",
                                     "\"a",
                                     "a",
                                     "'a'",
                                     "\"\\x\"",
                                     "\"\\u12\"",
                                     "\"\\u12g4\"",
                                     "\"\\",
                                     "[",
                                     "]",
                                     "[1",
                                     "[1,",
                                     "[1,]",
                                     "[,1]",
                                     "[1 2]",
                                     "{",
                                     "}",
                                     "{,}",
                                     "{\"a\"}",
                                     "{\"a\":}",
                                     "{\"a\":1,}",
                                     "{a:1}",
                                     "{1:1}",
                                     "{\"a\" 1}",
                                     "{\"a\":1 \"b\":2}",
                                     "[}",
                                     "{]",
                                     "[1}",
                                     "{\"a\":1]",
                                     "1 2",
                                     "null,",
                                     "[]]",
                                     "\"\n\"",
                                     "\"\x1F\"",
                                     "\xEF\xBB\xBF[]",
                                     "\xC3\xA9",
                                     "[\xC2\xA0]",
                                     "NaN",
                                     "Infinity",
                                     "// x\n1",
                                     "[1]x"}) {
    INFO(bad);
    CHECK_FALSE(accepts(bad));
    check_agreement(std::string(bad));
  }
}

TEST_CASE("nesting is bounded, for what is passed over and for what is read") {
  const auto nested = [](std::size_t depth, char open, char close) {
    return std::string(depth, open) + std::string(depth, close);
  };
  CHECK(accepts(nested(JsonReader::kMaxDepth, '[', ']')));
  CHECK_FALSE(accepts(nested(JsonReader::kMaxDepth + 1, '[', ']')));
  std::string objects;
  for (std::size_t i = 0; i < JsonReader::kMaxDepth; ++i) objects += "{\"a\":";
  CHECK(accepts(objects + "1" + std::string(JsonReader::kMaxDepth, '}')));
  CHECK_FALSE(accepts("[" + objects + "1" + std::string(JsonReader::kMaxDepth, '}') + "]"));
  // Halfway in by reading, the rest by passing over.
  for (const std::size_t depth : {JsonReader::kMaxDepth, JsonReader::kMaxDepth + 1}) {
    const std::string text = nested(depth, '[', ']');
    JsonReader reader(text);
    reader.array([&] { reader.array([&] { reader.skip(); }); });
    CHECK(reader.at_end() == (depth == JsonReader::kMaxDepth));
  }
  CHECK_FALSE(accepts(std::string(1u << 20, '[')));
}

TEST_CASE("values of another type are passed over") {
  JsonReader reader(R"({"a":[1,{"b":2}],"c":"text","d":7})");
  std::string seen;
  reader.object([&](std::string_view key) {
    seen += key;
    CHECK_FALSE(reader.string().present == (key != "c"));
  });
  CHECK(seen == "acd");
  CHECK(reader.at_end());

  JsonReader array("[{},[],3,\"x\",null,true]");
  int elements = 0;
  array.array([&] {
    ++elements;
    if (elements == 1) CHECK_FALSE(array.array([&] { FAIL("an object is no array"); }));
    if (elements == 2) CHECK_FALSE(array.object([&](std::string_view) { FAIL("an array is no object"); }));
    if (elements == 3) CHECK(array.whole_number() == 3u);
    if (elements == 4) CHECK_FALSE(array.whole_number());
    if (elements == 5) CHECK_FALSE(array.is_true());
    if (elements == 6) CHECK(array.is_true());
  });
  CHECK(elements == 6);
  CHECK(array.at_end());
}

TEST_CASE("whole numbers") {
  const auto read = [](std::string_view text) { return JsonReader(text).whole_number(); };
  CHECK(read("0") == 0u);
  CHECK(read("18446744073709551615") == 18446744073709551615u);
  CHECK(read("12.000") == 12u);
  for (const std::string_view none :
       {"18446744073709551616", "99999999999999999999999", "-1", "1.5", "1e3", "\"1\"", "null", "[]"}) {
    INFO(none);
    CHECK_FALSE(read(none));
  }
}

TEST_CASE("an error is final") {
  JsonReader reader(R"({"a":1,"b":oops,"c":3})");
  std::string seen;
  reader.object([&](std::string_view key) {
    seen += key;
    reader.skip();
  });
  CHECK(seen == "ab");
  CHECK(reader.failed());
  CHECK_FALSE(reader.at_end());
  CHECK_FALSE(reader.string());
  CHECK_FALSE(reader.whole_number());
  CHECK(reader.raw().empty());
  CHECK_FALSE(reader.object([](std::string_view) { FAIL("after an error"); }));
}

TEST_CASE("keys are unescaped, up to a length") {
  const std::string long_key(JsonReader::kMaxKey, 'k');
  const std::string text = R"({"ty\u0070e":1,"\ud83c\udf0a":2,")" + long_key + R"(":3,")" + long_key + R"(\n":4})";
  JsonReader reader(text);
  std::vector<std::string> keys;
  reader.object([&](std::string_view key) {
    keys.emplace_back(key);
    reader.skip();
  });
  CHECK(keys == std::vector<std::string>{"type", "\xF0\x9F\x8C\x8A", long_key, long_key + "\\n"});
}

TEST_CASE("every short text over a small alphabet, against nlohmann/json") {
  constexpr std::string_view kAlphabet = "{}[]:,\"\\10-.eu ";
  constexpr std::size_t kLongest = 4;
  for (std::size_t length = 1; length <= kLongest; ++length) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < length; ++i) count *= kAlphabet.size();
    for (std::size_t number = 0; number < count; ++number) {
      std::string text;
      for (std::size_t rest = number, i = 0; i < length; ++i, rest /= kAlphabet.size())
        text += kAlphabet[rest % kAlphabet.size()];
      check_agreement(text);
    }
  }
}

const std::vector<std::string>& samples() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out = {
        R"({"id":"c","choices":[{"index":0,"delta":{"content":"a\n\u00e9\ud83c\udf0a\ud83c"},"finish_reason":null}]})",
        R"([1,-2.5e10,true,false,null,"",{"":[]},{"a":{"b":[{"c":"d"}]}}])",
        " { \"k\\u0065y\" : \"\xE6\xB0\xB4\xF0\x9F\x8C\x8A\" , \"x\" : [ ] } ",
        R"({"type":"response.output_text.delta","sequence_number":12,"delta":" word","logprobs":[]})",
    };
    for (const auto& recording : tidemark::test::recordings()) {
      for (std::size_t i = 0; i < recording.data.size(); i += 1 + recording.data.size() / 4) {
        if (recording.data[i].size() < 2000) out.push_back(recording.data[i]);
      }
    }
    return out;
  }();
  return all;
}

TEST_CASE("recorded and made-up JSON, whole, cut and changed, against nlohmann/json") {
  constexpr std::string_view kBytes = "{}[]\":,\\u0d89aeE+-.tfn \x01\x7F\x80\xBF\xC2\xE0\xED\xF0\xF4\xFF";
  Random random(20261130);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random.next() % bound); };
  for (const std::string& sample : samples()) {
    check_agreement(sample);
    for (int round = 0; round < 300; ++round) {
      std::string text = sample;
      for (std::size_t changes = 1 + below(3); changes > 0 && !text.empty(); --changes) {
        const std::size_t at = below(text.size());
        const char byte = kBytes[below(kBytes.size())];
        switch (below(4)) {
          case 0:
            text[at] = byte;
            break;
          case 1:
            text.insert(at, 1, byte);
            break;
          case 2:
            text.erase(at, 1 + below(4));
            break;
          default:
            text.resize(at);
            break;
        }
      }
      check_agreement(text);
    }
  }
}

}  // namespace
}  // namespace tidemark::dialect
