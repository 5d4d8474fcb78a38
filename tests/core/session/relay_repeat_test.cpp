// Attempts that are repeated, and what is told when that did not help (contract § 4, rules 1 to 3, § 4.1, § 4.2).
#include <numeric>

#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

using session::RelayError;

void check_error(const RelayWorld& world, int status, const std::string& type, const std::string& code,
                 int retry_after) {
  REQUIRE(world.refused);
  const RelayError& error = world.relay.error();
  CHECK(error.status == status);
  CHECK(error.type == type);
  CHECK(error.code == code);
  CHECK(error.retry_after_s.value_or(0) == retry_after);
  CHECK_FALSE(error.message.empty());
}

// ---- Without content

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

TEST_CASE("relay: after the commit a failed attempt is repeated, and the client sees one preamble") {
  for (const RelaySample& sample : samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble).wait(2000);
    REQUIRE(world.committed());
    CHECK(world.body() == sample.message);
    world.eof();
    REQUIRE(world.attempt() == 2);
    CHECK(world.commit_head == 1);
    world.head().bytes(sample.whole()).eof();
    CHECK(world.body() == sample.whole());
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  }
}

std::vector<std::uint64_t> numbers_in(const std::string& body) {
  constexpr std::string_view kKey = "\"sequence_number\":";
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = body.find(kKey); at != std::string::npos; at = body.find(kKey, at + 1)) {
    numbers.push_back(std::stoull(body.substr(at + kKey.size())));
  }
  return numbers;
}

std::vector<std::uint64_t> counting(std::size_t size) {
  std::vector<std::uint64_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

// Progress that fills the hold, so that the client sees all of it.
std::string many_deltas(int first_number) {
  std::string all;
  for (unsigned i = 0; i <= session::kMaxHeldEvents; ++i) {
    all +=
        event("response.output_text.annotation.added",
              R"(,"sequence_number":)" + std::to_string(first_number + static_cast<int>(i)) + R"(,"output_index":0)");
  }
  return all;
}

TEST_CASE("relay: the second attempt goes by the ids that the client knows, its numbers rise by one") {
  const RelaySample first = responses_sample("A");
  const RelaySample second = responses_sample("B");
  SECTION("where it has seen the response begin") {
    RelayWorld world(relay_options(Dialect::OpenaiResponses));
    world.start().head().bytes(first.message + event("keepalive", R"(,"sequence_number":2)")).wait(2000).reset();
    world.head().bytes(second.whole()).eof();
    CHECK(numbers_in(world.body()) == counting(11));
    CHECK(world.body().find("\"resp_B\"") == std::string::npos);
    CHECK(world.body().find("\"msg_B\"") != std::string::npos);  // of the item it has heard here first
  }
  SECTION("where it has seen an item begin") {
    RelayWorld world(relay_options(Dialect::OpenaiResponses));
    world.start().head().bytes(first.preamble + many_deltas(4)).reset();
    REQUIRE(world.committed());
    const std::size_t seen = world.events.size();
    world.head().bytes(second.whole()).eof();
    CHECK(numbers_in(world.body()) == counting(seen + 6));
    CHECK(world.body().find("_B\"") == std::string::npos);
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  }
  RelayWorld chat(relay_options(Dialect::OpenaiChat));
  chat.start().head().bytes(chat_sample("a").preamble).wait(2000).eof();
  chat.head().bytes(chat_sample("b").whole());
  CHECK(chat.body() == chat_sample("a").whole());
}

TEST_CASE("relay: what is said for the upstream goes by the ids and numbers that the client knows") {
  const RelaySample first = responses_sample("A");
  const RelaySample second = responses_sample("B");
  RelayWorld failed(relay_options(Dialect::OpenaiResponses));
  failed.start().head().bytes(first.preamble).wait(2000).eof();
  SECTION("without another word") { failed.head().eof(); }
  SECTION("with an item that the client does not get to see") { failed.head().bytes(second.preamble).eof(); }
  const std::string error = failed.body().substr(first.message.size());
  CHECK(error.find("event: response.failed") == 0);
  CHECK(error.find("\"resp_A\"") != std::string::npos);
  CHECK(error.find("\"sequence_number\":2") != std::string::npos);

  RelayWorld cut(relay_options(Dialect::OpenaiResponses));
  cut.start().head().bytes(first.preamble).wait(2000).eof();
  cut.head().bytes(second.preamble + second.text).eof();
  CHECK(cut.ended(EndState::Truncated, EndReason::SynthesizedStop));
  CHECK(cut.body().find("\"resp_B\"") == std::string::npos);
  CHECK(cut.body().rfind("\"resp_A\"") > cut.body().find("Hello"));
}

// A whole answer that begins with reasoning.
RelaySample reasoning_sample(Dialect dialect) {
  RelaySample s;
  s.dialect = dialect;
  if (dialect == Dialect::AnthropicMessages) {
    const RelaySample text = anthropic_sample("msg_2");
    s.message = text.message;
    s.preamble =
        s.message + event("content_block_start", R"(,"index":0,"content_block":{"type":"thinking","thinking":""})");
    s.text = event("content_block_delta", R"(,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"})");
    s.end = text.end;
  } else if (dialect == Dialect::OpenaiResponses) {
    const RelaySample text = responses_sample("2");
    s.message = text.message;
    s.preamble = s.message + event("response.output_item.added",
                                   R"(,"sequence_number":2,"output_index":0,"item":{"id":"rs_2","type":"reasoning"})");
    s.text = event("response.reasoning_summary_text.delta",
                   R"(,"sequence_number":3,"item_id":"rs_2","output_index":0,"summary_index":0,"delta":"hm")");
    s.end = event("response.completed",
                  R"(,"sequence_number":4,"response":{"id":"resp_2","status":"completed","model":"m","output":[]})");
  } else {
    s.message = ai_sdk_sample().message;
    s.preamble = s.message + data_event(R"({"type":"reasoning-start","id":"r1"})");
    s.text = data_event(R"({"type":"reasoning-delta","id":"r1","delta":"hm"})");
    s.end = data_event(R"({"type":"reasoning-end","id":"r1"})") + data_event(R"({"type":"finish-step"})") +
            data_event(R"({"type":"finish"})") + data_event("[DONE]");
  }
  return s;
}

