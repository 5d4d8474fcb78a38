// What is read of a JSON body, and that nothing but the resume fields ever leaves it.
#include "native/proxy/request_body.hpp"

#include <nlohmann/json.hpp>

#include "core/base/random.hpp"
#include "tests/catch.hpp"

using namespace tidemark::proxy;

TEST_CASE("a body is a stream's where its top level says so") {
  const auto stream = [](std::string_view body) {
    const auto facts = read_body(body);
    return facts && facts->stream;
  };
  CHECK(stream(R"({"stream":true})"));
  CHECK(stream(" { \"model\" : \"m\" ,\n\"stream\"\t: true } \r\n"));
  CHECK(stream(R"({"str\u0065am":true})"));
  CHECK(stream(R"({"stream":false,"stream":true})"));
  CHECK(stream(R"({"a":{"b":["}",{"c":"\"]"}]},"stream":true})"));
  for (const char* body :
       {"", "null", "[]", R"({"stream":false})", R"({"stream":"true"})", R"({"stream":1})", R"({"stream":null})",
        R"({"a":{"stream":true}})", R"({"a":"\"stream\":true"})", R"({"stream":true)", R"({"stream":true}x)",
        R"({"stream" true})", R"({"stream":})", R"({stream:true})", R"({"stream":true,})", R"([{"stream":true}])",
        R"({"stream":true,"stream":false})"}) {
    INFO(body);
    CHECK_FALSE(stream(body));
  }
}

TEST_CASE("resume fields are read as they stand") {
  const auto facts =
      read_body(R"({"resumeSeq":-1,"receivedLength" : 12.5,"tailFingerprint":"cbf29ce484222325","stream":true})");
  REQUIRE(facts);
  CHECK(facts->has_resume_fields);
  CHECK(facts->resume_seq == "-1");
  CHECK(facts->received_length == "12.5");
  CHECK(facts->tail_fingerprint == "cbf29ce484222325");

  const auto none = read_body(R"({"a":{"resumeSeq":1},"stream":true})");
  REQUIRE(none);
  CHECK_FALSE(none->has_resume_fields);
  CHECK_FALSE(none->resume_seq);

  const auto null = read_body(R"({"resumeSeq":null})");
  REQUIRE(null);
  CHECK(null->has_resume_fields);
  CHECK_FALSE(null->resume_seq);
}

TEST_CASE("resume fields leave the body, every other byte stays") {
  struct Case {
    const char* before;
    const char* after;
  };
  for (const Case& c : {
           Case{R"({"a":1,"stream":true})", R"({"a":1,"stream":true})"},
           Case{R"({"a":1,"resumeSeq":5})", R"({"a":1})"},
           Case{R"({"resumeSeq":5,"a":1})", R"({"a":1})"},
           Case{R"({"a":1,"resumeSeq":5,"b":2})", R"({"a":1,"b":2})"},
           Case{R"({"a":1, "resumeSeq": 5, "receivedLength": 1, "b" : 2 })", R"({"a":1, "b" : 2 })"},
           Case{R"({"a":1,"resumeSeq":5,"receivedLength":1,"tailFingerprint":"x"})", R"({"a":1})"},
           Case{R"({"resumeSeq":5,"a":1,"tailFingerprint":"x,}","b":[1, 2]})", R"({"a":1,"b":[1, 2]})"},
           Case{R"({ "resumeSeq":5 })", R"({  })"},
           Case{R"({})", R"({})"},
           Case{R"({"resume\u0053eq":5,"a":1.50})", R"({"a":1.50})"},
           Case{"{\n  \"a\": \"\xe4\xb8\xad\",\n  \"resumeSeq\": 5\n}\n", "{\n  \"a\": \"\xe4\xb8\xad\"\n}\n"},
           Case{R"({"a":{"resumeSeq":5}})", R"({"a":{"resumeSeq":5}})"},
       }) {
    INFO(c.before);
    REQUIRE(read_body(c.before));
    CHECK(without_resume_fields(c.before) == c.after);
  }
}

TEST_CASE("whatever the members and their spacing, what is left is the object without the fields") {
  tidemark::Random random(7);
  const std::vector<std::string> keys{"a", "b", "resumeSeq", "receivedLength", "tailFingerprint", "c\\n", "stream"};
  const std::vector<std::string> values{"1", "true", "null", R"("x\"y")", "[1,{\"resumeSeq\":2}]", "{}", "-1.5e3"};
  const std::vector<std::string> spaces{"", " ", "\n\t", "  "};
  const auto pick = [&random](const std::vector<std::string>& from) { return from[random.next() % from.size()]; };
  for (int round = 0; round < 3000; ++round) {
    std::string body = pick(spaces) + "{" + pick(spaces);
    nlohmann::json expected = nlohmann::json::object();
    const std::size_t members = random.next() % 6;
    for (std::size_t i = 0; i < members; ++i) {
      const std::string key = pick(keys);
      const std::string value = pick(values);
      if (i > 0) body += "," + pick(spaces);
      body += "\"" + key + "\"" + pick(spaces) + ":" + pick(spaces) + value + pick(spaces);
      if (key != "resumeSeq" && key != "receivedLength" && key != "tailFingerprint") {
        expected[nlohmann::json::parse("\"" + key + "\"").get<std::string>()] = nlohmann::json::parse(value);
      }
    }
    body += "}" + pick(spaces);
    INFO(body);
    REQUIRE(read_body(body));
    const std::string rest = without_resume_fields(body);
    INFO(rest);
    CHECK(nlohmann::json::parse(rest) == expected);
    CHECK(without_resume_fields(rest) == rest);
  }
}
