// Replicas that share a log, and one of them, or the log, goes.
#include "tests/native/proxy/held_streams.hpp"

using namespace tidemark;
using namespace tidemark::test;
using tidemark::testing::RedisServer;

TEST_CASE("replicas: what one that is gone had only claimed is another's to begin") {
  if (!RedisServer::available()) return;
  Replicas replicas(2);
  replicas.upstream_answers({gated_words(2), answer_with(chat_pieces(2))});
  HttpClient first = replicas.connect(0);
  first.request("POST", kChatPath, with_key(), kBody);
  CHECK(replicas.until([&] { return replicas.asked().size() == 1; }));
  HttpClient second = replicas.connect(1);
  second.request("POST", kChatPath, with_key(), kBody);
  replicas.kill(0);
  const Reply reply = second.read_reply();
  CHECK(reply.status == 200);
  CHECK(ends_with(reply.body, kCompleteEnd));
  CHECK(replicas.asked().size() == 2);
}

TEST_CASE("replicas: an answer whose replica is gone goes on at the next one that is asked for it") {
  if (!RedisServer::available()) return;
  Replicas replicas(3, kQuick, kPrefix);
  replicas.upstream_answers({gated({chat_event("Twice a day the sea withdraws,"), chat_event(" and twice"), "never"}),
                             answer_with({chat_event(" a day it"), chat_event(" returns."), chat_finish()})});
  Begun begun = begin_at(replicas, 0);
  replicas.release(1);
  read_up_to(begun.client, begun.body, "and twice\"");
  const std::string epoch(begun.head.headers.get("tidemark-epoch"));
  // One who reads elsewhere reads on, and so does who comes before anybody knows that it is gone.
  HttpClient elsewhere = replicas.connect(2);
  elsewhere.request("GET", kPage, following());
  CHECK(elsewhere.read_head().status == 200);
  replicas.kill(0);
  HttpClient early = replicas.connect(1);
  early.request("POST", kChatPath, with_key(kKey, {{"Last-Event-ID", epoch + "-0"}}), kBody);
  CHECK(early.read_head().headers.get("tidemark-epoch") == epoch);
  Reply from_early;
  early.read_body(from_early);
  CHECK(from_early.complete);

  std::vector<HttpClient> clients;
  for (const std::size_t one : {1u, 2u, 1u, 2u}) clients.push_back(replicas.connect(one));
  for (HttpClient& client : clients) {
    client.request("POST", kChatPath, with_key(kKey, {{"Last-Event-ID", epoch + "-0"}}), kBody);
  }
  std::string rest;
  for (HttpClient& client : clients) {
    const Reply reply = client.read_reply();
    CHECK(reply.status == 200);
    CHECK(reply.complete);
    // One that follows the other may not have heard of the takeover yet.
    const std::string_view now = reply.headers.get("tidemark-epoch");
    CHECK((now == later(epoch, 1) || now == epoch));
    if (rest.empty()) rest = reply.body;
    CHECK(reply.body == rest);
  }
  CHECK(text_of(rest) == " and twice a day it returns.");
  CHECK(ends_with(rest, kCompleteEnd));
  CHECK(from_early.body == rest);
  Reply from_elsewhere;
  elsewhere.read_body(from_elsewhere);
  CHECK(from_elsewhere.complete);
  CHECK(ends_with(from_elsewhere.body, rest));
  const auto asked = replicas.asked();
  REQUIRE(asked.size() == 2);
  CHECK(nlohmann::json::parse(asked[1].body).at("messages").back().at("content") ==
        "Twice a day the sea withdraws, and twice");

  // The events from before have their ids; the new ones the new epoch's.
  const auto blocks = blocks_of(rest);
  CHECK(blocks[0].rfind("id: " + epoch + "-1\n", 0) == 0);
  CHECK(blocks[1].rfind("id: " + later(epoch, 1) + "-2\n", 0) == 0);
  for (const std::size_t one : {1u, 2u}) {
    HttpClient client = replicas.connect(one);
    const auto page = stream_page(client);
    CHECK(page.at("epoch") == later(epoch, 1));
    CHECK(page.at("attempts") == 2);
    CHECK(page.at("seams") == 1);
    const auto resumed = [&](const std::string& id) {
      return client.ask("POST", kChatPath, with_key(kKey, {{"Last-Event-ID", id}}), kBody);
    };
    CHECK(resumed(epoch + "-1").body == rest.substr(blocks[0].size()));
    CHECK(resumed(later(epoch, 1) + "-1").body == rest.substr(blocks[0].size()));
    // What the first one showed and never wrote has no successor.
    const Reply beyond = resumed(epoch + "-2");
    CHECK(beyond.status == 409);
    CHECK(error_code(beyond) == "resume_mismatch");
    CHECK(resumed(later(epoch, 2) + "-1").status == 409);
  }
  CHECK(replicas.asked().size() == 2);
}

