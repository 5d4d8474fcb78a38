// Names, and which dialect a path or a first event belongs to.
#include "core/dialect/dialect.hpp"

#include <string_view>

#include "core/dialect/interpreter.hpp"
#include "tests/catch.hpp"
#include "tests/recordings.hpp"

namespace tidemark::dialect {
namespace {

Dialect first(std::string_view data, std::string_view event_name = {}) {
  sse::Event event;
  event.name = event_name;
  event.data = data;
  return from_first_event(event);
}

TEST_CASE("every dialect has a name of its own") {
  for (int i = 0; i < kDialectCount; ++i) {
    const auto dialect = static_cast<Dialect>(i);
    CHECK_FALSE(name(dialect).empty());
    CHECK(from_name(name(dialect)) == dialect);
  }
  for (const std::string_view none : {"", "auto", "OpenAI-chat", "openai"}) CHECK_FALSE(from_name(none));
}

TEST_CASE("by path") {
  CHECK(from_path("/v1/chat/completions") == Dialect::OpenaiChat);
  CHECK(from_path("/openai/v1/chat/completions?x=/responses") == Dialect::OpenaiChat);
  CHECK(from_path("/v1/completions") == Dialect::OpenaiChat);
  CHECK(from_path("/v1/responses") == Dialect::OpenaiResponses);
  CHECK(from_path("/v1/messages") == Dialect::AnthropicMessages);
  CHECK(from_path("/v1/messages?beta=true") == Dialect::AnthropicMessages);
  CHECK(from_path("/v1beta/models/gemini-3:streamGenerateContent?alt=sse") == Dialect::Gemini);
  for (const std::string_view none : {"", "/", "/v1/responses/resp_1", "/v1/messages/count_tokens", "/v1/seq", "/chat",
                                      "/v1/models/g:generateContent", "messages", "/v1/mymessages"}) {
    INFO(none);
    CHECK_FALSE(from_path(none));
  }
}

TEST_CASE("by the first event") {
  CHECK(first(R"({"id":"c","object":"chat.completion.chunk","choices":[]})") == Dialect::OpenaiChat);
  CHECK(first(R"({"choices":[{"delta":{"content":"a"}}]})") == Dialect::OpenaiChat);
  CHECK(first(R"({"error":{"message":"m"}})") == Dialect::OpenaiChat);
  CHECK(first("[DONE]") == Dialect::OpenaiChat);
  CHECK(first(R"({"sequence_number":0,"type":"response.created","response":{}})") == Dialect::OpenaiResponses);
  CHECK(first(R"({"response":{}})", "response.created") == Dialect::OpenaiResponses);
  CHECK(first(R"({"type":"error","code":"x","message":"m","sequence_number":0})") == Dialect::OpenaiResponses);
  CHECK(first(R"({"type":"message_start","message":{}})") == Dialect::AnthropicMessages);
  CHECK(first(R"({"type":"ping"})", "ping") == Dialect::AnthropicMessages);
  CHECK(first(R"({"type":"error","error":{"type":"overloaded_error"}})", "error") == Dialect::AnthropicMessages);
  CHECK(first(R"({"candidates":[{"content":{"parts":[{"text":"a"}]}}]})") == Dialect::Gemini);
  CHECK(first(R"({"seq":0,"delta":"a"})") == Dialect::SeqDelta);
  CHECK(first(R"({"seq":0,"text":"a"})") == Dialect::SeqDelta);
  CHECK(first(R"({"seq":0,"done":true})") == Dialect::SeqDelta);
  CHECK(first(R"({"type":"start","messageId":"m"})") == Dialect::AiSdkUi);
  CHECK(first(R"({"type":"text-start","id":"t"})") == Dialect::AiSdkUi);
  CHECK(first(R"({"type":"data-x","data":{}})") == Dialect::AiSdkUi);
  CHECK(first(R"({"type":"error","errorText":"m"})") == Dialect::AiSdkUi);
  for (const std::string_view none :
       {"hello", "{}", "[]", "7", R"({"seq":0})", R"({"seq":"0","delta":"a"})", R"({"delta":"a"})",
        R"({"type":"update"})", R"({"choices":[)", R"({"error":null})", R"({"ret":["FAIL_SYS_USER_VALIDATE"]})"}) {
    INFO(none);
    CHECK(first(none) == Dialect::Opaque);
  }
}

TEST_CASE("the first event of every recording tells") {
  for (const auto& recording : tidemark::test::recordings()) {
    INFO(recording.file);
    CHECK(first(recording.data.front()) == recording.dialect);
  }
}

TEST_CASE("kinds, finishes and verdicts have names") {
  for (int i = 0; i <= static_cast<int>(Kind::Malformed); ++i) CHECK_FALSE(name(static_cast<Kind>(i)).empty());
  for (int i = 0; i <= static_cast<int>(Finish::Other); ++i) CHECK_FALSE(name(static_cast<Finish>(i)).empty());
  for (int i = 0; i <= static_cast<int>(EofVerdict::Empty); ++i) CHECK_FALSE(name(static_cast<EofVerdict>(i)).empty());
}

}  // namespace
}  // namespace tidemark::dialect
