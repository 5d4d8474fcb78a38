// The client leg's rules, one by one: what loses a leg, how long a retry waits, what is final, how a stream ends.
#include <string>
#include <vector>

#include "tests/core/session/recoverer_world.hpp"

namespace tidemark::test {
namespace {

using session::RecoveredEnd;
using session::ResponseFacts;

// One recoverer, driven by hand.
struct Hand {
  explicit Hand(RecovererOptions options = {}) : recoverer(options, seen) { recoverer.start(0); }

  Recorder seen;
  Recoverer recoverer;

  static ResponseFacts event_stream() {
    ResponseFacts facts;
    facts.status = 200;
    facts.content_type = "text/event-stream";
    return facts;
  }
  static ResponseFacts named(std::string_view epoch = "e") {
    ResponseFacts facts = event_stream();
    facts.tidemark_stream = "s";
    facts.tidemark_epoch = epoch;
    return facts;
  }
  static ResponseFacts status(int code, std::string_view retry_after = {}) {
    ResponseFacts facts;
    facts.status = code;
    facts.content_type = "application/json";
    facts.retry_after = retry_after;
    return facts;
  }

  unsigned attempt() const { return recoverer.attempts(); }
  void respond(TimeMs now, const ResponseFacts& facts) { recoverer.handle_response(now, attempt(), facts); }
  void bytes(TimeMs now, std::string_view chunk) { recoverer.handle_bytes(now, attempt(), chunk); }
  void lose(TimeMs now) { recoverer.handle_failure(now, attempt(), "Load failed"); }
  void next_attempt() { recoverer.handle_timeout(recoverer.next_deadline()); }
  std::string final_code() const { return seen.failure ? seen.failure->code : ""; }
};

constexpr std::string_view kDelta0 = "data: {\"seq\":0,\"delta\":\"a\"}\n\n";
constexpr std::string_view kDelta1 = "data: {\"seq\":1,\"delta\":\"b\"}\n\n";
constexpr std::string_view kDelta2 = "data: {\"seq\":2,\"delta\":\"c\"}\n\n";

TEST_CASE("names go both ways") {
  for (const ResumeMode mode :
       {ResumeMode::Auto, ResumeMode::Tidemark, ResumeMode::Seq, ResumeMode::LastEventId, ResumeMode::None}) {
    CHECK(session::resume_mode_from_name(session::name(mode)) == mode);
  }
  CHECK_FALSE(session::resume_mode_from_name("tail"));
}

TEST_CASE("statuses: five lose the leg, the others are final") {
  for (const int code : {429, 502, 503, 504, 529}) {
    Hand hand;
    hand.respond(1, Hand::status(code));
    INFO(code);
    CHECK_FALSE(hand.seen.over());
    REQUIRE(hand.seen.retries.size() == 1);
    CHECK(hand.seen.retries[0].cause == LossCause::Status);
    CHECK(hand.seen.disconnects == std::vector<unsigned>{1});
  }
  for (const int code : {301, 400, 401, 403, 404, 408, 409, 410, 422, 500, 501}) {
    Hand hand;
    hand.respond(1, Hand::status(code, "3"));
    INFO(code);
    REQUIRE(hand.seen.failure);
    CHECK(hand.seen.failure->code == "http_status");
    CHECK(hand.seen.failure->status == code);
    CHECK(hand.seen.failure->retry_after_ms == 3000);
    CHECK(hand.seen.failure->attempts == 1);
    // The response is the owner's.
    CHECK(hand.seen.disconnects.empty());
  }
}

TEST_CASE("a server that says not to retry is not asked again") {
  Hand hand;
  ResponseFacts facts = Hand::status(503);
  facts.should_not_retry = true;
  hand.respond(1, facts);
  CHECK(hand.final_code() == "http_status");
}

TEST_CASE("a Retry-After is a lower bound, for a wake too, and too long a one is final") {
  Hand hand;
  hand.respond(100, Hand::status(429, "10"));
  REQUIRE(hand.seen.retries.size() == 1);
  CHECK(hand.seen.retries[0].delay_ms == 10000);
  CHECK(hand.recoverer.next_deadline() == 10100);
  hand.recoverer.wake(5000);
  CHECK(hand.attempt() == 1);
  CHECK(hand.recoverer.next_deadline() == 10100);
  hand.recoverer.wake(10100);
  CHECK(hand.attempt() == 2);

  Hand late;
  late.respond(100, Hand::status(429, "10.001"));
  REQUIRE(late.seen.failure);
  CHECK(late.seen.failure->code == "http_status");
  CHECK(late.seen.failure->status == 429);
  CHECK(late.seen.failure->retry_after_ms == 10001);
  CHECK(late.seen.disconnects.empty());
}

TEST_CASE("delays: at once after progress or a first fault of the network, by backoff otherwise") {
  RecovererOptions options;
  options.backoff.jitter_ms = 0;
  bool varied = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    options.seed = seed;
    Hand hand(options);
    hand.lose(1);
    hand.next_attempt();
    hand.lose(1000);
    hand.next_attempt();
    hand.lose(10000);
    hand.next_attempt();
    hand.respond(20000, Hand::event_stream());
    hand.bytes(20001, kDelta0);
    hand.lose(20002);
    hand.next_attempt();
    hand.lose(30000);
    const auto& retries = hand.seen.retries;
    REQUIRE(retries.size() == 5);
    CHECK(retries[0].delay_ms >= 0);
    CHECK(retries[0].delay_ms < 100);
    CHECK(retries[1].delay_ms == 1000);
    CHECK(retries[2].delay_ms == 1800);
    CHECK(retries[3].delay_ms < 100);
    CHECK(retries[4].delay_ms == 1000);
    varied = varied || retries[0].delay_ms != retries[3].delay_ms;
  }
  CHECK(varied);
}

TEST_CASE("retries run out after max_retries attempts without progress, and progress fills them up") {
  Hand hand;
  for (int i = 0; i < 4; ++i) {
    hand.lose(hand.recoverer.next_deadline());
    REQUIRE_FALSE(hand.seen.over());
    hand.next_attempt();
  }
  hand.lose(100000);
  REQUIRE(hand.seen.failure);
  CHECK(hand.seen.failure->code == "network_error");
  CHECK(hand.seen.failure->message == "Load failed");
  CHECK(hand.seen.failure->attempts == 5);

  Hand lucky;
  TimeMs now = 1;
  for (int i = 0; i < 20; ++i) {
    lucky.respond(now, Hand::event_stream());
    lucky.bytes(now, "data: {\"seq\":" + std::to_string(i) + ",\"delta\":\"x\"}\n\n");
    lucky.lose(now);
    REQUIRE_FALSE(lucky.seen.over());
    now = lucky.recoverer.next_deadline();
    lucky.next_attempt();
    if (i % 2 == 0) continue;
    lucky.lose(now);
    now = lucky.recoverer.next_deadline();
    lucky.next_attempt();
  }
  CHECK(lucky.seen.text().size() == 20);

  RecovererOptions none;
  none.max_retries = 0;
  Hand once(none);
  once.lose(1);
  CHECK(once.final_code() == "network_error");
}

TEST_CASE("duplicates are no progress") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, kDelta0);
  for (int i = 0; i < 4; ++i) {
    hand.lose(1000 + 20000 * i);
    REQUIRE_FALSE(hand.seen.over());
    hand.next_attempt();
    hand.respond(hand.recoverer.next_deadline() - 1, Hand::event_stream());
    hand.bytes(hand.recoverer.next_deadline() - 1, kDelta0);
  }
  hand.lose(1000000);
  CHECK(hand.final_code() == "network_error");
  CHECK(hand.seen.events.size() == 1);
}

