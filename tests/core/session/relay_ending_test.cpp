// What the end of an attempt means once content has come (contract § 4, rule 5, and § 3.3).
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

using dialect::FinishStyle;

// Every way in which an upstream may fall silent after content.
struct Break {
  const char* name;
  void (*play)(RelayWorld&);
  EndReason own_reason;
};
const std::vector<Break>& breaks() {
  static const std::vector<Break> all{
      {"EOF", [](RelayWorld& w) { w.eof(); }, EndReason::UpstreamError},
      {"reset", [](RelayWorld& w) { w.reset(); }, EndReason::UpstreamError},
      {"idle", [](RelayWorld& w) { w.wait(60000); }, EndReason::UpstreamTimeout},
      {"too large an event", [](RelayWorld& w) { w.bytes("data: " + std::string(5000, 'x')); },
       EndReason::UpstreamError},
      {"cut inside an event", [](RelayWorld& w) { w.bytes("data: {\"choices\":[{\"index\":0,\"del").eof(); },
       EndReason::UpstreamError},
  };
  return all;
}

RelayOptions small_options(Dialect dialect, FinishStyle style) {
  RelayOptions options = relay_options(dialect);
  options.max_event_bytes = 4096;
  options.truncated_finish = style;
  return options;
}

TEST_CASE("relay: text that breaks off gets the dialect's own ending") {
  struct Case {
    RelaySample sample;
    const char* stop;
    const char* length;
    const char* error;
  };
  const std::vector<Case> cases{
      {chat_sample(), "\"finish_reason\":\"stop\"", "\"finish_reason\":\"length\"", "data: {\"error\":"},
      {responses_sample(), "response.completed", "response.incomplete", "response.failed"},
      {anthropic_sample(), "\"end_turn\"", "\"max_tokens\"", "event: error"},
  };
  for (const Case& c : cases) {
    for (const Break& fault : breaks()) {
      for (const FinishStyle style : {FinishStyle::Stop, FinishStyle::Length, FinishStyle::Error}) {
        CAPTURE(dialect::name(c.sample.dialect), fault.name, static_cast<int>(style));
        RelayWorld world(small_options(c.sample.dialect, style));
        world.start().head().bytes(c.sample.preamble + c.sample.text);
        fault.play(world);
        const bool error = style == FinishStyle::Error;
        CHECK(world.ended(EndState::Truncated, error ? fault.own_reason : EndReason::SynthesizedStop));
        const std::string body = world.body();
        const std::string came = c.sample.preamble + c.sample.text;
        REQUIRE(body.substr(0, came.size()) == came);
        const std::string ending = body.substr(came.size());
        const char* mark = error ? c.error : style == FinishStyle::Length ? c.length : c.stop;
        CHECK(ending.find(mark) != std::string::npos);
        CHECK(world.attempt() == 1);
        if (c.sample.dialect == Dialect::OpenaiResponses && !error) {
          CHECK(ending.find("Hello") != std::string::npos);  // its ending repeats the text
        }
      }
    }
  }
}

TEST_CASE("relay: a finish without the marker is complete where the marker is often left out") {
  const RelaySample sample = chat_sample();
  const std::string answer = sample.preamble + sample.text + sample.end.substr(0, sample.end.find("data: [DONE]"));
  for (const Break& fault : breaks()) {
    CAPTURE(fault.name);
    RelayWorld world(small_options(sample.dialect, FinishStyle::Stop));
    world.start().head().bytes(answer);
    fault.play(world);
    CHECK(world.ended(EndState::Complete, EndReason::EndOfBody));
    CHECK(world.body() == answer);
  }
}

TEST_CASE("relay: a finish reason that was given is not given again") {
  const RelaySample sample = anthropic_sample();
  const std::string answer =
      sample.preamble + sample.text + sample.end.substr(0, sample.end.find("event: message_stop"));
  RelayWorld world(small_options(sample.dialect, FinishStyle::Stop));
  world.start().head().bytes(answer).eof();
  CHECK(world.end == EndState::Truncated);
  CHECK(world.body() == answer + event("message_stop", ""));
}

