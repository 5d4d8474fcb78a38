// Attempts without content, which are repeated, and what is told when that did not help (contract § 4, rules 1 to 3).
#include <string>
#include <vector>

#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

struct Fault {
  const char* name;
  void (*play)(RelayWorld&, const RelaySample&);
  int status;
  const char* code;
  const char* anthropic_type;
};

const std::vector<Fault>& empty_faults() {
  static const std::vector<Fault> all{
      {"empty body", [](RelayWorld& w, const RelaySample&) { w.head().eof(); }, 502, "upstream_empty", "api_error"},
      {"preamble only", [](RelayWorld& w, const RelaySample& s) { w.head().bytes(s.preamble).eof(); }, 502,
       "upstream_empty", "api_error"},
      {"reset after the preamble", [](RelayWorld& w, const RelaySample& s) { w.head().bytes(s.preamble).reset(); }, 502,
       "upstream_empty", "api_error"},
      {"comments only", [](RelayWorld& w, const RelaySample&) { w.head().bytes(": hi\n\n").eof(); }, 502,
       "upstream_empty", "api_error"},
      {"JSON under a false name",
       [](RelayWorld& w, const RelaySample&) { w.head().bytes("{\"answer\":\"no\"}").eof(); }, 502, "upstream_empty",
       "api_error"},
      {"too large an event",
       [](RelayWorld& w, const RelaySample&) { w.head().bytes("data: " + std::string(5000, 'x')); }, 502,
       "upstream_empty", "api_error"},
      {"silence", [](RelayWorld& w, const RelaySample&) { w.wait(20000); }, 504, "upstream_timeout", "timeout_error"},
      {"silence after the head", [](RelayWorld& w, const RelaySample&) { w.head().wait(20000); }, 504,
       "upstream_timeout", "timeout_error"},
  };
  return all;
}

TEST_CASE("relay: an attempt without content is repeated without a trace") {
  for (const RelaySample& sample : samples()) {
    for (const Fault& fault : empty_faults()) {
      CAPTURE(dialect::name(sample.dialect), fault.name);
      RelayOptions options = relay_options(sample.dialect);
      options.first_byte_timeout_ms = 20000;
      options.max_event_bytes = 4096;
      RelayWorld world(options);
      world.start();
      fault.play(world, sample);
      REQUIRE(world.attempt() == 2);
      CHECK(world.sent[1] == world.now);  // at once
      CHECK_FALSE(world.committed());
      CHECK(world.outcomes.at(1) == retry::Outcome::Neutral);
      world.head().bytes(sample.whole()).eof();
      CHECK(world.commit_head == 2);
      CHECK(world.body() == sample.whole());
      CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
    }
  }
}

TEST_CASE("relay: what a failed attempt looked like does not decide the dialect of the next one") {
  RelayWorld world(relay_options(std::nullopt));
  world.start().head().data(R"({"error":{"message":"busy","type":"server_error","code":"server_error"}})").eof();
  while (world.attempt() == 1) world.wait(100);
  world.head().data(R"({"seq":0,"delta":"Hi"})").data(R"({"seq":1,"done":true})").eof();
  CHECK(world.relay.dialect() == dialect::Dialect::SeqDelta);
  CHECK(world.events.size() == 2);
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: stream_empty_retry_max is met exactly, and then a status tells it") {
  for (const RelaySample& sample : samples()) {
    for (const Fault& fault : empty_faults()) {
      for (const unsigned retries : {0u, 1u, 3u}) {
        CAPTURE(dialect::name(sample.dialect), fault.name, retries);
        RelayOptions options = relay_options(sample.dialect);
        options.first_byte_timeout_ms = 20000;
        options.hold_max_ms = 1000000;
        options.max_event_bytes = 4096;
        options.stream_empty_retry_max = retries;
        RelayWorld world(options);
        world.start();
        for (unsigned i = 0; i <= retries; ++i) {
          CHECK_FALSE(world.over());
          fault.play(world, sample);
        }
        CHECK(world.attempt() == retries + 1);
        const bool anthropic = sample.dialect == Dialect::AnthropicMessages;
        check_error(world, fault.status, anthropic ? fault.anthropic_type : "upstream_error", fault.code, 1);
      }
    }
  }
}

TEST_CASE("relay: after the commit the error goes out as the dialect's error event") {
  struct Case {
    RelaySample sample;
    const char* mark;
  };
  for (const Case& c : {Case{chat_sample(), "data: {\"error\":"}, Case{responses_sample(), "event: response.failed"},
                        Case{anthropic_sample(), "event: error"}}) {
    for (const Fault& fault : empty_faults()) {
      CAPTURE(dialect::name(c.sample.dialect), fault.name);
      RelayOptions options = relay_options(c.sample.dialect);
      options.first_byte_timeout_ms = 20000;
      options.hold_max_ms = 10;
      options.max_event_bytes = 4096;
      RelayWorld world(options);
      world.start().wait(10);
      REQUIRE(world.commit_head == 0);
      fault.play(world, c.sample);
      fault.play(world, c.sample);
      const bool silent = fault.status == 504;
      CHECK(world.ended(EndState::Failed, silent ? EndReason::UpstreamTimeout : EndReason::UpstreamEmpty));
      const std::string body = world.body();
      CHECK(body.find(c.mark) != std::string::npos);
      const bool shows_preamble = std::string(fault.name).find("preamble") != std::string::npos;
      CHECK((body.find(c.sample.preamble.substr(0, 30)) == 0) == shows_preamble);
    }
  }
}

