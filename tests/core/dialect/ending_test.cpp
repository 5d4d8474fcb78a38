// What Tidemark says itself, byte for byte: endings, errors, keepalives.
#include "core/dialect/ending.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tidemark::dialect {
namespace {

using Json = nlohmann::json;

Answer after(Dialect dialect, const std::vector<std::string>& events) {
  Interpreter interpreter(dialect);
  for (const std::string& data : events) {
    sse::Event event;
    event.data = data;
    interpreter.interpret(event);
  }
  return interpreter.answer();
}

std::vector<std::string> data_of(const std::vector<OwnEvent>& events) {
  std::vector<std::string> out;
  for (const OwnEvent& event : events) out.push_back((event.name.empty() ? "" : event.name + ": ") + event.data);
  return out;
}

using Lines = std::vector<std::string>;

constexpr const char* kChatChunk =
    R"({"id":"c1","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":{"content":"a"}}]})";

TEST_CASE("openai-chat: finish, [DONE]") {
  const Answer answer = after(Dialect::OpenaiChat, {kChatChunk});
  CHECK(data_of(ending(Dialect::OpenaiChat, answer, FinishStyle::Stop, "a")) ==
        Lines{R"({"id":"c1","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":{},)"
              R"("logprobs":null,"finish_reason":"stop"}]})",
              "[DONE]"});
  CHECK(data_of(ending(Dialect::OpenaiChat, answer, FinishStyle::Length, "a"))
            .front()
            .find(R"("finish_reason":"length")") != std::string::npos);
}

TEST_CASE("openai-chat: usage that is known is told, a finish that was told is not told again") {
  const Answer answer = after(
      Dialect::OpenaiChat,
      {R"({"id":"c1","created":7,"model":"m","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"length"}],"usage":{"total_tokens":3}})"});
  CHECK(
      data_of(ending(Dialect::OpenaiChat, answer, FinishStyle::Stop, "a")) ==
      Lines{
          R"({"id":"c1","object":"chat.completion.chunk","created":7,"model":"m","choices":[],"usage":{"total_tokens":3}})",
          "[DONE]"});
}

TEST_CASE("openai-chat: every choice is finished") {
  const Answer answer =
      after(Dialect::OpenaiChat, {kChatChunk, R"({"choices":[{"index":2,"delta":{"content":"b"}}]})"});
  const auto events = ending(Dialect::OpenaiChat, answer, FinishStyle::Stop, "a");
  REQUIRE(events.size() == 2);
  const Json choices = Json::parse(events[0].data).at("choices");
  REQUIRE(choices.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK((choices[i].at("index") == i && choices[i].at("finish_reason") == "stop"));
  // A foolish index costs no more than the largest that the API has.
  const Answer many = after(Dialect::OpenaiChat, {R"({"choices":[{"index":4000000000,"delta":{"content":"b"}}]})"});
  CHECK(Json::parse(ending(Dialect::OpenaiChat, many, FinishStyle::Stop, "")[0].data).at("choices").size() == 128);
}

TEST_CASE("openai-chat: a choice that is finished is not finished again") {
  const auto chunk = [](int index, const char* rest) {
    return R"({"id":"c","created":7,"model":"m","choices":[{"index":)" + std::to_string(index) + rest + "}]}";
  };
  std::vector<std::string> events = {chunk(0, R"(,"delta":{"content":"a"})"), chunk(1, R"(,"delta":{"content":"b"})"),
                                     chunk(2, R"(,"delta":{"content":"c"})"),
                                     chunk(0, R"(,"delta":{},"finish_reason":"stop")"),
                                     chunk(2, R"(,"delta":{},"finish_reason":"length")")};
  const auto rest = ending(Dialect::OpenaiChat, after(Dialect::OpenaiChat, events), FinishStyle::Stop, "a");
  REQUIRE(rest.size() == 2);
  const Json choices = Json::parse(rest[0].data).at("choices");
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].at("index") == 1);
  events.push_back(chunk(1, R"(,"delta":{},"finish_reason":"stop")"));
  CHECK(data_of(ending(Dialect::OpenaiChat, after(Dialect::OpenaiChat, events), FinishStyle::Stop, "a")) ==
        Lines{"[DONE]"});
}