TEST_CASE("relay: reasoning alone is delivered as text") {
  struct Case {
    Dialect dialect;
    std::string stream;
    const char* as_text;
  };
  const std::vector<Case> cases{
      {Dialect::OpenaiChat,
       data_event(R"({"choices":[{"index":0,"delta":{"reasoning_content":"hm, "}}]})") +
           data_event(R"({"choices":[{"index":0,"delta":{"reasoning_content":"so"}}]})"),
       R"("content":"hm, so")"},
      {Dialect::AnthropicMessages,
       event("message_start", R"(,"message":{"id":"m","content":[]})") +
           event("content_block_start", R"(,"index":0,"content_block":{"type":"thinking","thinking":""})") +
           event("content_block_delta", R"(,"index":0,"delta":{"type":"thinking_delta","thinking":"hm, so"})"),
       R"("text":"hm, so")"},
  };
  for (const Case& c : cases) {
    for (const Break& fault : breaks()) {
      CAPTURE(dialect::name(c.dialect), fault.name);
      RelayWorld world(small_options(c.dialect, FinishStyle::Stop));
      world.start().head().bytes(c.stream);
      fault.play(world);
      CHECK(world.ended(EndState::Truncated, EndReason::PromotedReasoning));
      CHECK(world.body().substr(0, c.stream.size()) == c.stream);
      CHECK(world.body().find(c.as_text) != std::string::npos);
    }
  }
}

TEST_CASE("relay: reasoning before text is not delivered again") {
  RelayWorld world(small_options(Dialect::OpenaiChat, FinishStyle::Stop));
  world.start().head().bytes(data_event(R"({"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]})") +
                             chat_sample().text);
  world.eof();
  CHECK(world.ended(EndState::Truncated, EndReason::SynthesizedStop));
  CHECK(world.body().find("\"content\":\"hm\"") == std::string::npos);
}

TEST_CASE("relay: an open tool call never gets an invented ending") {
  struct Case {
    Dialect dialect;
    std::string stream;
    const char* error;
  };
  const std::vector<Case> cases{
      {Dialect::OpenaiChat,
       chat_sample().preamble + chat_sample().text +
           data_event(R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function",)"
                      R"("function":{"name":"f","arguments":"{\"a"}}]}}]})"),
       "data: {\"error\":"},
      {Dialect::AnthropicMessages,
       event("message_start", R"(,"message":{"id":"m","content":[]})") +
           event("content_block_start",
                 R"(,"index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}})") +
           event("content_block_delta", R"(,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a"})"),
       "event: error"},
      {Dialect::OpenaiResponses,
       event("response.created", R"(,"sequence_number":0,"response":{"id":"r"})") +
           event("response.output_item.added",
                 R"(,"sequence_number":1,"output_index":0,"item":{"id":"f1","type":"function_call","name":"f"})") +
           event("response.function_call_arguments.delta",
                 R"(,"sequence_number":2,"item_id":"f1","output_index":0,"delta":"{\"a")"),
       "response.failed"},
  };
  for (const Case& c : cases) {
    for (const Break& fault : breaks()) {
      CAPTURE(dialect::name(c.dialect), fault.name);
      RelayWorld world(small_options(c.dialect, FinishStyle::Stop));
      world.start().head().bytes(c.stream);
      fault.play(world);
      CHECK(world.ended(EndState::Failed, EndReason::OpenToolCall));
      const std::string own = world.body().substr(c.stream.size());
      CHECK(own.find(c.error) != std::string::npos);
      CHECK(own.find("[DONE]") == std::string::npos);
      CHECK(own.find("message_stop") == std::string::npos);
      CHECK(own.find("completed") == std::string::npos);
    }
  }
}