TEST_CASE("a heartbeat: any byte, comments too; silence loses the leg") {
  Hand hand;
  hand.respond(100, Hand::event_stream());
  hand.bytes(200, kDelta0);
  CHECK(hand.recoverer.next_deadline() == 20200);
  hand.bytes(15000, ": keepalive\n\n");
  CHECK(hand.recoverer.next_deadline() == 35000);
  hand.recoverer.handle_timeout(34999);
  CHECK(hand.recoverer.state() == RecovererState::Streaming);
  hand.recoverer.handle_timeout(35000);
  CHECK(hand.recoverer.state() == RecovererState::Compensating);
  CHECK(hand.seen.disconnects == std::vector<unsigned>{1});
  REQUIRE(hand.seen.retries.size() == 1);
  CHECK(hand.seen.retries[0].cause == LossCause::Heartbeat);
}

TEST_CASE("no heartbeat is judged while the page is hidden, nor on a timer that comes late") {
  Hand hand;
  hand.respond(0, Hand::event_stream());
  hand.recoverer.set_hidden(1000, true);
  CHECK(hand.recoverer.next_deadline() == kNever);
  hand.recoverer.handle_timeout(500000);
  CHECK(hand.recoverer.state() == RecovererState::Streaming);
  hand.recoverer.set_hidden(600000, false);
  CHECK(hand.recoverer.next_deadline() == 620000);
  hand.recoverer.handle_timeout(900000);  // the machine slept
  CHECK(hand.recoverer.state() == RecovererState::Streaming);
  CHECK(hand.recoverer.next_deadline() == 920000);

  // A leg that is connected while hidden is not judged either.
  hand.bytes(900001, kDelta0);
  hand.recoverer.set_hidden(900002, true);
  hand.lose(900003);
  hand.next_attempt();
  CHECK(hand.attempt() == 2);
  CHECK(hand.recoverer.next_deadline() == kNever);
  hand.respond(900500, Hand::event_stream());
  CHECK(hand.recoverer.next_deadline() == kNever);
}