TEST_CASE("openai-chat: usage that came in a chunk of its own is not told again") {
  const std::string usage = R"({"id":"c1","choices":[],"usage":{"total_tokens":3}})";
  const Answer told = after(Dialect::OpenaiChat, {kChatChunk, usage});
  CHECK(ending(Dialect::OpenaiChat, told, FinishStyle::Stop, "a").size() == 2);
  for (const OwnEvent& event : ending(Dialect::OpenaiChat, told, FinishStyle::Stop, "a")) {
    CHECK(event.data.find("usage") == std::string::npos);
  }
  // Later usage, beside text, is not what a client waits for.
  const Answer later =
      after(Dialect::OpenaiChat,
            {kChatChunk, usage, R"({"choices":[{"index":0,"delta":{"content":"b"}}],"usage":{"total_tokens":4}})"});
  CHECK(ending(Dialect::OpenaiChat, later, FinishStyle::Stop, "ab").size() == 3);
}

TEST_CASE("openai-chat: the older completions") {
  const Answer answer =
      after(Dialect::OpenaiChat, {R"({"id":"c","created":7,"model":"m","choices":[{"text":"a","index":0}]})"});
  CHECK(data_of(ending(Dialect::OpenaiChat, answer, FinishStyle::Stop, "a")) ==
        Lines{R"({"id":"c","object":"text_completion","created":7,"model":"m","choices":[{"index":0,"text":"",)"
              R"("logprobs":null,"finish_reason":"stop"}]})",
              "[DONE]"});
}

const std::vector<std::string> kResponse = {
    R"({"type":"response.created","sequence_number":0,"response":{"id":"r1","created_at":7,"model":"m"}})",
    R"({"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs","type":"reasoning"}})",
    R"({"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"rs","type":"reasoning","summary":[]}})",
    R"({"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":{"id":"m1","type":"message"}})",
    R"({"type":"response.content_part.added","sequence_number":4,"output_index":1,"content_index":0,"part":{"type":"output_text"}})",
    R"({"type":"response.output_text.delta","sequence_number":5,"output_index":1,"content_index":0,"delta":"Hi \"you\""})"};

TEST_CASE("openai-responses: part, item and response are closed, in rising numbers") {
  const Answer answer = after(Dialect::OpenaiResponses, kResponse);
  const auto stop = ending(Dialect::OpenaiResponses, answer, FinishStyle::Stop, "Hi \"you\"");
  CHECK(
      data_of(stop) ==
      Lines{
          R"(response.output_text.done: {"type":"response.output_text.done","sequence_number":6,"item_id":"m1","output_index":1,"content_index":0,"text":"Hi \"you\"","logprobs":[]})",
          R"(response.content_part.done: {"type":"response.content_part.done","sequence_number":7,"item_id":"m1","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":"Hi \"you\""}})",
          R"(response.output_item.done: {"type":"response.output_item.done","sequence_number":8,"output_index":1,"item":{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hi \"you\""}]}})",
          R"(response.completed: {"type":"response.completed","sequence_number":9,"response":{"id":"r1","object":"response","created_at":7,"status":"completed","model":"m","output":[{"id":"rs","type":"reasoning","summary":[]},{"id":"m1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hi \"you\""}]}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"instructions":null,"metadata":{},"usage":null,"error":null,"incomplete_details":null}})"});
  const auto length = ending(Dialect::OpenaiResponses, answer, FinishStyle::Length, "Hi \"you\"");
  CHECK(length.back().name == "response.incomplete");
  const Json response = Json::parse(length.back().data).at("response");
  CHECK(response.at("status") == "incomplete");
  CHECK(response.at("incomplete_details").at("reason") == "max_output_tokens");
}

TEST_CASE("openai-responses: what the upstream has closed is not closed again, and no part is forgotten") {
  std::vector<std::string> events = kResponse;
  events.push_back(
      R"({"type":"response.output_text.done","sequence_number":6,"output_index":1,"content_index":0,"text":"Hi \"you\""})");
  const auto names = [&](std::string_view text) {
    Lines out;
    for (const OwnEvent& event :
         ending(Dialect::OpenaiResponses, after(Dialect::OpenaiResponses, events), FinishStyle::Stop, text)) {
      out.push_back(event.name);
    }
    return out;
  };
  CHECK(names("Hi \"you\"") == Lines{"response.content_part.done", "response.output_item.done", "response.completed"});
  const std::string part = R"({"type":"output_text","annotations":[{"url":"u"}],"text":"Hi \"you\""})";
  events.push_back(
      R"({"type":"response.content_part.done","sequence_number":7,"output_index":1,"content_index":0,"part":)" + part +
      "}");
  CHECK(names("Hi \"you\"") == Lines{"response.output_item.done", "response.completed"});
  events.push_back(
      R"({"type":"response.output_text.delta","sequence_number":8,"output_index":1,"content_index":1,"delta":"!"})");
  const auto closing =
      ending(Dialect::OpenaiResponses, after(Dialect::OpenaiResponses, events), FinishStyle::Stop, "Hi \"you\"!");
  REQUIRE(closing.size() == 4);
  const Json content = Json::parse(closing[2].data).at("item").at("content");
  REQUIRE(content.size() == 2);
  CHECK(content[0] == Json::parse(part));
  CHECK(content[1].at("text") == "!");
}