TEST_CASE("relay: a properly finished empty answer is repeated, and handed on if the last one is empty too") {
  for (const RelaySample& sample : model_samples()) {
    for (const bool committed : {false, true}) {
      for (const bool marker : {true, false}) {
        if (!marker && sample.dialect != Dialect::OpenaiChat) continue;  // the others need theirs
        CAPTURE(dialect::name(sample.dialect), committed, marker);
        const std::string end = marker ? sample.end : sample.end.substr(0, sample.end.find("data: [DONE]"));
        RelayWorld world(relay_options(sample.dialect));
        world.start().head().bytes(sample.preamble);
        if (committed) world.wait(2000);
        world.bytes(end);
        if (!marker) world.eof();
        REQUIRE(world.attempt() == 2);
        CHECK(world.events.empty() != committed);
        world.head().bytes(sample.preamble + end).eof();
        CHECK(world.body() == sample.preamble + end);
        CHECK(world.ended(EndState::Complete, marker ? EndReason::TerminalMarker : EndReason::EndOfBody));
        CHECK(world.outcomes.at(2) == retry::Outcome::Answer);
        CHECK(world.attempt() == 2);
      }
    }
  }
}

TEST_CASE("relay: a marker that nothing has been finished before is no answer, not even the last time") {
  struct Case {
    Dialect dialect;
    std::string stream;
  };
  const std::string done = data_event("[DONE]");
  const std::string usage = data_event(R"({"choices":[],"usage":{"total_tokens":1}})");
  const std::vector<Case> cases{
      {Dialect::OpenaiChat, done},
      {Dialect::OpenaiChat, chat_sample().preamble + done},
      {Dialect::OpenaiChat, usage + done},
      {Dialect::OpenaiChat, chat_sample().preamble + usage + done},
      {Dialect::OpenaiResponses, done},
      {Dialect::OpenaiResponses, responses_sample().preamble + done},
      {Dialect::AnthropicMessages, event("message_stop", "")},
      {Dialect::AnthropicMessages, anthropic_sample().preamble + event("message_stop", "")},
      {Dialect::Gemini, done},
      {Dialect::Gemini, data_event(R"({"usageMetadata":{"totalTokenCount":1}})") + done},
      {Dialect::SeqDelta, done},
      {Dialect::SeqDelta, data_event(R"({"seq":0,"delta":""})") + done},
      {Dialect::AiSdkUi, done},
      {Dialect::AiSdkUi, ai_sdk_sample().preamble + done},
  };
  for (const Case& c : cases) {
    for (const bool committed : {false, true}) {
      CAPTURE(dialect::name(c.dialect), c.stream, committed);
      RelayOptions options = relay_options(c.dialect);
      if (committed) options.hold_max_ms = 10;
      RelayWorld world(options);
      world.start();
      if (committed) world.wait(10);
      for (unsigned attempt = 1; attempt <= 2; ++attempt) {
        REQUIRE(world.attempt() == attempt);
        world.head().bytes(c.stream);
        if (world.attempt() == attempt && !world.over()) world.eof();
      }
      CHECK(world.attempt() == 2);
      if (committed) {
        CHECK(world.ended(EndState::Failed, EndReason::UpstreamEmpty));
        CHECK(world.body().find("error") != std::string::npos);
        const bool is_marker = c.dialect != Dialect::Gemini;  // there it is silence, and handed on
        if (is_marker) CHECK(world.body().find("[DONE]") == std::string::npos);
        CHECK(world.body().find("message_stop") == std::string::npos);
      } else {
        const bool anthropic = c.dialect == Dialect::AnthropicMessages;
        check_error(world, 502, anthropic ? "api_error" : "upstream_error", "upstream_empty", 1);
      }
    }
  }
}

TEST_CASE("relay: a finish that waits for its marker is not shown by the hold's end") {
  const RelaySample sample = chat_sample();
  RelayWorld world(relay_options(sample.dialect));
  const std::string finish = sample.end.substr(0, sample.end.find("data: [DONE]"));
  world.start().head().bytes(sample.preamble + finish).wait(2000);
  CHECK(world.body() == sample.message);
  world.bytes("data: [DONE]\n\n");
  REQUIRE(world.attempt() == 2);
  world.head().bytes(sample.whole());
  CHECK(world.body() == sample.whole());
}

TEST_CASE("relay: a length limit, a content filter and a refusal are answers at once") {
  for (const char* reason : {"length", "content_filter"}) {
    RelayWorld world(relay_options(Dialect::OpenaiChat));
    world.start().head().bytes(
        data_event(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(reason) + R"("}]})"));
    CHECK(world.committed());
    world.bytes("data: [DONE]\n\n");
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  }
  RelayWorld world(relay_options(Dialect::AnthropicMessages));
  world.start().head().bytes(event("message_start", R"(,"message":{"id":"m","content":[]})") +
                             event("message_delta", R"(,"delta":{"stop_reason":"refusal"})"));
  CHECK(world.committed());
  world.bytes(event("message_stop", ""));
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

}  // namespace
}  // namespace tidemark::test