TEST_CASE("replicas: what may not be continued ends truncated; a stop ends what nobody feeds") {
  if (!RedisServer::available()) return;
  Replicas replicas(2);
  replicas.upstream_answers({gated_words(3)});
  std::string bodies[2];
  for (int i = 0; i < 2; ++i) {
    Begun begun = begin_at(replicas, 0, kKey + std::to_string(i));
    read_up_to(begun.client, bodies[i], "word0 \"");
  }
  replicas.kill(0);
  HttpClient client = replicas.connect(1);
  // A page takes nothing over.
  CHECK(stream_page(client, kKey + "0").at("state") == "running");
  CHECK(nlohmann::json::parse(client.ask("DELETE", kPage + "1").body).at("state") == "stopped");
  CHECK(ends_with(client.ask("GET", kPage + "1", following()).body, kStoppedEnd));
  CHECK(stream_page(client, kKey + "0").at("state") == "running");
  const Reply followed = replicas.connect(1).ask("GET", kPage + "0", following());
  CHECK(followed.complete);
  CHECK(text_of(followed.body).rfind("word0 ", 0) == 0);
  CHECK(ends_with(followed.body, ": tidemark end=truncated reason=shutdown\n\n"));
  CHECK(replicas.asked().size() == 2);
}

TEST_CASE("replicas: a long request is not kept, and its answer goes on for who makes it again") {
  if (!RedisServer::available()) return;
  Replicas replicas(3, kQuick, kPrefix);
  replicas.upstream_answers({gated({chat_event("Twice a day the sea withdraws,"), "never"}),
                             answer_with({chat_event(" and returns."), chat_finish()})});
  const std::string body = R"({"model":"m","stream":true,"messages":[{"role":"user","content":")" +
                           std::string(std::size_t{3} << 20, 'w') + R"("}]})";
  HttpClient client = replicas.connect(0);
  client.request("POST", kChatPath, with_key(), body);
  replicas.release(1);
  CHECK(client.read_head().status == 200);
  std::string begun;
  read_up_to(client, begun, "withdraws,\"");
  replicas.kill(0);
  const auto kept =
      std::stoul(replicas.redis.run({"-n", "1", "EVAL",
                                     "local sum = 0 for _, key in ipairs(redis.call('KEYS', '*:stream')) do "
                                     "sum = sum + redis.call('HSTRLEN', key, 'facts') end return sum",
                                     "0"}));
  CHECK(kept > 0);
  CHECK(kept < 10000);
  // Who reads by name alone can't go on with it, and waits for who can.
  std::vector<HttpClient> readers;
  std::vector<Reply> followed(2);
  for (const std::size_t one : {1u, 2u}) {
    readers.push_back(replicas.connect(one));
    readers.back().request("GET", kPage, following());
    CHECK(readers.back().read_head().status == 200);
  }
  CHECK(replicas.until([&] {
    HttpClient page = replicas.connect(1);
    return stream_page(page).at("next_seq") == 1;
  }));
  const Reply reply = replicas.connect(1).ask("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "0"}}), body);
  CHECK(text_of(reply.body) == " and returns.");
  CHECK(ends_with(reply.body, kCompleteEnd));
  for (std::size_t i = 0; i < readers.size(); ++i) {
    readers[i].read_body(followed[i]);
    CHECK(followed[i].complete);
    CHECK(text_of(followed[i].body) == "Twice a day the sea withdraws, and returns.");
    CHECK(ends_with(followed[i].body, kCompleteEnd));
  }
}

