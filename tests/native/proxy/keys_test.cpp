// Keys of the configuration, and several upstreams: whose turn it is, through real sockets (contract § 2.1, § 4).
#include <nlohmann/json.hpp>

#include "native/proxy/upstreams.hpp"
#include "tests/native/gzip.hpp"
#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

namespace tidemark::test {
namespace {

const std::string kTwoKeys = R"("api_keys":["sk-one","sk-two"])";
const std::string kFast = R"("retry":{"attempts":2,"base_ms":1,"jitter_ms":0,"max_ms":1})";

Answer refusal(int status, http::Headers more = {}) {
  Answer answer;
  answer.status = status;
  answer.headers = std::move(more);
  answer.headers.add("Content-Type", "application/json");
  answer.pieces = {R"({"error":{"message":"no )" + std::to_string(status) + R"(","type":"x"}})"};
  return answer;
}

std::vector<std::string> keys_of(World& world) {
  std::vector<std::string> keys;
  for (const Asked& one : world.asked()) keys.emplace_back(one.head.headers.get("authorization"));
  return keys;
}

Reply ask(World& world, http::Headers headers = {}) {
  HttpClient client = world.connect();
  return client.ask("POST", kChatPath, headers, kChatBody);
}

using Keys = std::vector<std::string>;

TEST_CASE("keys: requests take them in turn, and a repeated one sends the same body with the next") {
  World world(kFast, kTwoKeys);
  world.upstream_answers({answer_with({": nothing\n\n"}), answer_with(chat_pieces(1))});
  CHECK(ask(world).status == 200);
  CHECK(ask(world).status == 200);
  CHECK(keys_of(world) == Keys{"Bearer sk-one", "Bearer sk-two", "Bearer sk-one"});
  for (const Asked& one : world.asked()) CHECK(one.body == kChatBody);
}

TEST_CASE("keys: a refused one is put aside for the process, without the client noticing") {
  for (const int status : {401, 403}) {
    CAPTURE(status);
    World world(kFast, kTwoKeys);
    world.upstream_answers({refusal(status), answer_with(chat_pieces(1))});
    for (int i = 0; i < 3; ++i) CHECK(ask(world).status == 200);
    CHECK(keys_of(world) == Keys{"Bearer sk-one", "Bearer sk-two", "Bearer sk-two", "Bearer sk-two"});
    HttpClient client = world.connect();
    const auto page = nlohmann::json::parse(client.ask("GET", "/tidemark/status").body);
    CHECK(page.at("upstreams")[0].at("keys") == 2);
    CHECK(page.at("upstreams")[0].at("keys_usable") == 1);
    const std::string lines = world.log_lines();
    CHECK(lines.find(R"("message":"key put aside","upstream":)") != std::string::npos);
    CHECK(lines.find(R"("lost":"key )" + std::to_string(status) + R"(","keys":"1, 2")") != std::string::npos);
    CHECK(lines.find("sk-one") == std::string::npos);
  }
}

TEST_CASE("keys: a limited one rests for as long as the upstream says") {
  for (const int status : {402, 429}) {
    CAPTURE(status);
    World world(kFast, kTwoKeys);
    world.upstream_answers({refusal(status, {{"Retry-After", "50"}}), answer_with(chat_pieces(1))});
    for (int i = 0; i < 2; ++i) CHECK(ask(world).status == 200);
    CHECK(keys_of(world) == Keys{"Bearer sk-one", "Bearer sk-two", "Bearer sk-two"});
  }
}

TEST_CASE("keys: with every one refused the last real error is passed on, and told again without asking") {
  World world(kFast, kTwoKeys);
  world.upstream_answers({refusal(401), refusal(403)});
  for (int i = 0; i < 3; ++i) {
    const Reply reply = ask(world);
    CHECK(reply.status == 403);
    CHECK(reply.headers.get("x-should-retry") == "false");
    CHECK(reply.headers.get("content-type") == "application/json");
    CHECK(reply.body == R"({"error":{"message":"no 403","type":"x"}})");
    CHECK(reply.complete);
  }
  CHECK(world.asked().size() == 2);
}

TEST_CASE("keys: what can't be told again as it came is told in the dialect of who asks") {
  struct Case {
    const char* name;
    Answer answer;
    std::string first;  // the path that learns it
    std::string again;
  };
  Answer compressed = refusal(401, {{"Content-Encoding", "gzip"}});
  compressed.pieces = {gzip(compressed.pieces[0])};
  Answer long_one = refusal(401);
  long_one.pieces = {"{\"error\":{\"message\":\"" + std::string(proxy::kMaxRefusalBytes, 'x') + "\"}}"};
  for (const Case& c :
       {Case{"of another API", refusal(401), "/v1/messages", kChatPath},
        Case{"compressed", compressed, "/v1/files", "/v1/files"}, Case{"too long", long_one, kChatPath, kChatPath}}) {
    CAPTURE(c.name);
    World world(kFast, R"("api_keys":["sk-one"])");
    world.upstream_answers({c.answer});
    HttpClient client = world.connect();
    CHECK(client.ask("POST", c.first, {{"Accept-Encoding", "gzip"}}, "{}").status == 401);
    const Reply again = client.ask("POST", c.again, {}, kChatBody);
    CHECK(again.status == 401);
    CHECK(again.headers.get("x-should-retry") == "false");
    CHECK(again.headers.get("content-type") == "application/json");
    const auto error = nlohmann::json::parse(again.body).at("error");
    CHECK(error.at("code") == "keys_refused");
    CHECK(error.at("message") == "the upstream refused every key, the last one with status 401");
    CHECK(world.asked().size() == 1);
  }
}

TEST_CASE("keys: a limit that is told again says what is left of it") {
  World world(kFast, R"("api_keys":["sk-one"])");
  world.upstream_answers({refusal(429, {{"retry-after-ms", "100000"}})});
  CHECK(ask(world).status == 429);
  const Reply again = ask(world);
  CHECK(again.status == 429);
  CHECK(again.headers.get("x-should-retry") == "false");
  const std::string wait(again.headers.get("retry-after-ms"));
  CHECK(std::stol(wait) > 0);
  CHECK(std::stol(wait) <= 100000);
  CHECK(again.headers.count("retry-after") == 1);
  CHECK(world.asked().size() == 1);
}

TEST_CASE("keys: an empty answer and a challenge never count against one") {
  World world(R"("stream_empty_retry_max":0,"breaker":{"open_seconds":0})", kTwoKeys);
  Answer page = refusal(403);
  page.headers = {{"Content-Type", "text/html"}};
  page.pieces = {"<html>/punish?x5secdata"};
  world.upstream_answers({answer_with({}), page, answer_with(chat_pieces(1))});
  CHECK(ask(world).status == 502);
  CHECK(ask(world).status == 503);
  CHECK(ask(world).status == 200);
  CHECK(keys_of(world) == Keys{"Bearer sk-one", "Bearer sk-two", "Bearer sk-one"});
}

TEST_CASE("keys: the client's own credential is never put aside") {
  World world(kFast);
  world.upstream_answers({refusal(401), answer_with(chat_pieces(1))});
  const Reply refused = ask(world, {{"Authorization", "Bearer theirs"}});
  CHECK(refused.status == 401);
  CHECK_FALSE(refused.headers.has("x-should-retry"));
  CHECK(ask(world, {{"Authorization", "Bearer theirs"}}).status == 200);
}

TEST_CASE("upstreams: the next one is tried where one cannot serve, the first one stays the first") {
  const std::string two = R"({"name":"a","base_url":"http://127.0.0.1:PORT/a","api_keys":["sk-a"]},)"
                          R"({"name":"b","base_url":"http://127.0.0.1:PORT/b","api_keys":["sk-b"]})";
  const auto paths_for = [&two](Answer first) {
    World world(kFast + R"(,"breaker":{"strikes":1})", "", two);
    world.upstream_answers({std::move(first), answer_with(chat_pieces(1))});
    std::vector<std::string> paths;
    for (int i = 0; i < 2; ++i) ask(world);
    for (const Asked& one : world.asked()) {
      paths.push_back(one.head.target.substr(0, 2) + " " + std::string(one.head.headers.get("authorization")));
    }
    return paths;
  };
  const std::string a = "/a Bearer sk-a";
  const std::string b = "/b Bearer sk-b";
  CHECK(paths_for(refusal(503)) == Keys{a, b, a});
  CHECK(paths_for(refusal(401)) == Keys{a, b, b});
  CHECK(paths_for(refusal(400)) == Keys{a, a});
  CHECK(paths_for(answer_with({})) == Keys{a, a, a});
  Answer challenge = refusal(200);
  challenge.headers.add("cf-mitigated", "challenge");
  CHECK(paths_for(challenge) == Keys{a, b});  // never repeated; then the breaker is open
}

TEST_CASE("upstreams: one that cannot be reached is passed over") {
  World world(kFast, "",
              R"({"name":"dead","base_url":"http://127.0.0.1:1"},{"name":"b","base_url":"http://127.0.0.1:PORT/b"})");
  world.upstream_answers({answer_with(chat_pieces(1))});
  CHECK(ask(world).status == 200);
  CHECK(world.log_lines().find(R"("lost":"unreachable")") != std::string::npos);
}

TEST_CASE("a client that says how often it has asked is not helped to hammer") {
  for (const char* count : {"2", "3", "99999999999999999999"}) {
    World world(kFast);
    world.upstream_answers({refusal(503)});
    CHECK(ask(world, {{"X-Stainless-Retry-Count", count}}).status == 503);
    CHECK(world.asked().size() == 1);
  }
  for (const char* count : {"0", "1", "x", "-2"}) {
    World world(kFast);
    world.upstream_answers({refusal(503)});
    CHECK(ask(world, {{"X-Stainless-Retry-Count", count}}).status == 503);
    CHECK(world.asked().size() == 2);
  }
}

}  // namespace
}  // namespace tidemark::test