TEST_CASE("a first head may take twice the heartbeat, a resume's head once; 0 turns judging off") {
  Hand hand;
  CHECK(hand.recoverer.next_deadline() == 40000);
  hand.respond(30000, Hand::event_stream());
  hand.bytes(30000, kDelta0);
  hand.lose(30001);
  const TimeMs connected = hand.recoverer.next_deadline();
  hand.next_attempt();
  CHECK(hand.recoverer.next_deadline() == connected + 20000);

  RecovererOptions options;
  options.heartbeat_timeout_ms = 0;
  Hand patient(options);
  CHECK(patient.recoverer.next_deadline() == kNever);
}

TEST_CASE("wake sends a waiting retry off and leaves a healthy leg alone") {
  Hand hand;
  hand.respond(1, Hand::status(503));
  hand.recoverer.wake(2);
  CHECK(hand.attempt() == 2);
  hand.recoverer.wake(3);
  CHECK(hand.attempt() == 2);
  hand.respond(4, Hand::event_stream());
  hand.recoverer.wake(5);
  CHECK(hand.attempt() == 2);
  CHECK(hand.seen.disconnects == std::vector<unsigned>{1});
}

TEST_CASE("content and nothing to resume by: a lost leg is final") {
  for (const ResumeMode mode : {ResumeMode::Auto, ResumeMode::None}) {
    RecovererOptions options;
    options.resume = mode;
    options.dialect = dialect::Dialect::OpenaiChat;
    const Server server(ResumeMode::None, chat_blocks({"some", "text"}));
    World world(server, options, {{.kind = Fate::Kind::Reset, .after = 350}});
    world.run();
    REQUIRE(world.seen.failure);
    CHECK(world.seen.failure->code == "stream_interrupted");
    CHECK(world.seen.failure->message == "terminated");
    CHECK(world.seen.text() == "some");
    CHECK(world.seen.connects.size() == 1);
  }
  // `none` holds where the response shows numbers.
  RecovererOptions options;
  options.resume = ResumeMode::None;
  Hand hand(options);
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, kDelta0);
  hand.lose(3);
  CHECK(hand.final_code() == "stream_interrupted");
}

