// How a stream ends on the client leg, and what is told of it.
#include <string>
#include <vector>

#include "tests/core/session/recoverer_hand.hpp"

namespace tidemark::test {
namespace {

using session::RecoveredEnd;

TEST_CASE("the proxy's last comment says how the stream ended") {
  const auto ended_by = [](std::string_view comment) {
    Hand hand;
    hand.respond(1, Hand::named());
    hand.bytes(2, "id: e-0\ndata: x\n\n");
    hand.bytes(3, comment);
    // Those were its last bytes: the leg ends by itself.
    CHECK(hand.seen.disconnects.empty());
    return hand.seen;
  };
  Recorder seen = ended_by(": tidemark end=truncated reason=synthesized-stop\n\n");
  CHECK(seen.end == RecoveredEnd::Truncated);
  CHECK(seen.reason == "synthesized-stop");
  seen = ended_by(": tidemark end=stopped reason=client-stop\r\n\r\n");
  CHECK(seen.end == RecoveredEnd::Stopped);
  CHECK(seen.reason == "client-stop");
  seen = ended_by(": tidemark end=complete reason=end-of-body\n\n");
  CHECK(seen.end == RecoveredEnd::Complete);
  seen = ended_by(": tidemark end=failed reason=open-tool-call\n\n");
  REQUIRE(seen.failure);
  CHECK(seen.failure->code == "open_tool_call");
  CHECK_FALSE(seen.failure->in_band);
  CHECK_FALSE(ended_by(": tidemark end=nonsense reason=x\n\n").over());
  CHECK_FALSE(ended_by(": tidemark ended\n\n").over());
}

TEST_CASE("a named stream that ends without the comment has lost its leg") {
  Hand hand;
  hand.respond(1, Hand::named());
  hand.bytes(2, "id: e-0\ndata: x\n\n");
  hand.recoverer.handle_end(3, 1);
  CHECK(hand.recoverer.state() == RecovererState::Compensating);
  hand.next_attempt();
  hand.respond(200, Hand::named());
  hand.bytes(201, ": tidemark end=complete reason=end-of-body\n\n");
  CHECK(hand.seen.end == RecoveredEnd::Complete);
}

TEST_CASE("an opaque stream's end is its EOF, and a reset is none") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, "data: x\n\n");
  hand.recoverer.handle_end(3, 1);
  CHECK(hand.seen.end == RecoveredEnd::Complete);
  CHECK(hand.seen.reason == "end-of-body");

  Hand reset;
  reset.respond(1, Hand::event_stream());
  reset.bytes(2, "data: x\n\n");
  reset.lose(3);
  CHECK(reset.final_code() == "stream_interrupted");
}

TEST_CASE("after the terminal marker the answer is complete, whatever becomes of the leg") {
  const std::string answer = std::string(kDelta0) + "data: {\"seq\":1,\"done\":true}\n\n";
  for (int how = 0; how < 4; ++how) {
    Hand hand;
    hand.respond(1, Hand::event_stream());
    hand.bytes(2, answer);
    CHECK_FALSE(hand.seen.over());
    if (how == 0) hand.recoverer.handle_end(3, 1);
    if (how == 1) hand.lose(3);
    if (how == 2) hand.recoverer.handle_timeout(2 + Recoverer::kEndGraceMs - 1);
    if (how == 2) CHECK_FALSE(hand.seen.over());
    if (how >= 2) hand.recoverer.handle_timeout(2 + Recoverer::kEndGraceMs);
    CHECK(hand.seen.end == RecoveredEnd::Complete);
    CHECK(hand.seen.reason == "terminal-marker");
    CHECK(hand.seen.disconnects.size() == (how >= 2 ? 1 : 0));
    CHECK(hand.recoverer.next_deadline() == kNever);
  }
}

