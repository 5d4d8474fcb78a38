// A few events of a continuing attempt at a time: what of them the client gets.
#include "core/seam/splicer.hpp"

#include <algorithm>
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

TEST_CASE("usage: where the prompt does not hold what was delivered, that comes on top") {
  const auto usage = [](Dialect dialect, const OwnEvent& before, const std::string& told) {
    return spliced(dialect, {before}, {{"", R"({"id":"b",)" + told + "}"}}).back();
  };
  const OwnEvent chat{"", R"({"id":"a","choices":[{"index":0,"delta":{"content":"Hi"}}]})"};
  CHECK(usage(Dialect::OpenaiChat, chat,
              R"("choices":[],"usage":{"prompt_tokens":2,"completion_tokens":4,"total_tokens":6})") ==
        R"({"id":"a","choices":[],"usage":{"prompt_tokens":2,"completion_tokens":7,"total_tokens":9}})");
  const OwnEvent gemini{"", R"({"responseId":"a","candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"}}],)"
                            R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"totalTokenCount":10}})"};
  CHECK(usage(Dialect::Gemini, gemini,
              R"("candidates":[{"content":{"parts":[{"text":"!"}],"role":"model"}}],)"
              R"("usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13})")
            .find(R"({"promptTokenCount":9,"candidatesTokenCount":7,"totalTokenCount":16})") != std::string::npos);
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

const std::vector<OwnEvent> kBlockOpen{
    {"message_start",
     R"({"type":"message_start","message":{"id":"a","model":"m","usage":{"input_tokens":12,"output_tokens":1}}})"},
    {"content_block_start", R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})"},
    {"content_block_delta", R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}})"}};

TEST_CASE("anthropic-messages: a tool call that comes first closes the client's block") {
  const auto out = spliced(
      Dialect::AnthropicMessages, kBlockOpen,
      {{"message_start", R"({"type":"message_start","message":{"id":"b","usage":{"input_tokens":15}}})"},
       {"content_block_start",
        R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}})"},
       {"content_block_stop", R"({"type":"content_block_stop","index":0})"},
       {"message_delta",
        R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}})"}});
  CHECK(
      out ==
      std::vector<std::string>{
          R"({"type":"content_block_stop","index":0})",
          R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}})",
          R"({"type":"content_block_stop","index":1})",
          R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":12}})"});
}

TEST_CASE("anthropic-messages: text in a block's beginning becomes a delta of the client's block") {
  const auto out =
      spliced(Dialect::AnthropicMessages, kBlockOpen,
              {{"content_block_start",
                R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"i \"you\""}})"},
               {"some_news", R"({"type":"some_news","index":0,"x": 1.0})"}},
              1);
  CHECK(out == std::vector<std::string>{
                   R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" \"you\""}})",
                   R"({"type":"some_news","index":0,"x": 1.0})"});
}

std::vector<OwnEvent> part_open(const std::string& text) {
  return {
      {"response.created",
       R"({"type":"response.created","sequence_number":0,"response":{"id":"a","created_at":1,"model":"m"}})"},
      {"response.output_item.added",
       R"({"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","content":[]}})"},
      {"response.content_part.added",
       R"({"type":"response.content_part.added","sequence_number":2,"item_id":"i","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}})"},
      {"response.output_text.delta",
       R"({"type":"response.output_text.delta","sequence_number":3,"item_id":"i","output_index":0,"content_index":0,"delta":")" +
           text + "\"}"}};
}

TEST_CASE("openai-responses: a tool call that comes first closes the client's part and item") {
  const auto out = spliced(
      Dialect::OpenaiResponses, part_open("Hi"),
      {{"response.output_item.added",
        R"({"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"f","type":"function_call"}})"},
       {"response.news", R"({"type":"response.news","sequence_number":3,"output_index":0,"item_id":"f"})"}});
  REQUIRE(out.size() == 5);
  CHECK(out[0].find(R"("type":"response.output_text.done","sequence_number":4)") != std::string::npos);
  CHECK(out[1].find(R"("type":"response.content_part.done","sequence_number":5)") != std::string::npos);
  CHECK(out[2].find(R"("type":"response.output_item.done","sequence_number":6)") != std::string::npos);
  CHECK(
      out[3] ==
      R"({"type":"response.output_item.added","sequence_number":7,"output_index":1,"item":{"id":"f","type":"function_call"}})");
  CHECK(out[4] == R"({"type":"response.news","sequence_number":8,"output_index":1,"item_id":"f"})");
}

TEST_CASE("openai-responses: more output than is kept is told as its text") {
  const std::string longer(dialect::Answer::kMaxOutput, 'x');
  const auto out = spliced(
      Dialect::OpenaiResponses, part_open(longer),
      {{"response.output_text.delta",
        R"({"type":"response.output_text.delta","sequence_number":2,"item_id":"j","output_index":0,"content_index":0,"delta":" end"})"},
       {"response.completed",
        R"({"type":"response.completed","sequence_number":3,"response":{"id":"b","status":"completed","output":[]}})"}});
  REQUIRE(out.size() == 5);
  CHECK(
      out[0] ==
      R"({"type":"response.output_text.delta","sequence_number":4,"item_id":"i","output_index":0,"content_index":0,"delta":" end"})");
  CHECK(out[4].find(R"("id":"a","status":"completed")") != std::string::npos);
  CHECK(out[4].find("xx end\"") != std::string::npos);
}

TEST_CASE("gemini: thoughts before the text are left out, also beside it") {
  const auto out = spliced(
      Dialect::Gemini,
      {{"", R"({"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],"modelVersion":"m","responseId":"a"})"}},
      {{"", R"({"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}],"responseId":"b"})"},
       {"",
        R"({"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"Hi"},{"text":" you"}]}}],"responseId":"b"})"}},
      2);
  CHECK(out == std::vector<std::string>{
                   R"({"candidates":[{"content":{"parts":[{"text":""},{"text":" you"}]}}],"responseId":"a"})"});
}

TEST_CASE("openai-chat: Mistral's content in parts") {
  const auto out = spliced(
      Dialect::OpenaiChat, {{"", R"({"id":"a","choices":[{"index":0,"delta":{"content":"Hi"}}]})"}},
      {{"",
        R"({"id":"b","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}, {"type":"text","text":"Hi you"}]}}]})"}},
      2);
  CHECK(out == std::vector<std::string>{
                   R"({"id":"a","choices":[{"index":0,"delta":{"content":[ {"type":"text","text":" you"}]}}]})"});
}

}  // namespace
}  // namespace tidemark::seam
