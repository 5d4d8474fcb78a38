// Keys that the upstream refuses, patterns of the configuration, and what is told of a stream at its end.
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

using session::CommitCause;
using session::Loss;

constexpr const char* kJson = "application/json";
constexpr const char* kRefusal = R"({"error":{"message":"wrong key","type":"invalid_request_error"}})";

RelayOptions chat() { return relay_options(dialect::Dialect::OpenaiChat); }

TEST_CASE("relay: a refused key is replaced by the next one at once, however often that is") {
  for (const int status : {401, 402, 403, 429}) {
    CAPTURE(status);
    RelayOptions options = chat();
    options.attempts = 1;
    RelayWorld world(options);
    world.start();
    for (unsigned key = 1; key <= 5; ++key) {
      world.head_to_key(status, kJson, true).bytes(kRefusal).eof();
      REQUIRE(world.attempt() == key + 1);
      CHECK(world.sent.back() == world.now);
      CHECK(world.key_verdicts.at(key) == kRefusal);
      CHECK(world.outcomes.at(key) == retry::Outcome::Neutral);
    }
    const std::string whole = samples()[0].whole();
    world.head().bytes(whole).eof();
    CHECK(world.body() == whole);
  }
}

TEST_CASE("relay: with every key refused the last real error is handed on") {
  RelayWorld world(chat());
  world.start().head_to_key(401, kJson, true).bytes(kRefusal).eof();
  world.head_to_key(403, kJson, false).bytes("no").eof();
  CHECK(world.passed == "no");
  CHECK(world.passed_attempt == 2);
  CHECK(world.key_verdicts.size() == 2);
}

TEST_CASE("relay: the client's own credential is no key of ours") {
  RelayWorld world(chat());
  world.start().head(401, kJson).bytes(kRefusal).eof();
  CHECK(world.passed == kRefusal);
  CHECK(world.key_verdicts.empty());
}

TEST_CASE("relay: with the last key limited, a limit is waited out like any passing status") {
  RelayWorld world(chat());
  world.start().head_to_key(429, kJson, false, "7").bytes("{}").eof();
  CHECK(world.key_verdicts.size() == 1);
  world.wait(6999);
  CHECK(world.attempt() == 1);
  world.wait(1);
  CHECK(world.attempt() == 2);
}

TEST_CASE("relay: what is no verdict on the key is told as none") {
  const auto verdicts = [](auto play) {
    RelayWorld world(chat());
    world.start();
    play(world);
    return world.key_verdicts.size();
  };
  CHECK(verdicts([](RelayWorld& w) {
          w.head_to_key(403, "text/html", true).bytes("<html>/punish?").eof();
          CHECK(w.refused);
        }) == 0);
  CHECK(verdicts([](RelayWorld& w) { w.head_to_key(200, "text/event-stream", true).eof(); }) == 0);
  CHECK(verdicts([](RelayWorld& w) { w.head_to_key(503, kJson, true).bytes("{}").eof(); }) == 0);
}

TEST_CASE("relay: a request that no other key may take is told so when the connection breaks in the refusal") {
  RelayWorld world(chat());
  world.start().head_to_key(401, kJson, true).bytes("{\"err").reset();
  CHECK(world.attempt() == 2);
  CHECK(world.key_verdicts.count(1) == 1);
}

TEST_CASE("relay: challenge_patterns add to what is taken for a challenge") {
  const std::vector<std::string> patterns{"slide to verify", "E_ROBOT"};
  RelayOptions options = chat();
  options.challenge_patterns = &patterns;
  const auto refused = [&options](auto play) {
    RelayWorld world(options);
    world.start();
    play(world);
    return world.refused && world.relay.error().code == "upstream_challenge" && world.attempt() == 1;
  };
  CHECK(refused([](RelayWorld& w) { w.head(200, "text/html").bytes("<p>please slide to verify").eof(); }));
  CHECK(refused([](RelayWorld& w) { w.head(200, kJson).bytes(R"({"code":"E_ROBOT"})").eof(); }));
  CHECK(refused([](RelayWorld& w) { w.head(500, kJson).bytes(R"({"code":"E_ROBOT"})").eof(); }));
  CHECK(refused([](RelayWorld& w) { w.head().data(R"({"code":"E_ROBOT"})"); }));
  CHECK_FALSE(refused([](RelayWorld& w) { w.head(200, "text/html").bytes("<p>please verify").eof(); }));
  // Once there is content, words are words.
  RelayWorld world(options);
  const RelaySample sample = samples()[0];
  world.start()
      .head()
      .bytes(sample.preamble + sample.text)
      .data(R"({"id":"c1","choices":[{"index":0,"delta":{"content":"slide to verify"}}]})");
  CHECK_FALSE(world.refused);
  CHECK_FALSE(world.end);
}

TEST_CASE("relay: every attempt that was not the answer is told with its cause") {
  const RelaySample sample = samples()[0];
  RelayOptions options = chat();
  options.stream_empty_retry_max = 2;
  RelayWorld world(options);
  world.start().unreachable().wait(2000);
  world.head(503, kJson).bytes("{}").eof().wait(2000);
  world.head().eof();
  world.wait(30000);
  world.head().bytes(sample.preamble + sample.text).eof();
  const auto& lost = world.relay.lost();
  REQUIRE(lost.size() == 5);
  const std::vector<std::pair<Loss, int>> expected{
      {Loss::Unreachable, 0}, {Loss::Status, 503}, {Loss::Empty, 200}, {Loss::Silent, 0}, {Loss::Cut, 200}};
  for (unsigned i = 0; i < lost.size(); ++i) {
    CHECK(lost[i].attempt == i + 1);
    CHECK(lost[i].loss == expected[i].first);
    CHECK(lost[i].status == expected[i].second);
  }
}

TEST_CASE("relay: what let the 200 go out is told") {
  const RelaySample sample = samples()[0];
  const auto cause = [](auto play) {
    RelayWorld world(chat());
    world.start();
    play(world);
    return world.relay.commit_cause();
  };
  CHECK(cause([](RelayWorld&) {}) == CommitCause::None);
  CHECK(cause([&](RelayWorld& w) { w.head().bytes(sample.whole()); }) == CommitCause::Content);
  CHECK(cause([&](RelayWorld& w) { w.head().bytes(sample.preamble).wait(2000); }) == CommitCause::Progress);
  CHECK(cause([&](RelayWorld& w) { w.wait(25000); }) == CommitCause::HoldMax);
  CHECK(cause([&](RelayWorld& w) { w.stop(); }) == CommitCause::Stop);
}

}  // namespace
}  // namespace tidemark::test