TEST_CASE("a resume says where the reader is: tidemark") {
  Hand hand;
  hand.respond(1, Hand::named("abc"));
  hand.bytes(2, "id: abc-0\ndata: {\"seq\":7,\"delta\":\"a\"}\n\nid: abc-1\ndata: {\"seq\":8,\"delta\":\"b\"}\n\n");
  CHECK(hand.recoverer.mode() == ResumeMode::Tidemark);
  hand.lose(3);
  hand.next_attempt();
  const Connect& connect = hand.seen.connects.at(1);
  CHECK(connect.resume_seq == 1);
  CHECK(connect.epoch == "abc");
  CHECK(connect.last_event_id.empty());
  CHECK_FALSE(connect.body_fields);
}

TEST_CASE("a resume says where the reader is: seq") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, "data: {\"seq\":0,\"delta\":\"ab\"}\n\ndata: {\"seq\":1,\"delta\":\"c\"}\n\n");
  hand.lose(3);
  hand.next_attempt();
  const Connect& connect = hand.seen.connects.at(1);
  CHECK(connect.resume_seq == 1);
  CHECK(connect.body_fields);
  CHECK(connect.received_length == 3);
  CHECK(connect.tail_fingerprint == 0xe71fa2190541574bu);
  CHECK(connect.epoch.empty());
}

TEST_CASE("a resume says where the reader is: last-event-id") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, "id: x\ndata: one\n\nid: y\ndata: two\n\n");
  CHECK(hand.recoverer.mode() == ResumeMode::LastEventId);
  hand.lose(3);
  hand.next_attempt();
  CHECK(hand.seen.connects.at(1).last_event_id == "y");
  CHECK_FALSE(hand.seen.connects.at(1).resume_seq);
}

TEST_CASE("events without an id of their own are not delivered twice") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, "id: x\ndata: one\n\ndata: two\n\ndata: three\n\n");
  hand.lose(3);
  hand.next_attempt();
  hand.respond(200, Hand::event_stream());
  hand.bytes(201, "data: two\n\ndata: three\n\ndata: four\n\nid: z\ndata: five\n\n");
  CHECK(hand.seen.data() == "onetwothreefourfive");
  REQUIRE(hand.seen.seams.size() == 1);
  CHECK(hand.seen.seams[0].duplicates == 2);
  CHECK(hand.seen.seams[0].after_seq == 2);
}

TEST_CASE("ids that name no position are not resumed by") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, "id: answer\ndata: one\n\nid: answer\ndata: two\n\n");
  hand.lose(3);
  CHECK(hand.final_code() == "stream_interrupted");
}

TEST_CASE("a server that begins again instead of resuming is found out") {
  Hand ids;
  ids.respond(1, Hand::event_stream());
  ids.bytes(2, "id: 1\ndata: one\n\nid: 2\ndata: two\n\n");
  ids.lose(3);
  ids.next_attempt();
  ids.respond(200, Hand::event_stream());
  ids.bytes(201, "id: 1\ndata: uno\n\n");
  CHECK(ids.final_code() == "resume_mismatch");
  CHECK(ids.seen.data() == "onetwo");

  // With numbers the same answer is joined on, and another one refused.
  for (const bool same : {true, false}) {
    Hand seq;
    seq.respond(1, Hand::event_stream());
    seq.bytes(2, std::string(kDelta0) + std::string(kDelta1));
    seq.lose(3);
    seq.next_attempt();
    seq.respond(200, Hand::event_stream());
    seq.bytes(201, kDelta0);
    seq.bytes(202, same ? kDelta1 : "data: {\"seq\":1,\"delta\":\"B\"}\n\n");
    seq.bytes(203, kDelta2);
    CHECK(seq.seen.text() == (same ? "abc" : "ab"));
    CHECK(seq.final_code() == (same ? "" : "resume_mismatch"));
  }
}

