// One chunk of a continuing attempt at a time: what of it the client gets.
#include "core/seam/splicer.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tidemark::seam {
namespace {

using dialect::Dialect;
using dialect::OwnEvent;

// The answer so far is what `before` makes; then the continuing events, with `trim` bytes off the front of their text.
std::vector<std::string> spliced(Dialect dialect, const std::vector<OwnEvent>& before,
                                 const std::vector<OwnEvent>& after, std::size_t trim = 0, std::uint64_t tokens = 3) {
  const auto event_of = [](const OwnEvent& own) {
    sse::Event event;
    event.name = own.name;
    event.data = own.data;
    return event;
  };
  dialect::Interpreter client(dialect);
  std::string text;
  for (const OwnEvent& own : before) text += client.interpret(event_of(own)).text;
  Splicer splicer(dialect, client.answer(), text, tokens);
  dialect::Interpreter attempt(dialect);
  std::vector<OwnEvent> out;
  for (const OwnEvent& own : after) {
    const sse::Event event = event_of(own);
    const dialect::Meaning meaning = attempt.interpret(event);
    const std::size_t trimmed = std::min(trim, meaning.text.size());
    trim -= trimmed;
    splicer.splice(event, meaning, trimmed, out);
  }
  std::vector<std::string> data;
  for (const OwnEvent& own : out) data.push_back(own.data);
  return data;
}

TEST_CASE("openai-chat: a chunk has the client's names, and no role again") {
  const std::vector<OwnEvent> before{
      {"",
       R"({"id":"a","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]})"}};
  const auto out = spliced(
      Dialect::OpenaiChat, before,
      {{"",
        R"({"id":"b","created":2,"model":"n","system_fingerprint":"fq","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})"},
       {"", R"({"id":"b","created":2,"model":"n","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]})"},
       {"",
        R"({"id":"b","created":2,"model":"n","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant", "content":"Hi \"you\""},"logprobs":{"content":[]}}],"x":1.50})"},
       {"",
        R"({"id":"b","choices":[{"index":0,"delta":{"content":" there","role":"assistant"},"logprobs":{"content":[]},"finish_reason":"stop"}]})"},
       {"", R"({"id":"b","choices":[],"usage":{"prompt_tokens":15,"completion_tokens":4,"total_tokens":19}})"},
       {"", "[DONE]"}},
      2);
  REQUIRE(out.size() == 4);
  CHECK(
      out[0] ==
      R"({"id":"a","created":1,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{ "content":" \"you\""},"logprobs":null}],"x":1.50})");
  CHECK(
      out[1] ==
      R"({"id":"a","choices":[{"index":0,"delta":{"content":" there"},"logprobs":{"content":[]},"finish_reason":"stop"}]})");
  CHECK(out[2] == R"({"id":"a","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19}})");
  CHECK(out[3] == "[DONE]");
}

TEST_CASE("openai-chat: what is trimmed away is swallowed unless it says more") {
  const std::vector<OwnEvent> before{{"", R"({"id":"a","choices":[{"index":0,"delta":{"content":"Hi"}}]})"}};
  const auto out =
      spliced(Dialect::OpenaiChat, before,
              {{"", R"({"id":"b","choices":[{"index":0,"delta":{"content":"H"}}]})"},
               {"", R"({"id":"b","choices":[{"index":0,"delta":{"content":"i"},"finish_reason":"stop"}]})"}},
              2);
  CHECK(out == std::vector<std::string>{
                   R"({"id":"a","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]})"});
}

TEST_CASE("openai-chat: malformed data passes unchanged") {
  const std::vector<OwnEvent> before{{"", R"({"id":"a","choices":[{"index":0,"delta":{"content":"Hi"}}]})"}};
  CHECK(spliced(Dialect::OpenaiChat, before, {{"", R"({"id":"b","choices":[)"}}) ==
        std::vector<std::string>{R"({"id":"b","choices":[)"});
}

}  // namespace
}  // namespace tidemark::seam
