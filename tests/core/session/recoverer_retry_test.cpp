// What loses a leg, and how long a retry waits: statuses, delays, budgets, heartbeats.
#include <string>
#include <vector>

#include "tests/core/session/recoverer_hand.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("names go both ways") {
  for (const ResumeMode mode : {ResumeMode::Auto, ResumeMode::Tidemark, ResumeMode::Seq, ResumeMode::LastEventId,
                                ResumeMode::Tail, ResumeMode::None}) {
    CHECK(session::resume_mode_from_name(session::name(mode)) == mode);
  }
  CHECK_FALSE(session::resume_mode_from_name("tails"));
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
  CHECK(hand.recoverer.next_deadline() == 602000);
  hand.recoverer.handle_timeout(900000);  // the machine slept
  CHECK(hand.recoverer.state() == RecovererState::Streaming);
  CHECK(hand.recoverer.next_deadline() == 902000);

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

TEST_CASE("the heartbeat is judged from the request on, a first one's and a resume's alike; 0 turns judging off") {
  Hand hand;
  CHECK(hand.recoverer.next_deadline() == 20000);
  hand.respond(15000, Hand::event_stream());
  CHECK(hand.recoverer.next_deadline() == 35000);
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

}  // namespace
}  // namespace tidemark::test