TEST_CASE("openai-responses: a refusal is closed as one") {
  std::vector<std::string> events(kResponse.begin(), kResponse.begin() + 4);
  events.push_back(
      R"({"type":"response.refusal.delta","sequence_number":4,"output_index":1,"content_index":0,"delta":"No"})");
  const auto closing =
      ending(Dialect::OpenaiResponses, after(Dialect::OpenaiResponses, events), FinishStyle::Stop, "No");
  REQUIRE(closing.size() == 4);
  CHECK(closing[0].name == "response.refusal.done");
  CHECK(Json::parse(closing[2].data).at("item").at("content") == Json::parse(R"([{"type":"refusal","refusal":"No"}])"));
}

TEST_CASE("openai-responses: finished items that are too large leave at least the text") {
  std::vector<std::string> events = kResponse;
  events.push_back(R"({"type":"response.output_item.done","output_index":1,"item":{"id":"m1","type":"message","x":")" +
                   std::string(Answer::kMaxOutput, 'x') + R"("}})");
  const Answer answer = after(Dialect::OpenaiResponses, events);
  CHECK(answer.output_left_out);
  CHECK(answer.output_json.empty());
  const auto closing = ending(Dialect::OpenaiResponses, answer, FinishStyle::Stop, "all of it");
  REQUIRE(closing.size() == 1);
  const Json output = Json::parse(closing[0].data).at("response").at("output");
  REQUIRE(output.size() == 1);
  CHECK(output[0].at("content")[0].at("text") == "all of it");
}

TEST_CASE("anthropic-messages: block, message_delta with usage, message_stop") {
  const std::vector<std::string> events = {
      R"({"type":"message_start","message":{"id":"m1","model":"m","usage":{"input_tokens":3,"output_tokens":1}}})",
      R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})"};
  CHECK(
      data_of(ending(Dialect::AnthropicMessages, after(Dialect::AnthropicMessages, events), FinishStyle::Stop, "a")) ==
      Lines{R"(content_block_stop: {"type":"content_block_stop","index":0})",
            R"(message_delta: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},)"
            R"("usage":{"input_tokens":3,"output_tokens":1}})",
            R"(message_stop: {"type":"message_stop"})"});
  CHECK(data_of(
            ending(Dialect::AnthropicMessages, after(Dialect::AnthropicMessages, events), FinishStyle::Length, "a"))[1]
            .find("\"max_tokens\"") != std::string::npos);
}

TEST_CASE("anthropic-messages: no ending without message_start, only message_stop after a stop reason") {
  const Answer headless =
      after(Dialect::AnthropicMessages,
            {R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}})"});
  CHECK(headless.text);
  const auto events = ending(Dialect::AnthropicMessages, headless, FinishStyle::Stop, "a");
  REQUIRE(events.size() == 1);
  CHECK(events[0].name == "error");

  const Answer told =
      after(Dialect::AnthropicMessages,
            {R"({"type":"message_start","message":{"id":"m1","model":"m"}})",
             R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":1}})"});
  CHECK(data_of(ending(Dialect::AnthropicMessages, told, FinishStyle::Stop, "a")) ==
        Lines{R"(message_stop: {"type":"message_stop"})"});
}

TEST_CASE("gemini, seq-delta, ai-sdk-ui, opaque") {
  const Answer gemini = after(
      Dialect::Gemini,
      {R"({"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"n":1},"modelVersion":"g","responseId":"r"})"});
  CHECK(
      data_of(ending(Dialect::Gemini, gemini, FinishStyle::Length, "a")) ==
      Lines{
          R"({"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"MAX_TOKENS","index":0}],)"
          R"("usageMetadata":{"n":1},"modelVersion":"g","responseId":"r"})"});
  CHECK(data_of(ending(Dialect::SeqDelta, after(Dialect::SeqDelta, {R"({"seq":4,"delta":"a"})"}), FinishStyle::Length,
                       "a")) == Lines{R"({"seq":5,"done":true,"finish_reason":"length"})"});
  const Answer ui = after(Dialect::AiSdkUi,
                          {R"({"type":"start"})", R"({"type":"start-step"})", R"({"type":"text-start","id":"t\"1"})",
                           R"({"type":"text-delta","id":"t\"1","delta":"a"})"});
  CHECK(data_of(ending(Dialect::AiSdkUi, ui, FinishStyle::Stop, "a")) ==
        Lines{R"({"type":"text-end","id":"t\"1"})", R"({"type":"finish-step"})", R"({"type":"finish"})", "[DONE]"});
  CHECK(ending(Dialect::Opaque, after(Dialect::Opaque, {"x"}), FinishStyle::Stop, "").empty());
}