TEST_CASE("replicas: what nobody can go on with ends truncated after a while") {
  if (!RedisServer::available()) return;
  Replicas replicas(2, kQuick + R"(,"disconnect":{"linger_seconds":1})", kPrefix);
  replicas.upstream_answers({gated({chat_event("Twice a day the sea withdraws,"), "never"})});
  const std::string path = std::string(kChatPath) + "?sig=secret";
  HttpClient client = replicas.connect(0);
  client.request("POST", path, with_key(), kBody);
  replicas.release(1);
  CHECK(client.read_head().status == 200);
  std::string begun;
  read_up_to(client, begun, "withdraws,\"");
  replicas.kill(0);
  const Reply followed = replicas.connect(1).ask("GET", kPage, following());
  CHECK(followed.complete);
  CHECK(ends_with(followed.body, ": tidemark end=truncated reason=shutdown\n\n"));
  CHECK(replicas.asked().size() == 1);
}

TEST_CASE("replicas: one that is told to go leaves its streams, and the next one goes on with them") {
  if (!RedisServer::available()) return;
  Replicas replicas(2, kQuick + R"(,"drain_seconds":0)", kPrefix);
  replicas.upstream_answers({gated({chat_event("Twice a day the sea withdraws,"), "never"}),
                             answer_with({chat_event(" and returns."), chat_finish()})});
  Begun begun = begin_at(replicas, 0);
  read_up_to(begun.client, begun.body, "withdraws,\"");
  replicas.drain(0);
  const Reply reply = replicas.connect(1).ask("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "0"}}), kBody);
  CHECK(text_of(reply.body) == " and returns.");
  CHECK(ends_with(reply.body, kCompleteEnd));
}

TEST_CASE("replicas: who has seen more than has got to the one that is asked waits for it") {
  if (!RedisServer::available()) return;
  Replicas replicas(2);
  replicas.upstream_answers({gated_words(4)});
  Begun begun = begin_at(replicas, 0);
  read_up_to(begun.client, begun.body, "word0 \"");
  HttpClient follower = replicas.connect(1);
  CHECK(replicas.until([&] { return stream_page(follower).at("next_seq") == 1; }));
  replicas.redis.pause();
  replicas.release(1);
  read_up_to(begun.client, begun.body, "word1 \"");
  follower.request("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "1"}}), kBody);
  replicas.redis.resume();
  replicas.release(3);
  const Reply reply = follower.read_reply();
  CHECK(reply.status == 200);
  CHECK(text_of(reply.body).find("word1") == std::string::npos);
  CHECK(ends_with(reply.body, kCompleteEnd));
  // But not for ever.
  HttpClient other = replicas.connect(1);
  const Reply beyond = other.ask("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "77"}}), kBody);
  CHECK(error_code(beyond) == "resume_ahead");
}

TEST_CASE("replicas: without the log what is here goes on, and what might be elsewhere is refused") {
  if (!RedisServer::available()) return;
  Replicas replicas(2);
  replicas.upstream_answers({gated_words(4)});
  Begun begun = begin_at(replicas, 0);
  replicas.redis.kill();
  CHECK(replicas.until([&] { return !replicas.is_ready(0) && !replicas.is_ready(1); }));
  replicas.release(1);
  read_up_to(begun.client, begun.body, "word1 \"");
  HttpClient own = replicas.connect(0);
  own.request("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "0"}}), kBody);
  CHECK(own.read_head().status == 200);
  HttpClient client = replicas.connect(1);
  const Reply refused = client.ask("POST", kChatPath, with_key(), kBody);
  CHECK(refused.status == 503);
  CHECK(error_code(refused) == "log_unreachable");
  CHECK(refused.headers.get("retry-after") == "1");
  CHECK(client.ask("POST", "/v1/messages", with_key(), kBody).status == 529);
  for (const char* method : {"GET", "DELETE"}) CHECK(error_code(client.ask(method, kPage)) == "log_unreachable");
  CHECK(replicas.asked().size() == 1);
  // Nobody else can have one without a key.
  replicas.upstream_answers({answer_with(chat_pieces(1))});
  CHECK(ends_with(client.ask("POST", kChatPath, {}, kBody).body, kCompleteEnd));

  replicas.redis.start();
  replicas.release(3);
  const std::string whole = read_rest(begun);
  CHECK(ends_with(whole, kCompleteEnd));
  Reply late;
  CHECK(replicas.until([&] {
    late = client.ask("GET", kPage, following());
    return late.status == 200;
  }));
  CHECK(late.body == whole);
}

TEST_CASE("replicas: who reads elsewhere keeps a stream going that its own readers have left") {
  if (!RedisServer::available()) return;
  Replicas replicas(2, R"("disconnect":{"policy":"cancel","linger_seconds":1})");
  replicas.upstream_answers({gated_words(3)});
  Begun begun = begin_at(replicas, 0);
  read_up_to(begun.client, begun.body, "word0 \"");
  HttpClient follower = replicas.connect(1);
  follower.request("GET", kPage, following());
  CHECK(follower.read_head().status == 200);
  std::string followed;
  read_up_to(follower, followed, "word0 \"");
  // What replicas want of each other is told in order: after this the other one knows of the reader.
  Begun another = begin_at(replicas, 0, kKey + "-2");
  HttpClient asking = replicas.connect(1);
  CHECK(asking.ask("DELETE", kPage + "-2").status == 200);
  begun.client.reset();
  HttpClient own = replicas.connect(0);
  CHECK(replicas.until([&] { return stream_page(own).at("readers") == 0; }));
  replicas.release(3);
  Reply rest;
  follower.read_body(rest);
  CHECK(ends_with(rest.body, kCompleteEnd));
  CHECK(text_of(followed + rest.body) == "word0 word1 word2 ");
}

TEST_CASE("replicas: they keep it going as well at the one that has taken it over") {
  if (!RedisServer::available()) return;
  Replicas replicas(3, kQuick + R"(,"disconnect":{"policy":"cancel","linger_seconds":60})", kPrefix);
  replicas.upstream_answers({gated({chat_event("Twice a day the sea withdraws,"), "never"}),
                             gated({chat_event(" and twice"), chat_event(" it returns."), chat_finish()})});
  Begun begun = begin_at(replicas, 0);
  std::vector<HttpClient> followers;
  std::string followed[2];
  for (const std::size_t i : {0u, 1u}) {
    followers.push_back(replicas.connect(i + 1));
    followers[i].request("GET", kPage, following());
    CHECK(followers[i].read_head().status == 200);
    read_up_to(followers[i], followed[i], "withdraws,\"");
  }
  replicas.kill(0);
  for (const std::size_t i : {0u, 1u}) read_up_to(followers[i], followed[i], "twice\"");
  const std::size_t taker =
      replicas.connect(1).ask("GET", "/tidemark/metrics").body.find("tidemark_streams_taken_over_total 1\n") !=
              std::string::npos
          ? 1
          : 2;
  const std::size_t other = 3 - taker;
  Begun another = begin_at(replicas, taker, kKey + "-2");
  CHECK(replicas.connect(other).ask("DELETE", kPage + "-2").status == 200);
  followers[taker - 1].reset();
  HttpClient own = replicas.connect(taker);
  CHECK(replicas.until([&] { return stream_page(own).at("readers") == 0; }));
  replicas.release(3);
  Reply rest;
  followers[other - 1].read_body(rest);
  CHECK(rest.complete);
  CHECK(ends_with(rest.body, kCompleteEnd));
  CHECK(text_of(followed[other - 1] + rest.body) == "Twice a day the sea withdraws, and twice it returns.");
}
