// Scripts in every dialect, read back by the core, and the faults applied to them.
#include "native/simulate/plan.hpp"

#include <fstream>

#include "core/dialect/challenge.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/sse/parser.hpp"
#include "tests/catch.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;

struct Heard {
  std::string text;
  std::string reasoning;
  std::size_t events = 0;
  dialect::EofVerdict verdict = dialect::EofVerdict::Empty;
  bool error = false;
};

Heard hear(Dialect spoken, const Plan& plan) {
  Heard heard;
  sse::Parser parser;
  dialect::Interpreter interpreter(spoken);
  for (const std::string& frame : plan.frames) {
    parser.feed(frame);
    sse::Event event;
    for (sse::Step step = parser.next(event); step != sse::Step::NeedMore; step = parser.next(event)) {
      REQUIRE(step != sse::Step::Failed);
      if (step != sse::Step::Event) continue;
      ++heard.events;
      const dialect::Meaning meaning = interpreter.interpret(event);
      heard.text += meaning.text;
      heard.reasoning += meaning.reasoning;
      heard.error = heard.error || meaning.kind == dialect::Kind::Error;
      CHECK(meaning.kind != dialect::Kind::Malformed);
    }
  }
  heard.verdict = interpreter.at_eof();
  return heard;
}

const Dialect kSpoken[] = {Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::AnthropicMessages,
                           Dialect::SeqDelta};

Plan plan_of(Dialect spoken, const char* fault, std::size_t from = 0) {
  const Fault parsed = parse_fault(fault).value();
  const Reasoning reasoning = parsed.kind == FaultKind::ReasoningOnly ? Reasoning::First : Reasoning::AsRecorded;
  return plan_stream(Recording().script(spoken, reasoning), parsed, from);
}

TEST_CASE("the built-in answer reads the same in every dialect", "[simulate]") {
  for (const Dialect spoken : kSpoken) {
    const Heard heard = hear(spoken, plan_of(spoken, "none"));
    CHECK(heard.text == built_in_pieces().joined_text());
    CHECK(heard.verdict == dialect::EofVerdict::Complete);
    CHECK(plan_of(spoken, "none").end == PlanEnd::EndOfBody);
  }
}

TEST_CASE("CRLF and byte-by-byte change the framing only", "[simulate]") {
  for (const Dialect spoken : kSpoken) {
    CHECK(hear(spoken, plan_of(spoken, "crlf")).text == built_in_pieces().joined_text());
    CHECK(plan_of(spoken, "crlf").frames.front().find("\r\n\r\n") != std::string::npos);
    CHECK(plan_of(spoken, "split").byte_by_byte);
  }
}

TEST_CASE("a cut comes after exactly so many events", "[simulate]") {
  for (const Dialect spoken : kSpoken) {
    CHECK(plan_of(spoken, "reset-after=7").frames.size() == 7);
    CHECK(plan_of(spoken, "reset-after=7").end == PlanEnd::Reset);
    CHECK(plan_of(spoken, "eof-after=0").frames.empty());
    CHECK(plan_of(spoken, "stall-after=9").end == PlanEnd::Stall);
    CHECK(hear(spoken, plan_of(spoken, "eof-after=9")).verdict == dialect::EofVerdict::Truncated);
    CHECK(plan_of(spoken, "reset-after=1000000").frames.size() == plan_of(spoken, "none").frames.size());
  }
}

TEST_CASE("a resumed stream goes on where it was left", "[simulate]") {
  const std::string whole = built_in_pieces().joined_text();
  const std::string head = hear(Dialect::SeqDelta, plan_of(Dialect::SeqDelta, "reset-after=7")).text;
  CHECK(head + hear(Dialect::SeqDelta, plan_of(Dialect::SeqDelta, "none", 7)).text == whole);
}

TEST_CASE("what ends before content has none", "[simulate]") {
  for (const Dialect spoken : kSpoken) {
    const auto* fault = GENERATE("empty", "preamble-only", "silence");
    const Heard heard = hear(spoken, plan_of(spoken, fault));
    CHECK(heard.text.empty());
    CHECK(heard.verdict == dialect::EofVerdict::Empty);
  }
}

TEST_CASE("reasoning only, and an error event, are what they say", "[simulate]") {
  for (const Dialect spoken : kSpoken) {
    const Heard reasoning = hear(spoken, plan_of(spoken, "reasoning-only"));
    CHECK(reasoning.text.empty());
    CHECK_FALSE(reasoning.reasoning.empty());
    CHECK(reasoning.verdict == dialect::EofVerdict::ReasoningOnly);
    CHECK(hear(spoken, plan_of(spoken, "error-event")).error);
  }
}

TEST_CASE("challenges are recognised as such, also when cut", "[simulate]") {
  const auto* fault = GENERATE("challenge-json", "challenge-html", "challenge-html-cut");
  const Plan plan = plan_of(Dialect::OpenaiChat, fault);
  REQUIRE(plan.frames.size() == 1);
  CHECK(dialect::is_challenge_body(plan.status, plan.content_type, plan.frames.front()));
}

TEST_CASE("an error status has the dialect's error body", "[simulate]") {
  const Plan chat = plan_of(Dialect::OpenaiChat, "status=504");
  CHECK(chat.status == 504);
  CHECK(chat.content_type == "application/json");
  CHECK(chat.frames.front().rfind("{\"error\":{", 0) == 0);
  CHECK(plan_of(Dialect::AnthropicMessages, "status=529").frames.front().rfind("{\"type\":\"error\"", 0) == 0);
}

TEST_CASE("a recording is told as recorded, or in the endpoint's words", "[simulate]") {
  const std::string file = "build/recording_test.jsonl";
  std::ofstream(file) << R"({"id":"c","choices":[{"index":0,"delta":{"content":"Hi"}}]})"
                      << "\n\n"
                      << R"({"id":"c","choices":[{"index":0,"delta":{"content":" there"},"finish_reason":"stop"}]})"
                      << "\n";
  const auto recording = Recording::load(file, std::nullopt);
  REQUIRE(recording.ok());
  const Script chat = recording.value().script(Dialect::OpenaiChat);
  REQUIRE(chat.events.size() == 3);
  CHECK(chat.events.back().data == "[DONE]");
  CHECK(chat.preamble == 0);
  const Plan told = plan_stream(recording.value().script(Dialect::AnthropicMessages), Fault{}, 0);
  CHECK(hear(Dialect::AnthropicMessages, told).text == "Hi there");
}

TEST_CASE("a recording that can't be used is refused in one line", "[simulate]") {
  CHECK(Recording::load("build/no-such-file.jsonl", std::nullopt).error().find("no-such-file") != std::string::npos);
  const std::string file = "build/bad_recording_test.jsonl";
  std::ofstream(file) << "{\"choices\":[]}\nnot json\n";
  CHECK(Recording::load(file, std::nullopt).error().find("line 2") != std::string::npos);
  std::ofstream(file, std::ios::trunc) << "\n";
  CHECK_FALSE(Recording::load(file, std::nullopt).ok());
  std::ofstream(file, std::ios::trunc) << "{\"what\":1}\n";
  CHECK(Recording::load(file, std::nullopt).error().find("--dialect") != std::string::npos);
}

}  // namespace
}  // namespace tidemark::simulate
