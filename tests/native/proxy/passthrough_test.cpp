// Requests that are no streams, event streams that nobody asked for, pages of other origins, tokens, and the proxy's
// own pages.
#include <nlohmann/json.hpp>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

using namespace tidemark;
using namespace tidemark::test;

TEST_CASE("another request is passed through, body and headers untouched") {
  World world;
  Answer answer = answer_with({std::string("\0\r\n\xff binary", 11), std::string(300000, 'z')});
  answer.status = 201;
  answer.headers = {
      {"Content-Type", "application/octet-stream"}, {"X-One", "1"}, {"Set-Cookie", "a"}, {"Set-Cookie", "b"}};
  world.upstream_answers({answer});
  HttpClient client = world.connect();
  const std::string body = R"({"stream":false,"resumeSeq":4})";
  const Reply reply =
      client.ask("POST", "/v1/chat/completions", {{"X-Resume-Seq", "4"}, {"Accept-Encoding", "br"}}, body);
  CHECK(reply.status == 201);
  CHECK(reply.complete);
  CHECK(reply.body == answer.pieces[0] + answer.pieces[1]);
  CHECK(reply.headers.count("set-cookie") == 2);
  CHECK_FALSE(reply.headers.has("tidemark-stream"));
  const auto asked = world.asked();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].body == body);
  CHECK(asked[0].head.headers.get("x-resume-seq") == "4");
  CHECK(asked[0].head.headers.get("accept-encoding") == "br");

  for (const char* method : {"GET", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    CHECK(client.ask(method, "/v1/models").status == 201);
    CHECK(world.asked().back().head.method == method);
  }
}

TEST_CASE("a body that its client does not take is not read into memory") {
  World world;
  const std::size_t kSize = 64u << 20;
  Answer answer = answer_with({std::string(kSize, 'z')});
  answer.headers = {{"Content-Type", "application/octet-stream"}, {"Content-Length", std::to_string(kSize)}};
  world.upstream_answers({answer});
  HttpClient client(world.port(), 4096);
  client.request("GET", "/v1/files/1/content");
  CHECK(client.read_head().status == 200);
  std::size_t taken = client.read_bytes(100000).size();
  // The sockets' buffers hold a few megabytes; had the proxy read on, the upstream would be done.
  HttpClient other = world.connect();
  for (int i = 0; i < 50; ++i) CHECK(other.ask("GET", "/tidemark/healthz").status == 200);
  CHECK(world.upstream_open() == 1);
  bool complete = false;
  for (;;) {
    const std::string more = client.read_some(1u << 20, complete);
    if (more.empty()) break;
    taken += more.size();
  }
  CHECK(taken == kSize);
  CHECK(complete);
}

TEST_CASE("an upstream that breaks off inside a body is not taken for complete") {
  World world;
  Answer answer = answer_with({"half of it"});
  answer.headers = {{"Content-Type", "application/octet-stream"}};
  answer.end = Answer::End::Cut;
  world.upstream_answers({answer});
  HttpClient client = world.connect();
  const Reply reply = client.ask("GET", "/v1/thing");
  CHECK(reply.status == 200);
  CHECK(reply.body == "half of it");
  CHECK_FALSE(reply.complete);
}

TEST_CASE("whatever is answered with an event stream is a stream") {
  World world;
  world.upstream_answers({answer_with({"id: 7\nevent: tick\ndata: 1\n\n", "data: 2\n\n"})});
  HttpClient client = world.connect();
  const Reply reply = client.ask("GET", "/ticks", {{"Accept", "text/event-stream"}});
  CHECK(reply.status == 200);
  const std::string epoch(reply.headers.get("tidemark-epoch"));
  REQUIRE_FALSE(epoch.empty());
  CHECK(reply.body == "id: " + epoch + "-0\nevent: tick\ndata: 1\n\nid: " + epoch +
                          "-1\ndata: 2\n\n: tidemark end=complete reason=end-of-body\n\n");
  const std::string id(reply.headers.get("tidemark-stream"));
  const Reply rest = client.ask("GET", "/tidemark/streams/" + id + "?after=0", {{"Accept", "text/event-stream"}});
  CHECK(rest.body == "id: " + epoch + "-1\ndata: 2\n\n: tidemark end=complete reason=end-of-body\n\n");
}