TEST_CASE("another epoch: final after content, taken anew before it") {
  Hand hand;
  hand.respond(1, Hand::named("one"));
  hand.bytes(2, "id: one-0\ndata: x\n\n");
  hand.lose(3);
  hand.next_attempt();
  hand.respond(200, Hand::named("two"));
  CHECK(hand.final_code() == "resume_mismatch");
  CHECK(hand.seen.disconnects == std::vector<unsigned>{2});

  Hand by_id;
  by_id.respond(1, Hand::named(""));
  by_id.bytes(2, "id: one-0\ndata: x\n\nid: two-1\ndata: y\n\n");
  CHECK(by_id.final_code() == "resume_mismatch");
  CHECK(by_id.seen.data() == "x");

  Hand early;
  early.respond(1, Hand::named("one"));
  early.bytes(2, ": hello\n\n");
  early.lose(3);
  early.next_attempt();
  CHECK_FALSE(early.seen.connects.at(1).resume_seq);
  early.respond(200, Hand::named("two"));
  early.bytes(201, "id: two-0\ndata: y\n\n");
  CHECK(early.seen.data() == "y");
}

TEST_CASE("a hole loses the leg before anything beyond it is delivered") {
  Hand hand;
  hand.respond(1, Hand::event_stream());
  hand.bytes(2, std::string(kDelta0) + std::string(kDelta2));
  CHECK(hand.seen.text() == "a");
  REQUIRE(hand.seen.retries.size() == 1);
  CHECK(hand.seen.retries[0].cause == LossCause::Hole);
  CHECK(hand.seen.disconnects == std::vector<unsigned>{1});
}

TEST_CASE("content that does not say where it belongs is not joined on") {
  Hand hand;
  hand.respond(1, Hand::named());
  hand.bytes(2, "id: e-0\ndata: x\n\n");
  hand.lose(3);
  hand.next_attempt();
  hand.respond(200, Hand::event_stream());
  hand.bytes(201, "data: who am I\n\n");
  CHECK(hand.final_code() == "resume_mismatch");
  CHECK(hand.seen.data() == "x");
}

TEST_CASE("2xx that is no event stream: the page's on the first attempt, a lost leg on a retry") {
  ResponseFacts html = Hand::event_stream();
  html.content_type = "text/html";
  Hand first;
  first.respond(1, html);
  CHECK(first.final_code() == "not_event_stream");
  CHECK(first.seen.disconnects.empty());

  Hand retry;
  retry.lose(1);
  retry.next_attempt();
  retry.respond(200, html);
  REQUIRE(retry.seen.retries.size() == 2);
  CHECK(retry.seen.retries[1].cause == LossCause::NotEventStream);

  for (const std::string_view type : {"Text/Event-Stream", "text/event-stream;charset=utf-8", "text/event-stream "}) {
    Hand hand;
    ResponseFacts facts = Hand::event_stream();
    facts.content_type = type;
    hand.respond(1, facts);
    CHECK(hand.recoverer.state() == RecovererState::Streaming);
  }
  Hand longer;
  html.content_type = "text/event-streams";
  longer.respond(1, html);
  CHECK(longer.final_code() == "not_event_stream");
}

TEST_CASE("the proxy's last comment says how the stream ended") {
  const auto ended_by = [](std::string_view comment) {
    Hand hand;
    hand.respond(1, Hand::named());
    hand.bytes(2, "id: e-0\ndata: x\n\n");
    hand.bytes(3, comment);
    CHECK(hand.seen.disconnects.size() == (hand.seen.over() ? 1 : 0));
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
