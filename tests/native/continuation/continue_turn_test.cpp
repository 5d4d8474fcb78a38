// The requests that ask in a user turn to go on, and what that turn quotes.
#include <string>

#include "core/dialect/json_text.hpp"
#include "native/continuation/interruption.hpp"
#include "tests/catch.hpp"
#include "tests/native/continuation/cut.hpp"

namespace tidemark::continuation {
namespace {

using dialect::Dialect;
using seam::Form;

std::string asked(const config::Upstream& upstream, Dialect dialect, std::string_view body, std::string_view text) {
  auto built = continued_request(Form::ContinueTurn, cut_answer(upstream, dialect, body, text));
  INFO(why_not(built));
  REQUIRE(built.ok());
  CHECK(built.value().continuer == seam::Continuer::Model);
  CHECK(built.value().stripped_bytes == 0);
  CHECK(built.value().method == "POST");
  return std::move(built).value().body;
}

std::string quoted(std::string_view text) {
  std::string out;
  dialect::append_json_string(out, interruption_notice(text));
  return out;
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_CASE("each dialect gets the text as the assistant's turn and the request to go on as the user's") {
  const std::string text = "Say \"é\" \n";
  const std::string said = R"("Say \"é\" \n")";
  const std::string asks = quoted(text);
  struct Case {
    const char* base_url;
    Dialect dialect;
    std::string body;
    std::string continued;
  };
  const Case cases[] = {
      {"https://api.openai.com", Dialect::OpenaiChat,
       R"({"model":"gpt-5.1","messages":[{"role":"user","content":"hi"}],"n":1})",
       R"({"model":"gpt-5.1","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":)" + said +
           R"(},{"role":"user","content":)" + asks + R"(}],"n":1})"},
      {"https://api.anthropic.com", Dialect::AnthropicMessages,
       R"({"model":"claude-opus-4-7","messages":[{"role":"user","content":"hi"}]})",
       R"({"model":"claude-opus-4-7","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":)" +
           said + R"(},{"role":"user","content":)" + asks + "}]}"},
      {"https://api.openai.com", Dialect::OpenaiResponses, R"({"input":"hi","store":true})",
       R"({"input":[{"role":"user","content":"hi"},{"role":"assistant","content":)" + said +
           R"(},{"role":"user","content":)" + asks + R"(}],"store":true})"},
      {"https://generativelanguage.googleapis.com", Dialect::Gemini,
       R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})",
       R"({"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":)" + said +
           R"(}]},{"role":"user","parts":[{"text":)" + asks + "}]}]}"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.base_url, one.body);
    CHECK(asked(upstream_at(one.base_url), one.dialect, one.body, text) == one.continued);
  }
}

TEST_CASE("an answer that went on in the client's own message stays one turn, where it did") {
  const std::string body = R"({"messages":[{"role":"assistant","content":"One"}]})";
  const std::string ask = R"({"role":"user","content":)" + quoted(", two") + "}";
  CHECK(asked(upstream_at("http://127.0.0.1:1"), Dialect::OpenaiChat, body, ", two") ==
        R"({"messages":[{"role":"assistant","content":"One, two"},)" + ask + "]}");
  CHECK(asked(upstream_at("https://api.openai.com"), Dialect::OpenaiChat, body, ", two") ==
        R"({"messages":[{"role":"assistant","content":"One"},{"role":"assistant","content":", two"},)" + ask + "]}");
}

TEST_CASE("the notice is the documented one, with the tail in it") {
  const std::string notice = interruption_notice("The end of it");
  CHECK(notice.rfind("Your previous response was interrupted and ended with `The end of it`. Continue from where you "
                     "left off. ",
                     0) == 0);
  const std::string of_long = interruption_notice(repeated("word ", 100) + "last");
  CHECK(of_long.find("ended with `…word word ") != std::string::npos);
  CHECK(of_long.find("word last`. Continue") != std::string::npos);
}

TEST_CASE("backticks in the tail are kept apart from those around it") {
  CHECK(interruption_notice("call f() as `f").find("ended with ``call f() as `f``. ") != std::string::npos);
  CHECK(interruption_notice("so:\n```js\nx").find("ended with ````so:\n```js\nx````. ") != std::string::npos);
  CHECK(interruption_notice("use `f`").find("ended with `` use `f` ``. ") != std::string::npos);
  CHECK(interruption_notice("``` is").find("ended with ```` ``` is ````. ") != std::string::npos);
}

TEST_CASE("the tail is 60 to 100 code points, from a word on") {
  // 0123456789, twelve times, with a space in front of a digit here and there.
  const std::string digits = repeated("0123456789", 12);
  CHECK(quotable_tail(digits.substr(0, 100)) == digits.substr(0, 100));
  CHECK(quotable_tail(digits) == digits.substr(40));
  std::string spaced = digits;
  spaced[25] = ' ';  // within the last hundred, and the first there
  spaced[50] = '\n';
  CHECK(quotable_tail(spaced) == spaced.substr(26));
  spaced[25] = 'x';
  CHECK(quotable_tail(spaced) == spaced.substr(51));
  spaced[50] = 'x';
  spaced[70] = ' ';  // too near to the end
  CHECK(quotable_tail(spaced) == spaced.substr(40));
  const std::string chinese = repeated("系统", 60);
  CHECK(quotable_tail(chinese) == repeated("系统", 40));
}

TEST_CASE("white space at the end is quoted as it is, unless there is much of it") {
  const std::string digits = repeated("0123456789", 12);
  CHECK(quotable_tail("a b \n") == "a b \n");
  CHECK(quotable_tail(digits + "\n\n") == digits.substr(40) + "\n\n");
  CHECK(quotable_tail(digits + repeated(" ", 1000)) == digits.substr(40));
  CHECK(quotable_tail("") == "");
}

TEST_CASE("a tail that is not UTF-8 is quoted as well as it can be") {
  const std::string broken = repeated("\x80", 500);
  CHECK(quotable_tail(broken) == broken);
  const std::string body = asked(upstream_at("http://127.0.0.1:1"), Dialect::OpenaiChat, R"({"messages":[]})", "a\xFF");
  CHECK(body.find("a\xEF\xBF\xBD") != std::string::npos);
  CHECK(body.find('\xFF') == std::string::npos);
}

}  // namespace
}  // namespace tidemark::continuation
