// Every recording, and every prefix of every recording: texts against an oracle that uses nlohmann/json, verdicts, and
// endings that a client of the dialect accepts.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/ending.hpp"
#include "core/dialect/interpreter.hpp"
#include "tests/catch.hpp"
#include "tests/core/dialect/strict_client.hpp"
#include "tests/recordings.hpp"

namespace tidemark::dialect {
namespace {

using Json = nlohmann::json;
using tidemark::test::Recording;

// What has come of an answer, as a slow reader of whole JSON documents sees it.
struct Seen {
  std::string text;
  std::string reasoning;
  std::set<std::string> open_tools;
  bool tool_finished = false;
  bool may_be_complete = false;  // a finish reason or a terminal event has come
  bool failed = false;
};

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void see_openai_chat(const Json& chunk, Seen& seen) {
  for (const Json& choice : chunk.at("choices")) {
    const Json& delta = choice.at("delta");
    seen.text += text_at(delta, "content");
    seen.reasoning += text_at(delta, "reasoning_content");
    if (delta.contains("tool_calls") && !delta["tool_calls"].empty()) seen.open_tools.insert("call");
    const std::string finish = text_at(choice, "finish_reason");
    if (finish.empty()) continue;
    seen.may_be_complete = true;
    if (finish == "tool_calls") {
      seen.open_tools.clear();
      seen.tool_finished = true;
    }
  }
}

void see_openai_responses(const Json& event, Seen& seen) {
  const auto type = event.at("type").get<std::string>();
  const std::string index = event.contains("output_index") ? event["output_index"].dump() : "";
  const bool ends_in_call = event.contains("item") && text_at(event["item"], "type").find("_call") != std::string::npos;
  if (type == "response.output_text.delta") seen.text += text_at(event, "delta");
  if (type == "response.reasoning_summary_text.delta") seen.reasoning += text_at(event, "delta");
  if (type == "response.output_item.added" && ends_in_call) seen.open_tools.insert(index);
  if ((type == "response.output_item.done" && ends_in_call) || type == "response.function_call_arguments.done") {
    seen.open_tools.erase(index);
    seen.tool_finished = true;
  }
  if (type == "response.completed") seen.may_be_complete = true;
  if (type == "response.failed" || type == "error") seen.failed = true;
}

void see_anthropic(const Json& event, Seen& seen) {
  const auto type = event.at("type").get<std::string>();
  const std::string index = event.contains("index") ? event["index"].dump() : "";
  if (type == "content_block_delta") {
    seen.text += text_at(event["delta"], "text");
    seen.reasoning += text_at(event["delta"], "thinking");
  }
  if (type == "content_block_start" && text_at(event["content_block"], "type").find("tool_use") != std::string::npos) {
    seen.open_tools.insert(index);
  }
  if (type == "content_block_stop" && seen.open_tools.erase(index) > 0) seen.tool_finished = true;
  if (type == "message_stop") seen.may_be_complete = true;
}

void see_gemini(const Json& event, Seen& seen) {
  for (const Json& candidate : event.at("candidates")) {
    for (const Json& part : candidate.at("content").at("parts")) {
      (part.value("thought", false) ? seen.reasoning : seen.text) += text_at(part, "text");
    }
    if (candidate.contains("finishReason")) seen.may_be_complete = true;
  }
}

void see(Dialect dialect, const std::string& data, Seen& seen) {
  if (data == "[DONE]") {
    seen.may_be_complete = true;
    return;
  }
  const Json json = Json::parse(data);
  if (dialect == Dialect::OpenaiChat) return see_openai_chat(json, seen);
  if (dialect == Dialect::OpenaiResponses) return see_openai_responses(json, seen);
  if (dialect == Dialect::AnthropicMessages) return see_anthropic(json, seen);
  REQUIRE(dialect == Dialect::Gemini);
  see_gemini(json, seen);
}

EofVerdict expected_verdict(const Seen& seen) {
  if (seen.may_be_complete) return EofVerdict::Complete;
  if (!seen.open_tools.empty()) return EofVerdict::OpenToolCall;
  if (!seen.text.empty() || seen.tool_finished) return EofVerdict::Truncated;
  return seen.reasoning.empty() ? EofVerdict::Empty : EofVerdict::ReasoningOnly;
}

struct OwnedEvent {
  std::string name;
  std::string data;
};

std::vector<OwnedEvent> events_of(const Recording& recording) {
  std::vector<OwnedEvent> events;
  sse::Parser parser;
  const std::string stream = recording.framed();
  parser.feed(stream);
  sse::Event event;
  while (parser.next(event) == sse::Step::Event) events.push_back({std::string(event.name), std::string(event.data)});
  return events;
}

Meaning interpret(Interpreter& interpreter, std::string_view event_name, std::string_view data) {
  sse::Event event;
  event.name = event_name;
  event.data = data;
  return interpreter.interpret(event);
}

TEST_CASE("texts and verdicts of every prefix of every recording are the oracle's") {
  for (const Recording& recording : tidemark::test::recordings()) {
    INFO(recording.file);
    Interpreter interpreter(recording.dialect);
    Seen seen;
    std::string text;
    std::string reasoning;
    CHECK(interpreter.at_eof() == EofVerdict::Empty);
    for (const OwnedEvent& event : events_of(recording)) {
      INFO(event.data);
      const Meaning meaning = interpret(interpreter, event.name, event.data);
      see(recording.dialect, event.data, seen);
      text += meaning.text;
      reasoning += meaning.reasoning;
      REQUIRE(text == seen.text);
      REQUIRE(reasoning == seen.reasoning);
      REQUIRE(interpreter.answer().text_bytes == text.size());
      REQUIRE(interpreter.at_eof() == expected_verdict(seen));
      REQUIRE((meaning.kind == Kind::Error) == seen.failed);
      REQUIRE(meaning.kind != Kind::Malformed);
      REQUIRE(meaning.kind != Kind::Challenge);
    }
    CHECK((seen.failed || interpreter.at_eof() == EofVerdict::Complete));
    CHECK_FALSE(interpreter.answer().id.empty());
    CHECK_FALSE(interpreter.answer().model.empty());
    if (recording.dialect != Dialect::Gemini && !seen.failed && recording.file.find("groq") == std::string::npos) {
      CHECK(Json::accept(interpreter.answer().usage_json));
    }
  }
}

// The ending, checked as the next events after `answer` by a strict client and by the interpreter.
void check_ending(const Recording& recording, const Answer& answer, const test::StrictClient& client_so_far,
                  FinishStyle style, const std::string& text) {
  const std::vector<OwnEvent> events = ending(recording.dialect, answer, style, text);
  REQUIRE_FALSE(events.empty());
  Interpreter again(recording.dialect, answer);
  test::StrictClient client = client_so_far;
  for (const OwnEvent& event : events) {
    INFO(event.data);
    const Meaning meaning = interpret(again, event.name, event.data);
    REQUIRE(meaning.text.empty());
    REQUIRE(meaning.reasoning.empty());
    REQUIRE(meaning.kind != Kind::Malformed);
    REQUIRE(meaning.kind != Kind::Error);
    REQUIRE(client.take(event.name, event.data) == "");
  }
  REQUIRE(again.at_eof() == EofVerdict::Complete);
  REQUIRE(again.answer().terminal);
  if (answer.finish == Finish::None) {
    REQUIRE(again.answer().finish == (style == FinishStyle::Length ? Finish::Length : Finish::Stop));
  }
  REQUIRE(client.at_end(text) == "");
}

void check_error(const Recording& recording, const Answer& answer) {
  ErrorFacts facts;
  facts.type = "api_error";
  facts.code = "upstream_empty";
  facts.message = "nothing \"came\"";
  facts.status = 503;
  const OwnEvent event = error_event(recording.dialect, answer, facts);
  Interpreter again(recording.dialect, answer);
  const Meaning meaning = interpret(again, event.name, event.data);
  REQUIRE(meaning.kind == Kind::Error);
  REQUIRE(meaning.error.message == facts.message);
  REQUIRE(meaning.error.retryable());
  REQUIRE_FALSE(again.answer().terminal);
  if (meaning.sequence && answer.sequence) REQUIRE(*meaning.sequence == *answer.sequence + 1);
}

TEST_CASE("endings after every prefix of every recording are proper ones") {
  for (const Recording& recording : tidemark::test::recordings()) {
    if (recording.file.find("duplicate-message-start") != std::string::npos) continue;  // no strict client accepts it
    INFO(recording.file);
    Interpreter interpreter(recording.dialect);
    test::StrictClient client(recording.dialect);
    std::string text;
    for (const OwnedEvent& event : events_of(recording)) {
      INFO(event.data);
      const Meaning meaning = interpret(interpreter, event.name, event.data);
      text += meaning.text;
      if (meaning.kind == Kind::Error) break;
      REQUIRE(client.take(event.name, event.data) == "");
      const Answer& answer = interpreter.answer();
      if (answer.terminal) break;
      check_error(recording, answer);
      switch (interpreter.at_eof()) {
        case EofVerdict::Complete:
          break;
        case EofVerdict::Truncated:
          check_ending(recording, answer, client, FinishStyle::Stop, text);
          check_ending(recording, answer, client, FinishStyle::Length, text);
          break;
        case EofVerdict::ReasoningOnly: {
          const std::string promoted = "The \"reasoning\",\nas text 🌊";
          Answer changed = answer;
          test::StrictClient reader = client;
          std::string told;
          Interpreter again(recording.dialect, answer);
          for (const OwnEvent& own : promote_reasoning(recording.dialect, changed, promoted)) {
            INFO(own.data);
            told += interpret(again, own.name, own.data).text;
            REQUIRE(reader.take(own.name, own.data) == "");
          }
          REQUIRE(told == promoted);
          REQUIRE(changed.text_bytes == promoted.size());
          REQUIRE(again.at_eof() == EofVerdict::Truncated);
          check_ending(recording, changed, reader, FinishStyle::Stop, promoted);
          break;
        }
        case EofVerdict::OpenToolCall: {
          const auto events = ending(recording.dialect, answer, FinishStyle::Stop, text);
          REQUIRE(events.size() == 1);
          Interpreter again(recording.dialect, answer);
          REQUIRE(interpret(again, events[0].name, events[0].data).kind == Kind::Error);
          break;
        }
        case EofVerdict::Empty:
          break;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::dialect
