// When the client gets its 200, and what it has got by then (contract § 4, rules 1, 2, 4 and 6).
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("relay: content commits at once, with all that was held, byte for byte") {
  for (const RelaySample& sample : samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble);
    CHECK_FALSE(world.committed());
    CHECK(world.events.empty());
    world.bytes(sample.text);
    REQUIRE(world.committed());
    CHECK(world.commit_head == 1);
    CHECK(world.body() == sample.preamble + sample.text);
    CHECK(world.outcomes.at(1) == retry::Outcome::Answer);
    world.bytes(sample.more_text + sample.end).eof();
    CHECK(world.body() == sample.whole());
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
    CHECK(world.attempt() == 1);
    CHECK(world.cut.empty());
  }
}

TEST_CASE("relay: progress is held for commit_hold_ms, to the millisecond") {
  for (const RelaySample& sample : samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().wait(700).head().wait(300).bytes(sample.preamble);
    const TimeMs first = world.now;
    world.wait(1999);
    CHECK_FALSE(world.committed());
    world.wait(1);
    REQUIRE(world.committed());
    CHECK(*world.committed_at == first + 2000);
    CHECK(world.body() == sample.message);  // what opens a block waits for content
    CHECK(world.relay.state() == RelayState::Holding);
    world.wait(20000);
    CHECK(world.body() == sample.message);
    world.bytes(sample.text);
    CHECK(world.body() == sample.preamble + sample.text);
    world.bytes(sample.more_text + sample.end);
    CHECK(world.body() == sample.whole());
  }
}

TEST_CASE("relay: commit_hold_ms 0 commits with the first progress") {
  RelayOptions options = relay_options(Dialect::OpenaiChat);
  options.commit_hold_ms = 0;
  RelayWorld world(options);
  world.start().head();
  CHECK_FALSE(world.committed());
  world.bytes(chat_sample().preamble);
  CHECK(world.committed());
  CHECK(world.body() == chat_sample().preamble);
}

TEST_CASE("relay: hold_max_ms is the longest that a client is left without a byte") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  const TimeMs started = world.now;
  SECTION("before any head") {
    world.start().wait(24999);
    CHECK_FALSE(world.committed());
    world.wait(1);
    CHECK(world.commit_head == 0);
  }
  SECTION("with a head, the head of that attempt") {
    world.start().head().wait(24999);
    CHECK_FALSE(world.committed());
    world.wait(1);
    CHECK(world.commit_head == 1);
  }
  SECTION("while a retry is waited for") {
    world.start().head(503, "application/json", "30").bytes("{}").eof();
    CHECK(world.relay.state() == RelayState::Waiting);
    world.wait(25000);
    CHECK(world.commit_head == 0);
  }
  SECTION("while a body is looked at, which turns out to be worth a retry") {
    world.start().wait(1000).head(503, "application/json").bytes("{").wait(24000);
    CHECK(world.relay.state() == RelayState::Waiting);
    CHECK(world.commit_head == 0);
  }
  REQUIRE(world.committed());
  CHECK(*world.committed_at == started + 25000);
  CHECK(world.events.empty());
}

TEST_CASE("relay: a client that says how long it waits shortens the hold to four fifths of it") {
  RelayOptions options = relay_options(Dialect::OpenaiChat);
  options.client_timeout_ms = 10000;
  RelayWorld world(options);
  const TimeMs started = world.now;
  world.start().wait(7999);
  CHECK_FALSE(world.committed());
  world.wait(1);
  CHECK(*world.committed_at == started + 8000);
}