TEST_CASE("relay: a second answer that begins otherwise is the answer, since the client has seen nothing opened") {
  for (const RelaySample& text : samples()) {
    if (!text.brackets) continue;
    for (const bool reasoning_first : {false, true}) {
      CAPTURE(dialect::name(text.dialect), reasoning_first);
      const RelaySample reasoning = reasoning_sample(text.dialect);
      const RelaySample& first = reasoning_first ? reasoning : text;
      const RelaySample& second = reasoning_first ? text : reasoning;
      RelayWorld world(relay_options(text.dialect));
      world.start().head().bytes(first.preamble).wait(2000);
      REQUIRE(world.body() == first.message);
      world.eof();
      REQUIRE(world.attempt() == 2);
      world.head().bytes(second.preamble);
      CHECK(world.body() == first.message);
      world.bytes(second.text + second.more_text + second.end).eof();
      CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
      // The client sees the second answer, under the first one's ids.
      std::string expected = first.message + second.whole().substr(second.message.size());
      for (const char* kind : {"resp_", "msg_"}) {
        const std::string from = std::string("\"") + kind + (reasoning_first ? "1\"" : "2\"");
        const std::string to = std::string("\"") + kind + (reasoning_first ? "2\"" : "1\"");
        if (first.message.find(to) == std::string::npos) continue;
        for (std::size_t at; (at = expected.find(from)) != std::string::npos;) expected.replace(at, from.size(), to);
      }
      CHECK(world.body() == expected);
    }
  }
}

