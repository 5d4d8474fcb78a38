// The breaker through real sockets (contract § 4.1): strikes, refusals without a request, one probe.
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

namespace tidemark::test {
namespace {

const std::string kOneStrike = R"("breaker":{"strikes":1,"open_seconds":1})";

Answer challenge() {
  Answer answer;
  answer.headers = {{"Content-Type", "text/html"}};
  answer.pieces = {"<html><script src=\"/punish?x5secdata=1\">"};
  return answer;
}

Reply ask(World& world) {
  HttpClient client = world.connect();
  return client.ask("POST", kChatPath, {}, kChatBody);
}

std::string breaker_of(World& world) {
  HttpClient client = world.connect();
  return nlohmann::json::parse(client.ask("GET", "/tidemark/status").body).at("upstreams")[0].at("breaker");
}

void wait_half_open(World& world) {
  REQUIRE(world.until([&] { return breaker_of(world) == "half-open"; }));
}

void raise_file_limit() {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

TEST_CASE("breaker: so many challenges in a row open it, and then nothing goes upstream") {
  World world(R"("breaker":{"strikes":2,"open_seconds":50})");
  world.upstream_answers({challenge(), answer_with(chat_pieces(1)), challenge(), challenge(), Answer{}});
  CHECK(ask(world).status == 503);
  CHECK(ask(world).status == 200);  // clears the strike
  CHECK(ask(world).status == 503);
  CHECK(breaker_of(world) == "closed");
  CHECK(ask(world).status == 503);
  CHECK(breaker_of(world) == "open");
  for (int i = 0; i < 3; ++i) {
    const Reply refused = ask(world);
    CHECK(refused.status == 503);
    const auto error = nlohmann::json::parse(refused.body).at("error");
    CHECK(error.at("code") == "upstream_paused");
    const int left = std::stoi(std::string(refused.headers.get("retry-after")));
    CHECK(left >= 1);
    CHECK(left <= 50);
    CHECK(error.at("retry_after") == left);
    CHECK(refused.headers.get("retry-after-ms") == std::to_string(left * 1000));
  }
  CHECK(world.asked().size() == 4);
  CHECK(world.log_lines().find(R"("level":"warning","message":"breaker opened")") != std::string::npos);
}

TEST_CASE("breaker: a thousand requests at once send one probe") {
  raise_file_limit();
  World world(kOneStrike);
  Answer slow = answer_with(chat_pieces(1));
  slow.gated = true;
  world.upstream_answers({challenge(), slow});
  CHECK(ask(world).status == 503);
  wait_half_open(world);

  std::vector<HttpClient> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(world.connect());
    clients.back().request("POST", kChatPath, {}, kChatBody);
  }
  // All but the probe are told at once; the probe waits for its answer.
  REQUIRE(world.until([&] {
    HttpClient client = world.connect();
    const std::string metrics = client.ask("GET", "/tidemark/metrics").body;
    return metrics.find(R"(tidemark_requests_total{kind="refused"} 1000)") != std::string::npos;
  }));
  CHECK(world.asked().size() == 2);
  world.release(2);
  int answered = 0;
  int refused = 0;
  for (HttpClient& client : clients) {
    const Reply reply = client.read_reply();
    answered += reply.status == 200 ? 1 : 0;
    refused += reply.status == 503 ? 1 : 0;
  }
  CHECK(answered == 1);
  CHECK(refused == 999);
  CHECK(world.asked().size() == 2);
  CHECK(breaker_of(world) == "closed");
}

TEST_CASE("breaker: a probe whose client leaves hands over to the next request") {
  World world(kOneStrike);
  Answer stalled = answer_with({});
  stalled.end = Answer::End::Stall;
  world.upstream_answers({challenge(), stalled, answer_with(chat_pieces(1))});
  CHECK(ask(world).status == 503);
  wait_half_open(world);
  HttpClient probe = world.connect();
  probe.request("POST", kChatPath, {}, kChatBody);
  REQUIRE(world.until([&] { return world.asked().size() == 2; }));
  CHECK(ask(world).status == 503);
  SECTION("by a reset") { probe.reset(); }
  SECTION("in good order") { probe.close(); }
  REQUIRE(world.until([&] { return ask(world).status == 200; }));
  CHECK(breaker_of(world) == "closed");
  CHECK(world.until([&] { return world.upstream_open() == 0; }));
}

TEST_CASE("breaker: a probe's challenge opens it again, errors and client's mistakes are no strike") {
  World world(kOneStrike);
  Answer mistake;
  mistake.status = 400;
  mistake.headers = {{"Content-Type", "application/json"}};
  mistake.pieces = {"{}"};
  Answer busy = mistake;
  busy.status = 429;
  world.upstream_answers({mistake, challenge(), challenge(), mistake});
  CHECK(ask(world).status == 400);
  CHECK(breaker_of(world) == "closed");
  CHECK(ask(world).status == 503);
  CHECK(breaker_of(world) == "open");
  wait_half_open(world);
  CHECK(ask(world).status == 503);
  CHECK(breaker_of(world) == "open");
  CHECK(world.asked().size() == 3);
  // A probe that says neither leaves it to the next request.
  wait_half_open(world);
  CHECK(ask(world).status == 400);
  CHECK(breaker_of(world) == "half-open");
}

TEST_CASE("breaker: an answer in flight clears strikes but does not close it") {
  World world(R"("breaker":{"strikes":1,"open_seconds":50})");
  Answer slow = answer_with(chat_pieces(2));
  slow.gated = true;
  world.upstream_answers({slow, challenge()});
  HttpClient early = world.connect();
  early.request("POST", kChatPath, {}, kChatBody);
  REQUIRE(world.until([&] { return world.asked().size() == 1; }));
  CHECK(ask(world).status == 503);
  CHECK(breaker_of(world) == "open");
  world.release(3);
  CHECK(early.read_reply().status == 200);
  CHECK(breaker_of(world) == "open");
  CHECK(ask(world).status == 503);
  CHECK(world.asked().size() == 2);
}

TEST_CASE("challenge_patterns: words of the operator's own make a challenge") {
  World world(R"("challenge_patterns":["slide to verify"],"breaker":{"open_seconds":0})");
  Answer page;
  page.headers = {{"Content-Type", "text/html"}};
  page.pieces = {"<p>please slide to verify</p>"};
  Answer frame = answer_with({"data: {\"msg\":\"slide to verify\"}\n\n"});
  world.upstream_answers(
      {page, frame, answer_with({chat_event("slide "), chat_event("slide to verify"), chat_finish()})});
  for (int i = 0; i < 2; ++i) {
    const Reply refused = ask(world);
    CHECK(refused.status == 503);
    CHECK(nlohmann::json::parse(refused.body).at("error").at("code") == "upstream_challenge");
    CHECK(refused.headers.get("retry-after") == "30");
  }
  CHECK(ask(world).status == 200);
  CHECK(world.asked().size() == 3);
}

TEST_CASE("a JSON endpoint that is answered with a captcha page is a challenge, not a result") {
  World world(kOneStrike);
  world.upstream_answers({challenge()});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", "/v1/embeddings", {}, R"({"input":"x"})");
  CHECK(reply.status == 503);
  CHECK(nlohmann::json::parse(reply.body).at("error").at("code") == "upstream_challenge");
  CHECK(client.ask("POST", "/v1/images/generations", {}, "{}").status == 503);
  CHECK(world.asked().size() == 1);
}

}  // namespace
}  // namespace tidemark::test