TEST_CASE("reasoning delivered as text, in every dialect that knows reasoning") {
  Answer chat = after(Dialect::OpenaiChat,
                      {R"({"id":"c","created":7,"model":"m","choices":[{"delta":{"reasoning_content":"hm"}}]})"});
  CHECK(data_of(promote_reasoning(Dialect::OpenaiChat, chat, "hm")) ==
        Lines{R"({"id":"c","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,)"
              R"("delta":{"content":"hm"},"logprobs":null,"finish_reason":null}]})"});
  CHECK(chat.text);

  Answer anthropic =
      after(Dialect::AnthropicMessages,
            {R"({"type":"message_start","message":{"id":"m1","model":"m"}})",
             R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})",
             R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})"});
  CHECK(
      data_of(promote_reasoning(Dialect::AnthropicMessages, anthropic, "hm")) ==
      Lines{
          R"(content_block_stop: {"type":"content_block_stop","index":0})",
          R"(content_block_start: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})",
          R"(content_block_delta: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hm"}})"});
  CHECK((anthropic.text && anthropic.open_index == 1 && anthropic.open_kind == Kind::Text));

  Answer responses = after(Dialect::OpenaiResponses, {kResponse.begin(), kResponse.begin() + 2});
  CHECK(
      data_of(promote_reasoning(Dialect::OpenaiResponses, responses, "hm")) ==
      Lines{
          R"(response.output_item.done: {"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"rs","type":"reasoning","summary":[]}})",
          R"(response.output_item.added: {"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":{"id":"msg_r1","type":"message","status":"in_progress","role":"assistant","content":[]}})",
          R"(response.content_part.added: {"type":"response.content_part.added","sequence_number":4,"item_id":"msg_r1","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}})",
          R"(response.output_text.delta: {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_r1","output_index":1,"content_index":0,"delta":"hm","logprobs":[]})"});
  CHECK((responses.text && responses.sequence == 5u && responses.open_id == "msg_r1"));

  // Reasoning whose item was not announced has taken its index all the same.
  Answer bare =
      after(Dialect::OpenaiResponses,
            {R"({"type":"response.reasoning_text.delta","sequence_number":1,"output_index":3,"delta":"hm"})"});
  CHECK(Json::parse(promote_reasoning(Dialect::OpenaiResponses, bare, "hm").front().data).at("output_index") == 4);

  Answer seq = after(Dialect::SeqDelta, {R"({"seq":0,"reasoning":"hm"})"});
  CHECK(data_of(promote_reasoning(Dialect::SeqDelta, seq, "hm")) == Lines{R"({"seq":1,"delta":"hm"})"});
  CHECK(seq.sequence == 1u);
  Answer ui = after(Dialect::AiSdkUi,
                    {R"({"type":"reasoning-start","id":"r"})", R"({"type":"reasoning-delta","id":"r","delta":"hm"})"});
  CHECK(data_of(promote_reasoning(Dialect::AiSdkUi, ui, "hm")) ==
        Lines{R"({"type":"reasoning-end","id":"r"})", R"({"type":"text-start","id":"text-1"})",
              R"({"type":"text-delta","id":"text-1","delta":"hm"})"});
  CHECK(ui.open_id == "text-1");
  Answer gemini = after(Dialect::Gemini, {R"({"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]})"});
  CHECK(data_of(promote_reasoning(Dialect::Gemini, gemini, "hm")) ==
        Lines{R"({"candidates":[{"content":{"parts":[{"text":"hm"}],"role":"model"},"index":0}]})"});
  Answer opaque = after(Dialect::Opaque, {"x"});
  CHECK(promote_reasoning(Dialect::Opaque, opaque, "hm").empty());
}