TEST_CASE("what follows the terminal marker in the same body is no part of the answer") {
  RecovererOptions options;
  options.dialect = dialect::Dialect::OpenaiChat;
  const std::string text = R"(data: {"choices":[{"index":0,"delta":{"content":"a"}}]})"
                           "\n\n";
  Hand hand(options);
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, text + "data: [DONE]\n\n" + text);
  hand.bytes(3, text);
  hand.recoverer.handle_end(4, 1);
  CHECK(hand.seen.end == RecoveredEnd::Complete);
  CHECK(hand.seen.text() == "a");
  CHECK(hand.seen.events.size() == 2);

  Hand numbered;
  numbered.respond(1, Hand::event_stream());
  numbered.bytes(2, std::string(kDelta0) + "data: {\"seq\":1,\"done\":true}\n\n" + std::string(kDelta2));
  numbered.recoverer.handle_end(3, 1);
  CHECK(numbered.seen.end == RecoveredEnd::Complete);
  CHECK(numbered.seen.text() == "a");
}

TEST_CASE("a terminal marker behind a hole ends nothing") {
  for (const bool clean : {true, false}) {
    Hand hand;
    hand.respond(1, Hand::event_stream());
    hand.bytes(2, std::string(kDelta0) + "data: {\"seq\":2,\"done\":true}\n\n");
    CHECK(hand.recoverer.state() == RecovererState::Compensating);
    hand.next_attempt();
    hand.respond(300, Hand::event_stream());
    if (clean) {
      hand.recoverer.handle_end(301, 2);
    } else {
      hand.lose(301);
    }
    CHECK_FALSE(hand.seen.over());
    hand.next_attempt();
    hand.respond(9000, Hand::event_stream());
    hand.bytes(9001, std::string(kDelta1) + "data: {\"seq\":2,\"done\":true}\n\n");
    hand.recoverer.handle_end(9002, 3);
    CHECK(hand.seen.end == RecoveredEnd::Complete);
    CHECK(hand.seen.text() == "ab");
  }
}

TEST_CASE("a last event without its blank line counts where it ends the answer") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, std::string(kDelta0) + "data: {\"seq\":1,\"done\":true}");
  hand.recoverer.handle_end(3, 1);
  CHECK(hand.seen.end == RecoveredEnd::Complete);
  CHECK(hand.seen.events.size() == 2);

  Hand cut;
  cut.respond(1, Hand::event_stream());
  cut.bytes(2, std::string(kDelta0) + "data: {\"seq\":1,\"delta\":\"b\"}\n");
  cut.recoverer.handle_end(3, 1);
  CHECK(cut.recoverer.state() == RecovererState::Compensating);
  CHECK(cut.seen.text() == "a");
}

TEST_CASE("an error event is delivered, and final") {
  RecovererOptions options;
  options.dialect = dialect::Dialect::OpenaiChat;
  const std::string error =
      "data: {\"error\":{\"message\":\"too much\",\"type\":\"server_error\",\"code\":\"overloaded\"}}\n\n";
  Hand hand(options);
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, chat_blocks({})[0] + "\n" + error);
  REQUIRE(hand.seen.failure);
  CHECK(hand.seen.failure->code == "overloaded");
  CHECK(hand.seen.failure->message == "too much");
  CHECK(hand.seen.failure->in_band);
  CHECK(hand.seen.events.size() == 2);
  CHECK(hand.seen.events.back().kind == dialect::Kind::Error);
  CHECK(hand.seen.disconnects == std::vector<unsigned>{1});

  // A proxy has the last word on it: it may be the ending of a cut answer.
  for (const std::string_view end : {"failed", "truncated"}) {
    Hand named(options);
    named.respond(1, Hand::named());
    named.bytes(2, "id: e-0\n" + error);
    CHECK_FALSE(named.seen.over());
    named.bytes(3, ": tidemark end=" + std::string(end) + " reason=upstream-error\n\n");
    CHECK(named.seen.failure.has_value() == (end == "failed"));
    CHECK(named.seen.end.has_value() == (end == "truncated"));
  }
  // Without that word the stream is asked for it; the error stands if nobody answers.
  Hand silent(options);
  silent.respond(1, Hand::named());
  silent.bytes(2, "id: e-0\n" + error);
  for (int i = 0; i < 5; ++i) {
    REQUIRE_FALSE(silent.seen.over());
    silent.lose(3 + 10000 * i);
    silent.next_attempt();
  }
  CHECK(silent.final_code() == "overloaded");
  CHECK(silent.seen.failure->in_band);
  Hand lingering(options);
  lingering.respond(1, Hand::named());
  lingering.bytes(2, "id: e-0\n" + error);
  lingering.recoverer.handle_timeout(2 + Recoverer::kEndGraceMs);
  CHECK(lingering.final_code() == "overloaded");
  CHECK(lingering.seen.disconnects == std::vector<unsigned>{1});
}