TEST_CASE("own keys go up in place of the client's credential, a client's token never") {
  World world(R"("client_tokens":["tok-1","tok-2"])", R"("api_keys":["sk-own"])");
  world.upstream_answers({answer_with(chat_pieces(1))});
  HttpClient client = world.connect();
  for (const http::Headers& headers :
       {http::Headers{}, http::Headers{{"Authorization", "Bearer tok-3"}}, http::Headers{{"Authorization", "tok-1"}},
        http::Headers{{"Authorization", "Bearer tok-11"}}}) {
    const Reply refused = client.ask("POST", kChatPath, headers, kChatBody);
    CHECK(refused.status == 401);
    CHECK(refused.headers.get("www-authenticate") == "Bearer");
    CHECK(nlohmann::json::parse(refused.body).at("error").at("code") == "client_token_invalid");
  }
  CHECK(client.ask("GET", "/tidemark/status").status == 401);
  CHECK(client.ask("GET", "/tidemark/healthz").status == 200);
  CHECK(world.asked().empty());
  CHECK(client.ask("POST", kChatPath, {{"Authorization", "bearer tok-2"}}, kChatBody).status == 200);
  CHECK(client.ask("POST", "/v1/messages", {{"x-api-key", "tok-1"}}, kChatBody).status != 401);
  const auto asked = world.asked();
  REQUIRE(asked.size() >= 2);
  CHECK(asked[0].head.headers.get("authorization") == "Bearer sk-own");
  CHECK(asked[1].head.headers.get("x-api-key") == "sk-own");
  for (const auto& one : asked) {
    for (const auto& header : one.head.headers) CHECK(header.value.find("tok-") == std::string::npos);
  }

  World open(R"("client_tokens":["tok-1"])");
  open.upstream_answers({answer_with(chat_pieces(1))});
  HttpClient other = open.connect();
  CHECK(other.ask("POST", kChatPath, {{"Authorization", "Bearer tok-1"}, {"x-api-key", "theirs"}}, kChatBody).status ==
        200);
  CHECK_FALSE(open.asked()[0].head.headers.has("authorization"));
  CHECK(open.asked()[0].head.headers.get("x-api-key") == "theirs");
}

TEST_CASE("where no origin is configured the upstream decides, but no page may spend keys that it was not lent") {
  Answer answer = answer_with(chat_pieces(1));
  answer.headers = {{"Content-Type", "text/event-stream"}, {"Access-Control-Allow-Origin", "*"}};
  const http::Headers from_a_page = with_key(kKey, {{"Origin", "https://evil.example"}});
  const http::Headers preflight{{"Origin", "https://evil.example"}, {"Access-Control-Request-Method", "POST"}};
  SECTION("the client's own credentials") {
    World world;
    world.upstream_answers({answer});
    HttpClient client = world.connect();
    CHECK(client.ask("POST", kChatPath, from_a_page, kChatBody).headers.get("access-control-allow-origin") == "*");
  }
  SECTION("the operator's keys") {
    World world("", R"("api_keys":["operators"])");
    world.upstream_answers({answer});
    HttpClient client = world.connect();
    CHECK_FALSE(client.ask("OPTIONS", kChatPath, preflight).headers.has("access-control-allow-origin"));
    CHECK(world.asked().empty());
    CHECK_FALSE(client.ask("POST", kChatPath, from_a_page, kChatBody).headers.has("access-control-allow-origin"));
  }
  SECTION("the operator's keys, for those who have a token") {
    World world(R"("client_tokens":["tok"])", R"("api_keys":["operators"])");
    world.upstream_answers({answer});
    HttpClient client = world.connect();
    const Reply reply =
        client.ask("POST", kChatPath,
                   with_key(kKey, {{"Origin", "https://evil.example"}, {"Authorization", "Bearer tok"}}), kChatBody);
    CHECK(reply.headers.get("access-control-allow-origin") == "*");
  }
}

