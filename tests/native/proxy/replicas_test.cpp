// Replicas that share a log: one answer, whichever of them is asked.
#include "tests/native/proxy/held_streams.hpp"

using namespace tidemark;
using namespace tidemark::test;
using tidemark::testing::RedisServer;

TEST_CASE("replicas: what one begins all others read, byte for byte, and tell the same of it") {
  if (!RedisServer::available()) return;
  Replicas replicas(3);
  replicas.upstream_answers({gated_words(4)});
  Begun begun = begin_at(replicas, 0);
  HttpClient follower = replicas.connect(1);
  follower.request("GET", kPage, following());
  const Reply followed = follower.read_head();
  CHECK(followed.status == 200);
  CHECK(followed.headers.get("tidemark-resumed") == "true");
  CHECK(followed.headers.get("tidemark-epoch") == begun.head.headers.get("tidemark-epoch"));
  HttpClient again = replicas.connect(2);
  again.request("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "1"}}), kBody);
  // Beyond what there is: until it has come, the place is ahead.
  CHECK(error_code(again.read_reply()) == "resume_ahead");
  again.request("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "0"}}), kBody);
  const Reply attached = again.read_head();
  CHECK(attached.status == 200);
  HttpClient asking = replicas.connect(1);
  CHECK(replicas.until([&] { return stream_page(asking).at("next_seq") == 1; }));
  const auto running = stream_page(asking);
  CHECK(running.at("state") == "running");
  CHECK(running.at("epoch") == std::string(begun.head.headers.get("tidemark-epoch")));

  replicas.release(4);
  const std::string whole = read_rest(begun);
  CHECK(ends_with(whole, kCompleteEnd));
  Reply rest;
  follower.read_body(rest);
  CHECK(rest.body == whole);
  CHECK(rest.complete);
  Reply above_first;
  again.read_body(above_first);
  CHECK(above_first.body == whole.substr(blocks_of(whole)[0].size()));
  CHECK(replicas.asked().size() == 1);

  HttpClient own = replicas.connect(0);
  auto told = stream_page(own);
  auto elsewhere = stream_page(asking);
  for (auto* page : {&told, &elsewhere}) page->erase("readers");
  CHECK(told == elsewhere);
  // One that had nothing to do with it as long as it ran.
  const std::size_t late = replicas.add();
  CHECK(replicas.connect(late).ask("POST", kChatPath, with_key(), kBody).body == whole);
  CHECK(replicas.asked().size() == 1);
}

TEST_CASE("replicas: a stop cuts the upstream, whichever of them is asked for it") {
  if (!RedisServer::available()) return;
  Replicas replicas(3);
  replicas.upstream_answers({gated_words(4)});
  Begun begun = begin_at(replicas, 0);
  HttpClient follower = replicas.connect(2);
  follower.request("GET", kPage, following());
  CHECK(follower.read_head().status == 200);
  HttpClient stopping = replicas.connect(1);
  const Reply stopped = stopping.ask("DELETE", kPage);
  CHECK(stopped.status == 200);
  CHECK(nlohmann::json::parse(stopped.body).at("state") == "stopped");
  CHECK(replicas.until([&] { return replicas.upstream_open() == 0; }));
  const std::string whole = read_rest(begun);
  CHECK(ends_with(whole, kStoppedEnd));
  Reply rest;
  follower.read_body(rest);
  CHECK(rest.body == whole);
  for (std::size_t one = 0; one < 3; ++one) {
    HttpClient client = replicas.connect(one);
    CHECK(client.ask("DELETE", kPage).body.find("\"stopped\"") != std::string::npos);
  }

  // Before its first event, too.
  const std::string key = kKey + "-2";
  replicas.upstream_answers({Answer{200, {{"Content-Type", "text/event-stream"}}, {}, Answer::End::Stall}});
  HttpClient early = replicas.connect(0);
  early.request("POST", kChatPath, with_key(key), kBody);
  CHECK(replicas.until([&] { return replicas.asked().size() == 2; }));
  HttpClient stop_early = replicas.connect(1);
  stop_early.request("DELETE", "/tidemark/streams/" + key);
  HttpClient own = replicas.connect(0);
  CHECK(own.ask("DELETE", "/tidemark/streams/" + key).status == 200);
  CHECK(replicas.until([&] { return replicas.upstream_open() == 0; }));
  CHECK(early.read_reply().status == 200);
  CHECK(stop_early.read_reply().status == 200);
}

TEST_CASE("replicas: before the commit, too, any of them tells of a stream and stops it") {
  if (!RedisServer::available()) return;
  Replicas replicas(2);
  replicas.upstream_answers({gated_words(2)});
  HttpClient first = replicas.connect(0);
  first.request("POST", kChatPath, with_key(), kBody);
  CHECK(replicas.until([&] { return replicas.asked().size() == 1; }));
  HttpClient second = replicas.connect(1);
  const auto page = stream_page(second);
  CHECK(page.at("id") == kKey);
  CHECK(page.at("state") == "waiting");
  CHECK(page.at("dialect") == "openai-chat");
  CHECK(page.at("next_seq") == 0);
  HttpClient other = replicas.connect(1);
  CHECK(other.ask("GET", kPage, {{"Authorization", "Bearer somebody-else"}}).status == 404);
  const Reply stopped = second.ask("DELETE", kPage);
  CHECK(stopped.status == 200);
  CHECK(nlohmann::json::parse(stopped.body).at("state") == "stopped");
  const Reply reply = first.read_reply();
  CHECK(ends_with(reply.body, kStoppedEnd));
  CHECK(replicas.until([&] { return replicas.upstream_open() == 0; }));
}

TEST_CASE("replicas: a stream is its owner's at all of them") {
  if (!RedisServer::available()) return;
  Replicas replicas(2);
  replicas.upstream_answers({gated_words(1)});
  HttpClient mine = replicas.connect(0);
  mine.request("POST", kChatPath, with_key("k", {{"Authorization", "Bearer mine"}}), kBody);
  replicas.release(2);
  const std::string whole = mine.read_reply().body;
  HttpClient client = replicas.connect(1);
  const http::Headers other{{"Authorization", "Bearer other"}};
  const Reply unknown = client.ask("GET", "/tidemark/streams/none", other);
  const Reply refused = client.ask("GET", "/tidemark/streams/k", other);
  CHECK(refused.status == 404);
  CHECK(refused.body == unknown.body);
  CHECK(client.ask("DELETE", "/tidemark/streams/k", other).status == 404);
  CHECK(replicas.asked().size() == 1);
  CHECK(client.ask("GET", "/tidemark/streams/k", following({{"Authorization", "Bearer mine"}})).body == whole);
  const Reply own = client.ask("POST", kChatPath, with_key("k", other), kBody);
  CHECK(own.status == 200);
  CHECK_FALSE(own.headers.has("tidemark-resumed"));
  CHECK(replicas.asked().size() == 2);
  // Nor does the log say whose it is.
  const std::string names = replicas.redis.run({"-n", "1", "KEYS", "*"});
  CHECK(names.find("tidemark:{") != std::string::npos);
  for (const char* secret : {"mine", "other"}) {
    for (const char* part : {"stream", "events"}) CHECK(names.find(std::string(secret) + part) == std::string::npos);
  }
}

TEST_CASE("replicas: of those that are asked the same at once one asks the upstream") {
  if (!RedisServer::available()) return;
  Replicas replicas(3);
  replicas.upstream_answers({answer_with(chat_pieces(3))});
  for (int round = 0; round < 8; ++round) {
    const std::string key = kKey + std::to_string(round);
    std::vector<HttpClient> clients;
    for (int i = 0; i < 6; ++i) clients.push_back(replicas.connect(static_cast<std::size_t>(i) % 3));
    for (HttpClient& client : clients) client.request("POST", kChatPath, with_key(key), kBody);
    std::string whole;
    for (HttpClient& client : clients) {
      const Reply reply = client.read_reply();
      CHECK(reply.status == 200);
      CHECK(ends_with(reply.body, kCompleteEnd));
      if (whole.empty()) whole = reply.body;
      CHECK(reply.body == whole);
    }
    CHECK(replicas.asked().size() == static_cast<std::size_t>(round) + 1);
  }
}

TEST_CASE("replicas: a key is refused for another request, before and after the commit") {
  if (!RedisServer::available()) return;
  Replicas replicas(2);
  replicas.upstream_answers({gated_words(2)});
  HttpClient first = replicas.connect(0);
  first.request("POST", kChatPath, with_key(), kBody);
  CHECK(replicas.until([&] { return replicas.asked().size() == 1; }));
  HttpClient other = replicas.connect(1);
  const Reply claimed = other.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(claimed.status == 422);
  CHECK(error_code(claimed) == "idempotency_key_reused");
  replicas.release(1);
  CHECK(first.read_head().status == 200);
  CHECK(error_code(other.ask("POST", kChatPath, with_key(), kChatBody)) == "idempotency_key_reused");
  CHECK(other.ask("POST", kChatPath, with_key("unknown-key-of-twenty-characters", {{"X-Resume-Seq", "3"}}), kBody)
            .status == 410);
  CHECK(replicas.asked().size() == 1);
}

TEST_CASE("replicas: a name is free again after a request that was refused or passed through") {
  if (!RedisServer::available()) return;
  Replicas replicas(2, kQuick);
  Answer refusal = answer_with({R"({"error":{"message":"no"}})"});
  refusal.status = 400;
  refusal.headers = {{"Content-Type", "application/json"}};
  Answer failure = refusal;
  failure.status = 503;
  Answer plain = refusal;
  plain.status = 200;
  plain.pieces = {R"({"id":"c","object":"chat.completion","choices":[]})"};
  HttpClient one = replicas.connect(0);
  HttpClient two = replicas.connect(1);
  for (const Answer& answer : {refusal, failure, plain}) {
    INFO(answer.status);
    const std::string key = kKey + std::to_string(answer.status);
    replicas.upstream_answers({answer});
    CHECK(one.ask("POST", kChatPath, with_key(key), kBody).status == answer.status);
    replicas.upstream_answers({answer_with(chat_pieces(1))});
    const Reply reply = two.ask("POST", kChatPath, with_key(key), kBody);
    CHECK(reply.status == 200);
    CHECK(ends_with(reply.body, kCompleteEnd));
    CHECK_FALSE(reply.headers.has("tidemark-resumed"));
  }
}