TEST_CASE("an event beyond the bound is final") {
  RecovererOptions options;
  options.max_event_bytes = 64;
  Hand fits(options);
  fits.respond(1, Hand::event_stream());
  fits.bytes(2, "data: " + std::string(57, 'x') + "\n\n");
  REQUIRE(fits.seen.events.size() == 1);
  CHECK(fits.seen.events[0].data.size() == 57);
  Hand hand(options);
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, "data: " + std::string(58, 'x') + "\n\n");
  CHECK(hand.final_code() == "event_too_large");
  CHECK(hand.seen.disconnects == std::vector<unsigned>{1});
}

TEST_CASE("keepalives that nobody counts are not delivered, those of the upstream are") {
  RecovererOptions options;
  options.dialect = dialect::Dialect::AnthropicMessages;
  const std::string ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
  const std::string text =
      "event: content_block_delta\ndata: "
      "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
      "\"x\"}}\n\n";
  Hand named(options);
  named.respond(1, Hand::named());
  named.bytes(2, "id: e-0\n" + text + ping + "id: e-1\n" + ping);
  REQUIRE(named.seen.events.size() == 2);
  CHECK(named.seen.events[1].seq == 1);

  Hand direct(options);
  direct.respond(1, Hand::event_stream());
  direct.bytes(2, text + ping + "event: ping\ndata:\n\n");
  CHECK(direct.seen.events.size() == 2);
}

TEST_CASE("inputs about a leg that has gone are ignored") {
  Hand hand;
  hand.lose(1);
  hand.recoverer.handle_failure(2, 1, "again");
  CHECK(hand.seen.retries.size() == 1);
  hand.next_attempt();
  hand.recoverer.handle_response(200, 1, Hand::event_stream());
  hand.recoverer.handle_failure(200, 1, "again");
  hand.recoverer.handle_end(200, 1);
  CHECK(hand.recoverer.state() == RecovererState::Compensating);
  hand.respond(201, Hand::event_stream());
  hand.recoverer.handle_bytes(202, 1, kDelta0);
  CHECK(hand.seen.events.empty());
  hand.bytes(203, kDelta0);
  hand.respond(204, Hand::status(500));  // a second head
  CHECK(hand.recoverer.state() == RecovererState::Streaming);
}

TEST_CASE("abort leaves without a word, stop says stopped; both are the end") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, kDelta0);
  hand.recoverer.abort(3);
  CHECK_FALSE(hand.seen.over());
  CHECK(hand.recoverer.state() == RecovererState::Finalized);
  CHECK(hand.seen.disconnects == std::vector<unsigned>{1});
  hand.bytes(4, kDelta1);
  hand.recoverer.abort(5);
  hand.recoverer.stop(5);
  hand.recoverer.start(5);
  CHECK(hand.seen.events.size() == 1);
  CHECK_FALSE(hand.seen.over());

  Hand stopped;
  stopped.respond(1, Hand::event_stream());
  stopped.bytes(2, kDelta0);
  stopped.lose(3);
  stopped.recoverer.stop(4);
  CHECK(stopped.seen.end == RecoveredEnd::Stopped);
  CHECK(stopped.seen.reason == "client-stop");
  CHECK(stopped.recoverer.next_deadline() == kNever);

  Recorder seen;
  Recoverer unborn({}, seen);
  unborn.abort(0);
  unborn.start(1);
  CHECK(seen.connects.empty());
}

TEST_CASE("states are told in order") {
  const Server server(ResumeMode::Tidemark, chat_blocks({"a", "b"}));
  World world(server, {}, {{.kind = Fate::Kind::Refused}, {.kind = Fate::Kind::Reset, .after = 500}});
  world.run();
  using S = RecovererState;
  CHECK(world.seen.states == std::vector<S>{S::Handshaking, S::Compensating, S::Merging, S::Streaming, S::Compensating,
                                            S::Merging, S::Streaming, S::Finalized});
}

}  // namespace
}  // namespace tidemark::test