TEST_CASE("relay: a second answer that begins otherwise is not glued on to what the client has seen opened") {
  const RelaySample text = anthropic_sample();
  const RelaySample reasoning = reasoning_sample(text.dialect);
  const std::string signature = event("content_block_delta", R"(,"index":0,"delta":{"type":"signature_delta"})");
  std::string many;
  for (unsigned i = 0; i < session::kMaxHeldEvents; ++i) many += signature;
  RelayWorld world(relay_options(text.dialect));
  world.start().head().bytes(text.preamble + many);
  REQUIRE(world.body() == text.preamble + many);
  world.eof();
  SECTION("with content") { world.head().bytes(reasoning.preamble + reasoning.text); }
  SECTION("before any, as more than is held") { world.head().bytes(reasoning.preamble + many + signature + many); }
  CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
  CHECK(world.cut == std::vector<unsigned>{2});
  CHECK(world.body().find("thinking") == std::string::npos);
  CHECK(world.body().find("event: error") != std::string::npos);
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

// ---- Error events

TEST_CASE("relay: an error event that may pass is repeated after a backoff, then told in the upstream's words") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble + sample.failing);
    CHECK(world.relay.state() == RelayState::Waiting);
    CHECK(world.cut == std::vector<unsigned>{1});
    world.wait(649);
    REQUIRE(world.attempt() == 2);
    CHECK(world.sent[1] >= world.sent[0] + 250);
    world.head().bytes(sample.failing);
    const bool anthropic = sample.dialect == Dialect::AnthropicMessages;
    check_error(world, 502, anthropic ? "api_error" : "upstream_error", "upstream_empty", 1);
    CHECK(world.relay.error().message.find("try later") != std::string::npos);
  }
}

TEST_CASE("relay: a final error event is not repeated and keeps its words") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble + sample.final);
    REQUIRE(world.refused);
    CHECK(world.attempt() == 1);
    CHECK(world.relay.error().status == (sample.dialect == Dialect::OpenaiChat ? 429 : 400));
    CHECK(world.relay.error().message == "no money");
    CHECK_FALSE(world.relay.error().retry_after_s);
  }
}

// ---- Statuses and connections

TEST_CASE("relay: statuses that may pass are repeated with backoff, the last one is handed on byte for byte") {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) {
    CAPTURE(status);
    RelayWorld world(relay_options(Dialect::OpenaiChat));
    world.start();
    const std::string body = R"({"error":{"message":"busy"}})";
    world.head(status, "application/json").bytes(body).eof();
    CHECK(world.relay.state() == RelayState::Waiting);
    world.wait(8000);
    REQUIRE(world.attempt() == 2);
    CHECK(world.sent[1] - world.sent[0] >= 250);
    CHECK(world.sent[1] - world.sent[0] < 650);
    world.head(status, "application/json").bytes(body).eof().wait(8000);
    REQUIRE(world.attempt() == 3);
    world.head(status, "application/json").bytes(body.substr(0, 9)).bytes(body.substr(9)).eof();
    REQUIRE(world.passed);
    CHECK(*world.passed == body);
    CHECK(world.passed_whole);
    CHECK(world.passed_attempt == 3);
    CHECK(world.outcomes.at(3) == retry::Outcome::Neutral);
  }
}

TEST_CASE("relay: any other status is handed on at once") {
  for (const int status : {301, 400, 401, 402, 403, 404, 413, 422, 501}) {
    CAPTURE(status);
    RelayWorld world(relay_options(Dialect::OpenaiChat));
    world.start().head(status, "application/json").bytes("{}").eof();
    CHECK(world.passed == "{}");
    CHECK(world.attempt() == 1);
    CHECK(world.outcomes.at(1) == retry::Outcome::Neutral);
  }
}

TEST_CASE("relay: a Retry-After is a lower bound up to 59 seconds, and beyond it the response is handed on") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  world.start().head(429, "application/json", "59").bytes("{}").eof().wait(58999);
  CHECK(world.attempt() == 1);
  world.wait(1);
  CHECK(world.attempt() == 2);
  CHECK(world.commit_head == 0);  // hold_max_ms is over

  RelayWorld longer(relay_options(Dialect::OpenaiChat));
  longer.start().head(429, "application/json", "60").bytes("{}").eof();
  CHECK(longer.passed == "{}");
}

TEST_CASE("relay: no retry is waited for that comes after the client's patience") {
  RelayOptions options = relay_options(Dialect::OpenaiChat);
  options.client_timeout_ms = 5000;
  RelayWorld world(options);
  world.start().head(503, "application/json", "5").bytes("{}").eof();
  CHECK(world.passed == "{}");

  RelayWorld in_time(options);
  in_time.start().head(503, "application/json", "4").bytes("{}").eof();
  CHECK(in_time.relay.state() == RelayState::Waiting);
}