TEST_CASE("pages of allowed origins may use the proxy, others may not") {
  World world(R"("cors":{"allow_origins":["https://chat.example"]})");
  Answer answer = answer_with(chat_pieces(1));
  answer.headers = {{"Content-Type", "text/event-stream"}, {"Access-Control-Allow-Origin", "*"}};
  world.upstream_answers({answer});
  HttpClient client = world.connect();
  const http::Headers ask{{"Origin", "https://chat.example"},
                          {"Access-Control-Request-Method", "POST"},
                          {"Access-Control-Request-Headers", "idempotency-key,x-resume-seq"}};
  const Reply preflight = client.ask("OPTIONS", kChatPath, ask);
  CHECK(preflight.status == 204);
  CHECK(preflight.headers.get("access-control-allow-origin") == "https://chat.example");
  CHECK(preflight.headers.get("access-control-allow-headers") == "idempotency-key,x-resume-seq");
  CHECK(preflight.headers.get("access-control-allow-methods").find("DELETE") != std::string::npos);
  CHECK(preflight.headers.get("vary") == "Origin");
  CHECK(world.asked().empty());

  const Reply foreign =
      client.ask("OPTIONS", kChatPath, {{"Origin", "https://evil.example"}, {"Access-Control-Request-Method", "POST"}});
  CHECK_FALSE(foreign.headers.has("access-control-allow-origin"));
  CHECK_FALSE(foreign.headers.has("access-control-allow-methods"));

  const Reply allowed = client.ask("POST", kChatPath, with_key(kKey, {{"Origin", "https://chat.example"}}), kChatBody);
  CHECK(allowed.headers.count("access-control-allow-origin") == 1);
  CHECK(allowed.headers.get("access-control-allow-origin") == "https://chat.example");
  for (const char* name : {"Tidemark-Stream", "Tidemark-Epoch", "Tidemark-Resumed", "Retry-After"}) {
    CHECK(allowed.headers.get("access-control-expose-headers").find(name) != std::string::npos);
  }
  CHECK_FALSE(client.ask("POST", kChatPath, with_key(kKey, {{"Origin", "https://evil.example"}}), kChatBody)
                  .headers.has("access-control-allow-origin"));
  const Reply refused =
      client.ask("POST", kChatPath, with_key("short", {{"Origin", "https://chat.example"}}), kChatBody);
  CHECK(refused.status == 400);
  CHECK(refused.headers.get("access-control-allow-origin") == "https://chat.example");
}

TEST_CASE("the proxy's own pages") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(2))});
  HttpClient client = world.connect();
  CHECK(client.ask("POST", kChatPath, with_key(), kChatBody).status == 200);
  CHECK(client.ask("GET", "/tidemark/healthz").status == 200);
  CHECK(client.ask("GET", "/tidemark/readyz").status == 200);
  CHECK(client.ask("GET", "/tidemark/nothing").status == 404);
  CHECK(client.ask("GET", "/tidemark/streams/").status == 404);
  CHECK(client.ask("POST", "/tidemark/status").status == 405);
  const auto status = nlohmann::json::parse(client.ask("GET", "/tidemark/status").body);
  CHECK(status.at("upstreams").at(0).at("breaker") == "closed");
  CHECK(status.at("upstreams").at(0).at("attempts") == 1);
  CHECK(status.at("streams").at("complete") == 1);
  CHECK(status.at("log").at("streams") == 1);
  CHECK(status.at("log").at("bytes").get<int>() > 100);
  const Reply metrics = client.ask("GET", "/tidemark/metrics");
  CHECK(metrics.headers.get("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(metrics.body.find("tidemark_requests_total{kind=\"started\"} 1\n") != std::string::npos);
  CHECK(metrics.body.find("tidemark_streams_ended_total{state=\"complete\",reason=\"terminal-marker\"} 1\n") !=
        std::string::npos);
  CHECK(metrics.body.find("tidemark_events_total 4\n") != std::string::npos);
}

TEST_CASE("three challenges open the breaker, and then the upstream is left alone") {
  World world;
  Answer challenge = answer_with({R"({"ret":["FAIL_SYS_USER_VALIDATE","x"]})"});
  challenge.headers = {{"Content-Type", "application/json"}};
  world.upstream_answers({challenge});
  HttpClient client = world.connect();
  for (int i = 0; i < 3; ++i) {
    const Reply reply = client.ask("POST", kChatPath, {}, kChatBody);
    CHECK(reply.status == 503);
    CHECK(nlohmann::json::parse(reply.body).at("error").at("code") == "upstream_challenge");
  }
  const Reply paused = client.ask("POST", kChatPath, {}, kChatBody);
  CHECK(paused.status == 503);
  CHECK(nlohmann::json::parse(paused.body).at("error").at("code") == "upstream_paused");
  CHECK(world.asked().size() == 3);
  CHECK(nlohmann::json::parse(client.ask("GET", "/tidemark/status").body).at("upstreams").at(0).at("breaker") ==
        "open");
  CHECK(world.log_lines().find("breaker opened") != std::string::npos);
}