TEST_CASE("relay: an opaque stream ends with EOF, and is cut by anything else") {
  RelayWorld world(relay_options(Dialect::Opaque));
  world.start().head().bytes("data: 1\n\n").eof();
  CHECK(world.ended(EndState::Complete, EndReason::EndOfBody));
  RelayWorld cut(relay_options(Dialect::Opaque));
  cut.start().head().bytes("data: 1\n\ndata: 2").reset();
  CHECK(cut.ended(EndState::Truncated, EndReason::UpstreamError));
  CHECK(cut.body() == "data: 1\n\n");
}

TEST_CASE("relay: a last event without its blank line is taken where it is whole") {
  const RelaySample sample = chat_sample();
  for (const char* line_end : {"", "\n"}) {
    RelayWorld world(relay_options(sample.dialect));
    std::string whole = sample.whole();
    whole.resize(whole.size() - 2);
    world.start().head().bytes(whole + line_end).eof();
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
    CHECK(world.body() == sample.whole());
  }
}

TEST_CASE("relay: nothing is waited for after the last marker, EOF is after the others") {
  RelayWorld chat(relay_options(Dialect::OpenaiChat));
  chat.start().head().bytes(chat_sample().whole());
  CHECK(chat.ended(EndState::Complete, EndReason::TerminalMarker));
  RelayWorld responses(relay_options(Dialect::OpenaiResponses));
  responses.start().head().bytes(responses_sample().whole());
  CHECK_FALSE(responses.over());
  responses.wait(session::kDrainMs - 1);
  CHECK_FALSE(responses.over());
  SECTION("some servers add [DONE]") {
    responses.bytes("data: [DONE]\n\n");
    CHECK(responses.body() == responses_sample().whole() + "data: [DONE]\n\n");
  }
  SECTION("others reset the connection") { responses.reset(); }
  SECTION("or leave it open") { responses.wait(1); }
  CHECK(responses.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: the log's limit ends the stream truthfully, the first event too many left out") {
  const RelaySample sample = anthropic_sample();
  RelayOptions options = relay_options(sample.dialect);
  RelayWorld probe(options);
  probe.start().head().bytes(sample.preamble + sample.text);
  std::uint64_t size = 0;
  for (const auto& appended : probe.events) size += appended.bytes.size();
  options.max_stream_bytes = size + 40;
  RelayWorld world(options);
  world.start().head().bytes(sample.preamble + sample.text + sample.more_text);
  CHECK(world.ended(EndState::Truncated, EndReason::LogLimit));
  CHECK(world.body().find(" world") == std::string::npos);
  CHECK(world.body().find("message_stop") != std::string::npos);
  CHECK(world.cut == std::vector<unsigned>{1});
}

TEST_CASE("relay: a log that refuses an event has the ending numbered from there") {
  const RelaySample sample = chat_sample();
  session::Relay relay(relay_options(sample.dialect));
  relay.start(0);
  session::UpstreamHead head;
  head.status = 200;
  head.content_type = "text/event-stream";
  relay.handle_head(0, 1, head);
  relay.handle_bytes(0, 1, sample.preamble + sample.text + sample.more_text);
  SECTION("in the middle") {
    relay.log_refused(0, 1);
    std::vector<seam::Seq> numbers;
    for (const RelayAction& action : relay.actions()) {
      if (action.kind == RelayAction::Kind::Append) numbers.push_back(action.seq);
    }
    REQUIRE_FALSE(numbers.empty());
    for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == static_cast<seam::Seq>(1 + i));
  }
  SECTION("with the end already at hand") {
    relay.handle_bytes(0, 1, sample.end);
    CHECK(relay.actions().back().kind == RelayAction::Kind::End);
    relay.log_refused(0, 3);
    CHECK(relay.actions().size() == 1);
  }
  CHECK(relay.actions().back().kind == RelayAction::Kind::End);
  CHECK(relay.actions().back().state == EndState::Truncated);
  CHECK(relay.actions().back().reason == EndReason::LogLimit);
  relay.log_refused(0, 1);
  relay.log_refused(0, 1);
  CHECK(relay.state() == RelayState::Over);
}

}  // namespace
}  // namespace tidemark::test