TEST_CASE("relay: comments, pings and keepalives never commit, and are no first byte") {
  struct Case {
    RelaySample sample;
    std::string silence;
    bool passed_on;
  };
  const std::vector<Case> cases{
      {chat_sample(), ": keepalive\n\n", false},
      {chat_sample(), "data:\n\n", false},
      {chat_sample(), "event: ping\n\n", false},
      {anthropic_sample(), event("ping", ""), true},
      {responses_sample(), event("keepalive", R"(,"sequence_number":0)"), true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.silence);
    RelayOptions options = relay_options(c.sample.dialect);
    options.hold_max_ms = 1000000;
    options.stream_empty_retry_max = 0;
    {
      RelayWorld world(options);
      world.start().head();
      for (int second = 0; second < 29; ++second) world.wait(1000).bytes(c.silence);
      CHECK_FALSE(world.committed());
      world.wait(999);
      CHECK_FALSE(world.over());
      world.wait(1);
      CHECK(world.refused);  // the watchdog has not seen them
      CHECK(world.relay.error().status == 504);
    }
    {
      RelayWorld world(options);
      world.start().head().bytes(c.silence).bytes(c.sample.whole()).eof();
      CHECK(world.body() == (c.passed_on ? c.silence : "") + c.sample.whole());
    }
  }
}

TEST_CASE("relay: pings in an answer are handed on but are no life") {
  const RelaySample sample = anthropic_sample();
  RelayWorld world(relay_options(sample.dialect));
  world.start().head().bytes(sample.preamble + sample.text);
  std::string pings;
  for (int second = 0; second < 59; ++second) {
    world.wait(1000).bytes(event("ping", ""));
    pings += event("ping", "");
  }
  CHECK(world.body() == sample.preamble + sample.text + pings);
  world.wait(999);
  CHECK_FALSE(world.over());
  world.wait(1);
  CHECK(world.end == EndState::Truncated);
  CHECK(world.cut == std::vector<unsigned>{1});
}

TEST_CASE("relay: more than 16 events of progress commit") {
  RelayWorld world(relay_options(Dialect::OpenaiResponses));
  world.start().head();
  const std::string progress = event("response.in_progress", "");
  for (unsigned i = 0; i < session::kMaxHeldEvents; ++i) world.bytes(progress);
  CHECK_FALSE(world.committed());
  world.bytes(progress);
  CHECK(world.committed());
  CHECK(world.events.size() == session::kMaxHeldEvents + 1);
  CHECK(world.relay.state() == RelayState::Holding);
}

TEST_CASE("relay: what opens a block or an item is held within the same bounds after the commit") {
  const RelaySample sample = anthropic_sample();
  const std::string signature = event("content_block_delta", R"(,"index":0,"delta":{"type":"signature_delta"})");
  const std::string pad = event("content_block_delta", R"(,"index":0,"delta":{"type":"signature_delta","signature":")" +
                                                           std::string(session::kMaxHeldBytes, 'x') + R"("})");
  for (const bool by_size : {false, true}) {
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble).wait(2000);
    std::string came = sample.preamble;
    // Silence keeps its place, too.
    world.bytes(event("ping", ""));
    came += event("ping", "");
    for (unsigned i = 1; i < session::kMaxHeldEvents && !by_size; ++i) {
      CHECK(world.body() == sample.message);
      world.bytes(signature);
      came += signature;
    }
    CHECK(world.body() == sample.message);
    const std::string last = by_size ? pad : signature;
    world.bytes(last);
    came += last;
    CHECK(world.body() == came);
    CHECK(world.relay.state() == RelayState::Holding);
    // Now nothing is held any more.
    world.bytes(signature);
    CHECK(world.body() == came + signature);
    world.bytes(sample.text + sample.more_text + sample.end);
    CHECK(world.body() == came + signature + sample.text + sample.more_text + sample.end);
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  }
}

TEST_CASE("relay: more than 64 KiB of progress commit") {
  const std::string frame = "id: e5-0\n" + event("response.in_progress", R"(,"pad":"")");
  for (const std::size_t too_much : {0u, 1u}) {
    const std::string pad(session::kMaxHeldBytes - frame.size() + too_much, 'x');
    RelayWorld world(relay_options(Dialect::OpenaiResponses));
    world.start().head().bytes(event("response.in_progress", R"(,"pad":")" + pad + "\""));
    CHECK(world.committed() == (too_much == 1));
    world.bytes(event("response.in_progress", ""));
    CHECK(world.committed());
    CHECK(world.events.size() == 2);
  }
}

