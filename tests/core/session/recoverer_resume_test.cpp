// Where a new leg goes on, and what can't be joined on to what the page has.
#include <string>
#include <vector>

#include "tests/core/session/recoverer_hand.hpp"

namespace tidemark::test {
namespace {

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

TEST_CASE("another epoch: the answer goes on, and is resumed by the one of the last event or response") {
  // Another replica has taken the stream over: what it had of the old epoch comes under the old ids.
  Hand hand;
  hand.respond(1, Hand::named("7"));
  hand.bytes(2, "id: 7-0\ndata: a\n\n");
  hand.lose(3);
  hand.next_attempt();
  CHECK(hand.seen.connects.back().epoch == "7");
  hand.respond(200, Hand::named("8"));
  hand.lose(201);
  hand.next_attempt();
  CHECK(hand.seen.connects.back().epoch == "8");
  CHECK(hand.seen.connects.back().resume_seq == 0);
  hand.respond(400, Hand::named("8"));
  hand.bytes(401, "id: 7-1\ndata: b\n\n");
  hand.lose(402);
  hand.next_attempt();
  CHECK(hand.seen.connects.back().epoch == "7");
  CHECK(hand.seen.connects.back().resume_seq == 1);
  hand.respond(600, Hand::named("8"));
  // What comes again says nothing of where this is.
  hand.bytes(601, "id: 8-2\ndata: c\n\nid: 7-1\ndata: b\n\n");
  hand.lose(602);
  hand.next_attempt();
  CHECK(hand.seen.connects.back().epoch == "8");
  CHECK(hand.seen.connects.back().resume_seq == 2);
  CHECK(hand.seen.data() == "abc");

  Hand refused;
  refused.respond(1, Hand::named("7"));
  refused.bytes(2, "id: 7-0\ndata: a\n\n");
  refused.lose(3);
  refused.next_attempt();
  ResponseFacts conflict;
  conflict.status = 409;
  refused.respond(200, conflict);
  CHECK(refused.final_code() == "http_status");
  CHECK(refused.seen.data() == "a");
}

TEST_CASE("before content an answer is taken anew, whatever its epoch") {
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

}  // namespace
}  // namespace tidemark::test