TEST_CASE("relay: connections that fail are repeated, then told as 502") {
  for (const bool anthropic : {false, true}) {
    for (const bool reset : {false, true}) {
      RelayWorld world(relay_options(anthropic ? Dialect::AnthropicMessages : Dialect::OpenaiChat));
      world.start();
      for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(world.over());
        reset ? world.reset() : world.unreachable();
        world.wait(8000);
      }
      CHECK(world.attempt() == 3);
      check_error(world, 502, anthropic ? "api_error" : "upstream_error", "upstream_unreachable", 1);
      const std::string& message = world.relay.error().message;
      CHECK(message.find(reset ? "reset by peer" : "connection refused") != std::string::npos);
    }
  }
}

TEST_CASE("relay: the two kinds of retry have budgets of their own") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  world.start().unreachable().wait(8000).head().eof();
  CHECK(world.attempt() == 3);
  world.head(503, "text/plain").bytes("no").eof().wait(8000);
  CHECK(world.attempt() == 4);
  world.head().bytes(chat_sample().whole());
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: after the commit a body that is looked at and goes silent is judged by what came") {
  RelayOptions options = relay_options(Dialect::OpenaiChat);
  options.hold_max_ms = 10;
  options.first_byte_timeout_ms = 0;
  RelayWorld world(options);
  world.start().wait(10).head(400, "application/json").wait(59999).bytes(R"({"error":{"message":"too)").wait(59999);
  CHECK_FALSE(world.over());
  world.wait(1);
  CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
  CHECK(world.cut == std::vector<unsigned>{1});
}

TEST_CASE("relay: after the commit an upstream's status is told as an error event in its words") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble).wait(2000).eof();
    world.head(401, "application/json").bytes(R"({"error":{"message":"bad key","type":"authentication_error"}})").eof();
    CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
    CHECK(world.body().substr(0, sample.message.size()) == sample.message);
    CHECK(world.body().find("bad key") != std::string::npos);
    CHECK(world.attempt() == 2);
  }
}

TEST_CASE(
    "relay: an answer that is no stream is handed on, and not held back for its end where it can't be a challenge") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  world.start().head(200, "application/json; charset=utf-8").bytes("{\"choices\":");
  CHECK_FALSE(world.over());
  world.bytes("[]}").eof();
  CHECK(world.passed == "{\"choices\":[]}");
  CHECK(world.outcomes.at(1) == retry::Outcome::Answer);

  RelayWorld array(relay_options(Dialect::Gemini));
  array.start().head(200, "application/json").bytes("[{");
  CHECK(array.passed == "[{");
  CHECK_FALSE(array.passed_whole);

  RelayOptions other = relay_options(std::nullopt);
  other.expects_stream = false;
  for (const char* text : {"Dear all", "dark", "FAIL_SAFE", "R2"}) {
    RelayWorld plain(other);
    plain.start().head(200, "text/plain").bytes(text);
    CHECK(plain.passed == text);
  }
  RelayWorld page(other);
  page.start().wait(100000).head(200, "text/html").bytes("<html>").wait(24999);
  CHECK_FALSE(page.over());
  page.wait(1);
  CHECK(page.passed == "<html>");

  RelayWorld image(relay_options(Dialect::OpenaiChat));
  image.start().head(200, "image/png").bytes("\x89PNG");
  CHECK(image.passed == "\x89PNG");

  RelayWorld html(relay_options(Dialect::OpenaiChat));
  html.start().head(200, "text/html").bytes("<html>hello").eof();
  CHECK(html.passed == "<html>hello");

  RelayWorld large(relay_options(Dialect::OpenaiChat));
  large.start().head(200, "text/html").bytes(std::string((256u << 10) - 1, 'x'));
  CHECK_FALSE(large.over());
  large.bytes("y");
  CHECK(large.passed->size() == 256u << 10);

  RelayWorld slow(relay_options(Dialect::OpenaiChat));
  slow.start().head(200, "text/html").bytes("<html>").wait(25000);
  CHECK(slow.passed == "<html>");
}

// ---- Challenges and the breaker