TEST_CASE("relay: pings alone are held within bounds and never commit") {
  RelayWorld world(relay_options(Dialect::AnthropicMessages));
  world.start().head();
  const std::string ping = event("ping", R"(,"pad":")" + std::string(1000, 'x') + "\"");
  for (int i = 0; i < 200; ++i) world.bytes(ping);
  CHECK_FALSE(world.committed());
  world.bytes(anthropic_sample().preamble + anthropic_sample().text);
  std::size_t bytes = 0;
  for (const auto& appended : world.events) bytes += appended.bytes.size();
  CHECK(bytes < session::kMaxHeldBytes);
  CHECK(world.events.size() > 10);
}

TEST_CASE("relay: any event with data is content to an opaque stream, and its dialect is told by the first event") {
  RelayOptions options = relay_options(std::nullopt);
  options.expects_stream = false;
  {
    RelayWorld world(options);
    world.start().wait(100000).head();
    world.bytes("event: tick\ndata: 1\n\n");
    CHECK(world.committed());
    CHECK(world.relay.dialect() == Dialect::Opaque);
    world.bytes("data:\n\n: comment\n\nid: 9\ndata: 2\n\n").eof();
    CHECK(world.body() == "event: tick\ndata: 1\n\ndata:\n\ndata: 2\n\n");
    CHECK(world.ended(EndState::Complete, EndReason::EndOfBody));
  }
  {
    RelayWorld world(options);
    world.start().head().bytes(ai_sdk_sample().whole());
    CHECK(world.relay.dialect() == Dialect::AiSdkUi);
    CHECK(world.body() == ai_sdk_sample().whole());
  }
  {
    options.repeatable = false;
    RelayWorld world(options);
    world.start().head().wait(24999).bytes(": nothing\n\n");
    CHECK_FALSE(world.committed());
    world.wait(1);
    CHECK(world.commit_head == 1);
    world.eof();
    CHECK(world.ended(EndState::Complete, EndReason::EndOfBody));
  }
}

TEST_CASE("relay: the upstream's ids are left out and every other byte stays") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  const std::string json = R"({"choices":[{"index":0,"delta":{"content":"x"}}]})";
  world.start().head().bytes("id: 7\r\nretry: 5\r\n: note\r\ndata: " + json + "\r\nid\r\n\r\n");
  REQUIRE(world.events.size() == 1);
  CHECK(world.events[0].bytes == "id: e5-0\r\nretry: 5\r\n: note\r\ndata: " + json + "\r\n\r\n");
}

TEST_CASE("relay: a reconnection time that comes alone is told with the next event; other blocks without one are not") {
  RelayWorld world(relay_options(Dialect::Opaque));
  world.start().head().bytes(": hi\n\nretry: 3000\n\nid: 7\n\ndata: one\n\ndata: two\n\n");
  CHECK(world.body() == "retry: 3000\ndata: one\n\ndata: two\n\n");
  world.bytes("retry:4000\r\n\r\n").bytes("retry: 4000\r\n\r\n").bytes("event: e\r\ndata: three\r\n\r\n");
  CHECK(world.events.back().bytes == "id: e5-2\r\nretry: 4000\r\nevent: e\r\ndata: three\r\n\r\n");
  // A block that makes an event keeps its lines; one that takes back what is not told yet is enough.
  world.bytes("retry: 1\n\nretry: 2\ndata: four\n\ndata: five\n\n").eof();
  CHECK(RelayWorld::without_id(world.events[3].bytes) == "retry: 2\ndata: four\n\n");
  CHECK(RelayWorld::without_id(world.events[4].bytes) == "data: five\n\n");
}

TEST_CASE("relay: a reconnection time is told once, by the attempt that becomes the answer") {
  const RelaySample sample = chat_sample();
  RelayWorld world(relay_options(sample.dialect));
  world.start().head().bytes("retry: 3000\n\n" + sample.preamble).eof();
  REQUIRE(world.attempt() == 2);
  world.head().bytes("retry: 3000\n\n" + sample.whole()).eof();
  CHECK(world.body() == "retry: 3000\n" + sample.whole());
}

}  // namespace
}  // namespace tidemark::test