ErrorFacts facts() {
  ErrorFacts out;
  out.status = 502;
  out.type = "upstream_error";
  out.code = "upstream_empty";
  out.message = "The upstream said \"nothing\".";
  out.retry_after_s = 1;
  out.request_id = "req_1";
  return out;
}

TEST_CASE("error bodies") {
  const std::string openai =
      R"({"error":{"message":"The upstream said \"nothing\".","type":"upstream_error","code":"upstream_empty","param":null,"retry_after":1}})";
  for (int i = 0; i < kDialectCount; ++i) {
    const auto dialect = static_cast<Dialect>(i);
    if (dialect != Dialect::AnthropicMessages) CHECK(error_body(dialect, facts()) == openai);
  }
  ErrorFacts anthropic = facts();
  anthropic.type = "api_error";
  CHECK(
      error_body(Dialect::AnthropicMessages, anthropic) ==
      R"({"type":"error","error":{"type":"api_error","message":"The upstream said \"nothing\".","retry_after":1},"request_id":"req_1"})");
  ErrorFacts bare;
  bare.type = "t";
  CHECK(error_body(Dialect::OpenaiChat, bare) == R"({"error":{"message":"","type":"t","code":null,"param":null}})");
  CHECK(error_body(Dialect::AnthropicMessages, bare) ==
        R"({"type":"error","error":{"type":"t","message":""},"request_id":null})");
}

TEST_CASE("error events are errors to the interpreter, after an answer's beginning and after nothing") {
  CHECK(error_event(Dialect::OpenaiChat, {}, facts()).name.empty());
  CHECK(error_event(Dialect::OpenaiChat, {}, facts()).data == error_body(Dialect::OpenaiChat, facts()));
  CHECK(error_event(Dialect::AnthropicMessages, {}, facts()).name == "error");
  CHECK(error_event(Dialect::AnthropicMessages, {}, facts()).data == error_body(Dialect::AnthropicMessages, facts()));
  const OwnEvent failed = error_event(Dialect::OpenaiResponses, after(Dialect::OpenaiResponses, kResponse), facts());
  CHECK(failed.name == "response.failed");
  CHECK(
      failed.data ==
      R"({"type":"response.failed","sequence_number":6,"response":{"id":"r1","object":"response","created_at":7,"status":"failed","model":"m","output":[{"id":"rs","type":"reasoning","summary":[]}],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"instructions":null,"metadata":{},"usage":null,"error":{"code":"upstream_empty","message":"The upstream said \"nothing\".","retry_after":1},"incomplete_details":null}})");
  CHECK(error_event(Dialect::Gemini, {}, facts()).data ==
        R"({"error":{"code":502,"message":"The upstream said \"nothing\".","status":"UNAVAILABLE"}})");
  CHECK(error_event(Dialect::AiSdkUi, {}, facts()).data ==
        R"({"type":"error","errorText":"The upstream said \"nothing\"."})");
  CHECK(error_event(Dialect::Opaque, {}, facts()).name == "error");

  for (int i = 0; i < kDialectCount; ++i) {
    const auto dialect = static_cast<Dialect>(i);
    if (dialect == Dialect::Opaque) continue;
    INFO(name(dialect));
    const OwnEvent own = error_event(dialect, {}, facts());
    Interpreter interpreter(dialect);
    sse::Event event;
    event.name = own.name;
    event.data = own.data;
    const Meaning meaning = interpreter.interpret(event);
    CHECK(meaning.kind == Kind::Error);
    CHECK(meaning.error.message == facts().message);
    CHECK(interpreter.at_eof() == EofVerdict::Empty);
    // The Error style says the same in the place of an ending.
    const auto events = ending(dialect, {}, FinishStyle::Error, "");
    REQUIRE(events.size() == 1);
    event.name = events[0].name;
    event.data = events[0].data;
    CHECK(interpreter.interpret(event).kind == Kind::Error);
  }
}

TEST_CASE("keepalives are framed and mean nothing") {
  for (int i = 0; i < kDialectCount; ++i) {
    const auto dialect = static_cast<Dialect>(i);
    sse::Parser parser;
    parser.feed(keepalive(dialect));
    sse::Event event;
    const sse::Step step = parser.next(event);
    CHECK(step == (dialect == Dialect::AnthropicMessages ? sse::Step::Event : sse::Step::Comment));
    if (step == sse::Step::Event) CHECK(Interpreter(dialect).interpret(event).kind == Kind::Silence);
    CHECK(parser.next(event) == sse::Step::NeedMore);
    CHECK_FALSE(parser.mid_event());
  }
}

}  // namespace
}  // namespace tidemark::dialect
