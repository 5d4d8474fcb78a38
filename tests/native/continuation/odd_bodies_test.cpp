// Bodies of all kinds: whatever comes, a request is built that is JSON, or a reason is given.
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "native/continuation/json_edit.hpp"
#include "tests/catch.hpp"
#include "tests/native/continuation/cut.hpp"

namespace tidemark::continuation {
namespace {

using dialect::Dialect;
using nlohmann::json;
using seam::Form;

constexpr std::array kForms{Form::Reattach, Form::Prefix, Form::ContinueTurn};

/// Whether what is built of a body holds to what can be said of any.
void check_any(const CutAnswer& cut) {
  for (const Form form : kForms) {
    const auto built = continued_request(form, cut);
    if (!built.ok()) {
      CHECK_FALSE(built.error().empty());
      continue;
    }
    CHECK_FALSE(why_no_seam(form, cut.dialect, cut.body));
    const std::string& body = built.value().body;
    if (form == Form::Reattach) continue;
    CHECK(JsonObject::read(body));
    CHECK(body.size() > cut.body.size());
    if (!json::accept(cut.body)) continue;  // lone surrogates, which the grammar allows
    REQUIRE(json::accept(body));
    const json before = json::parse(cut.body);
    const json after = json::parse(body);
    for (const auto& [key, value] : before.items()) {
      const bool changed = key == "messages" || key == "input" || key == "contents" || key == "generationConfig" ||
                           key == "generation_config" || key.find("tokens") != std::string::npos ||
                           key == "continue_final_message" || key == "add_generation_prompt";
      if (!changed) CHECK(after.at(key) == value);
    }
  }
}

TEST_CASE("a long body, a long text and many members are no trouble") {
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
  std::string body = R"({"messages":[)";
  for (int i = 0; i < 4000; ++i) {
    body += R"({"role":"user","content":")" + std::string(256, 'x') + "\"},";
  }
  body.back() = ']';
  for (int i = 0; i < 20000; ++i) body += ",\"k" + std::to_string(i) + "\":1";
  body += "}";
  const std::string text(1u << 20, 'y');
  const auto built = continued_request(Form::Prefix, cut_answer(upstream, Dialect::OpenaiChat, body, text));
  REQUIRE(built.ok());
  CHECK(built.value().body.size() ==
        body.size() + text.size() + std::string(R"(,{"role":"assistant","content":""})").size());
}

TEST_CASE("nesting is followed as deep as the reader goes, and refused beyond") {
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
  for (const std::size_t depth : {1u, 50u, 120u, 127u, 128u, 200u, 100000u}) {
    const std::string body = R"({"x":)" + std::string(depth, '[') + std::string(depth, ']') + R"(,"messages":[]})";
    const auto built = continued_request(Form::Prefix, cut_answer(upstream, Dialect::OpenaiChat, body, "T"));
    CAPTURE(depth);
    CHECK(built.ok() == (depth < 128));
    if (!built.ok()) CHECK(built.error() == "not-json");
  }
}

TEST_CASE("of messages that stand twice the last count") {
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
  const std::string body =
      R"({"messages":[1],"messages":[{"role":"user","role":"assistant","content":"a","content":"b"}]})";
  const auto built = continued_request(Form::Prefix, cut_answer(upstream, Dialect::OpenaiChat, body, "c"));
  REQUIRE(built.ok());
  CHECK(built.value().body ==
        R"({"messages":[1],"messages":[{"role":"user","role":"assistant","content":"a","content":"bc"}]})");
}

TEST_CASE("bodies changed at random make no odd request") {
  const std::vector<std::string> bodies = {
      R"({"model":"m","n":1,"max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"}],"stream":true})",
      R"({"messages":[{"role":"assistant","content":[{"type":"text","text":"é\u00e9"}],"prefix":true}],"tool_choice":{"type":"auto"}})",
      R"({"model":"claude-sonnet-4-5","max_tokens":9,"thinking":{"type":"disabled"},"system":[{}],"messages":[{"role":"user","content":[]}]})",
      R"({"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}],"background":true,"store":true})",
      R"({"input":"\ud83d\ude00","text":{"format":{"type":"text"}},"max_output_tokens":9})",
      R"({"contents":[{"role":"model","parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":9,"candidateCount":1}})",
  };
  const std::vector<std::string> pieces = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           ":",
                                           "\"",
                                           "\\",
                                           "null",
                                           "true",
                                           "0",
                                           "-1",
                                           "1e9",
                                           "\"messages\":[]",
                                           "\"role\":\"user\"",
                                           "\\u0000",
                                           "\\ud800",
                                           " ",
                                           "\n",
                                           "\x80",
                                           "\xF0\x9F\x98\x80",
                                           "\"content\":null",
                                           "\"parts\":[]",
                                           "\"text\":1",
                                           "{}"};
  const std::vector<std::string> texts = {"word", "a `b` \\ \" \n", "\xF0\x9F\x98\x80 \xE3\x80\x80", "\xFF\x80 x"};
  const std::vector<config::PrefixStyle> styles = {config::PrefixStyle::Trailing, config::PrefixStyle::PrefixFlag,
                                                   config::PrefixStyle::PartialFlag,
                                                   config::PrefixStyle::ContinueFinalMessage};
  Random random(20260101);
  const auto below = [&random](std::size_t limit) { return static_cast<std::size_t>(random.next() % limit); };
  std::size_t built = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string body = bodies[below(bodies.size())];
    for (std::size_t changes = below(4); changes > 0; --changes) {
      const std::size_t at = below(body.size() + 1);
      switch (below(3)) {
        case 0:
          body.insert(at, pieces[below(pieces.size())]);
          break;
        case 1:
          body.erase(at, below(5));
          break;
        default:
          body.replace(at, below(8), pieces[below(pieces.size())]);
          break;
      }
    }
    config::Upstream upstream = upstream_at("http://127.0.0.1:1");
    if (below(2) == 0) upstream.prefix_style = styles[below(styles.size())];
    if (below(4) == 0) upstream.prefix_echo = true;
    const auto dialect = static_cast<Dialect>(below(dialect::kDialectCount));
    CutAnswer cut = cut_answer(upstream, dialect, body, texts[below(texts.size())]);
    cut.tokens = below(20);
    cut.answer_id = "id";
    cut.last_sequence = below(100);
    CAPTURE(round, body, dialect::name(dialect));
    check_any(cut);
    if (dialect == Dialect::OpenaiChat) built += continued_request(Form::Prefix, cut).ok() ? 1u : 0u;
  }
  CHECK(built > 300);  // else the bodies were changed beyond use
}

}  // namespace
}  // namespace tidemark::continuation