TEST_CASE("relay: a challenge is refused at once, never retried, one strike") {
  struct Case {
    const char* what;
    void (*play)(RelayWorld&);
  };
  const std::vector<Case> cases{
      {"JSON body",
       [](RelayWorld& w) {
         w.head(200, "application/json").bytes(R"({"ret":["FAIL_SYS_USER_VALIDATE","x"],"data":{}})").eof();
       }},
      {"bare in an event stream",
       [](RelayWorld& w) { w.head().bytes(R"({"ret":["FAIL_SYS_USER_VALIDATE::x"]})").eof(); }},
      {"in a data line", [](RelayWorld& w) { w.head().data(R"({"ret":["RGV587_ERROR::SM"]})"); }},
      {"in a data line, cut",
       [](RelayWorld& w) { w.head().bytes(R"(data: {"ret":["FAIL_SYS_USER_VALIDATE",)").eof(); }},
      {"in a data line, cut inside its string",
       [](RelayWorld& w) { w.head().bytes(R"(data: {"ret":["FAIL_SYS_USER_VALI)").eof(); }},
      {"in a data line, cut inside its string by a reset",
       [](RelayWorld& w) { w.head().bytes(R"(data: {"api":"x","ret":["RGV58)").reset(); }},
      {"in an event whose data is cut", [](RelayWorld& w) { w.head().data(R"({"ret":["FAIL_SYS_USER_VALI)"); }},
      {"in a data line, bare words, cut", [](RelayWorld& w) { w.head().bytes("data: RGV58").eof(); }},
      {"bare words in an event stream", [](RelayWorld& w) { w.head().bytes("RGV587_ERROR::SM::busy").eof(); }},
      {"bare in an event stream, cut inside its string",
       [](RelayWorld& w) { w.head().bytes(R"({"ret":["FAIL_SYS_USER_VALI)").eof(); }},
      {"JSON body, cut inside its string",
       [](RelayWorld& w) { w.head(200, "application/json").bytes(R"({"ret":["FAIL_SYS_USER_VALI)").eof(); }},
      {"JSON body, cut inside its string by a reset",
       [](RelayWorld& w) { w.head(503, "application/json").bytes(R"({"ret":["RGV5)").reset(); }},
      {"JSON body that stalls inside its string",
       [](RelayWorld& w) { w.head(200, "application/json").bytes(R"({"ret":["FAIL_SYS_USER_VALI)").wait(60000); }},
      {"HTML, cut inside its sign", [](RelayWorld& w) { w.head(200, "text/html").bytes("<html>\n_____tmd__").eof(); }},
      {"HTML, cut after its title by a reset",
       [](RelayWorld& w) { w.head(200, "text/html").bytes("<html><title>Just a moment...</title><me").reset(); }},
      {"in a data line, after the preamble",
       [](RelayWorld& w) {
         w.head()
             .data(R"({"choices":[{"index":0,"delta":{"role":"assistant"}}]})")
             .data(R"({"ret":["RGV587_ERROR::SM"]})");
       }},
      {"HTML",
       [](RelayWorld& w) {
         w.head(200, "text/html").bytes("<html><script src=\"/_____tmd_____/punish?x5secdata=1\">");
       }},
      {"HTML, cut by a reset",
       [](RelayWorld& w) { w.head(200, "text/html").bytes("<html>\n").bytes("_____tmd_____").reset(); }},
      {"with 503",
       [](RelayWorld& w) {
         w.head(503, "text/html").bytes("<html><script src=\"/_____tmd_____/punish?x5secdata=1\">").eof();
       }},
      {"by header", [](RelayWorld& w) { w.head(403, "text/html", {}, true); }},
  };
  for (const Case& c : cases) {
    for (const Dialect dialect : {Dialect::OpenaiChat, Dialect::AnthropicMessages}) {
      for (const bool committed : {false, true}) {
        CAPTURE(c.what, dialect::name(dialect), committed);
        RelayOptions options = relay_options(dialect);
        if (committed) options.hold_max_ms = 5;
        RelayWorld world(options);
        world.start().wait(5);
        c.play(world);
        CHECK(world.attempt() == 1);
        CHECK(world.outcomes.at(1) == retry::Outcome::Challenge);
        if (committed) {
          CHECK(world.ended(EndState::Failed, EndReason::UpstreamChallenge));
        } else if (dialect == Dialect::AnthropicMessages) {
          check_error(world, 529, "overloaded_error", "upstream_challenge", 30);
        } else {
          check_error(world, 503, "upstream_unavailable", "upstream_challenge", 30);
        }
      }
    }
  }
}

TEST_CASE("relay: a paused upstream is told with what is left, in whole seconds from 1 to 59") {
  struct Case {
    TimeMs ms;
    int seconds;
  };
  for (const Case& c : {Case{0, 1}, Case{1000, 1}, Case{1001, 2}, Case{58001, 59}, Case{60000, 59}}) {
    RelayWorld world(relay_options(Dialect::OpenaiChat));
    world.start().paused(c.ms);
    check_error(world, 503, "upstream_unavailable", "upstream_paused", c.seconds);
    CHECK(world.outcomes.empty());  // the breaker knows of no attempt
  }
}

// ---- Orders

TEST_CASE("relay: stop ends at once, before and after the commit") {
  const RelaySample sample = chat_sample();
  RelayWorld early(relay_options(sample.dialect));
  early.start().head().bytes(sample.preamble).stop();
  CHECK(early.commit_head == 0);
  CHECK(early.events.empty());
  CHECK(early.ended(EndState::Stopped, EndReason::ClientStop));
  CHECK(early.cut == std::vector<unsigned>{1});

  RelayWorld late(relay_options(sample.dialect));
  late.start().head().bytes(sample.preamble + sample.text).stop();
  CHECK(late.body() == sample.preamble + sample.text);
  CHECK(late.ended(EndState::Stopped, EndReason::ClientStop));
  CHECK(late.cut == std::vector<unsigned>{1});
  late.stop().bytes(sample.more_text).eof();
  CHECK(late.body() == sample.preamble + sample.text);

  RelayWorld waiting(relay_options(sample.dialect));
  waiting.start().unreachable().stop();
  CHECK(waiting.ended(EndState::Stopped, EndReason::ClientStop));
  CHECK(waiting.cut.empty());
}

TEST_CASE("relay: abandoned before the commit it leaves nothing, after it a truthful end") {
  const RelaySample sample = anthropic_sample();
  RelayWorld early(relay_options(sample.dialect));
  early.start().head().abandon();
  CHECK(early.refused);
  CHECK(early.relay.error().status == 499);
  CHECK(early.cut == std::vector<unsigned>{1});
  CHECK(early.outcomes.at(1) == retry::Outcome::Neutral);

  RelayWorld late(relay_options(sample.dialect));
  late.start().head().bytes(sample.preamble + sample.text).abandon();
  CHECK(late.ended(EndState::Truncated, EndReason::ClientStop));
  CHECK(late.body().find("message_stop") != std::string::npos);
}

TEST_CASE("relay: a shutdown tells the truth") {
  for (const RelaySample& sample : model_samples()) {
    RelayWorld early(relay_options(sample.dialect));
    early.start().shutdown();
    CHECK(early.refused);
    CHECK(early.relay.error().status == (sample.dialect == Dialect::AnthropicMessages ? 529 : 503));

    RelayWorld preamble(relay_options(sample.dialect));
    preamble.start().head().bytes(sample.preamble).wait(2000).shutdown();
    CHECK(preamble.ended(EndState::Truncated, EndReason::Shutdown));
    CHECK(preamble.body().size() > sample.message.size());

    RelayWorld late(relay_options(sample.dialect));
    late.start().head().bytes(sample.preamble + sample.text).shutdown();
    CHECK(late.ended(EndState::Truncated, EndReason::Shutdown));
    CHECK(late.cut == std::vector<unsigned>{1});

    RelayWorld done(relay_options(sample.dialect));
    done.start().head().bytes(sample.whole()).shutdown();
    CHECK(done.ended(EndState::Complete, EndReason::TerminalMarker));
  }
}

TEST_CASE("relay: inputs about another attempt are ignored") {
  const RelaySample sample = chat_sample();
  RelayWorld world(relay_options(sample.dialect));
  world.start().head().eof();
  REQUIRE(world.attempt() == 2);
  world.after([&] { world.relay.handle_bytes(world.now, 1, sample.whole()); });
  world.after([&] { world.relay.handle_eof(world.now, 1); });
  world.after([&] { world.relay.handle_failure(world.now, 1, session::AttemptFailure::Broken, "late"); });
  CHECK(world.attempt() == 2);
  CHECK(world.relay.state() == RelayState::Asking);
}

}  // namespace
}  // namespace tidemark::test
