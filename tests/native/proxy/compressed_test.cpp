// Compressed bodies that are passed through: judged by what they say, handed on as they came (contract § 4.1).
#include <nlohmann/json.hpp>

#include "tests/native/gzip.hpp"
#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

namespace tidemark::test {
namespace {

Answer compressed(const std::string& text, const char* type, const char* coding = "gzip", int status = 200) {
  Answer answer;
  answer.status = status;
  answer.headers = {{"Content-Type", type}, {"Content-Encoding", coding}};
  const std::string body = gzip(text);
  answer.pieces = {body.substr(0, 5), body.substr(5)};
  return answer;
}

TEST_CASE("compressed: a challenge is recognised whatever the request was") {
  const std::string page = "<!doctype html><html><script src=\"/punish?x5secdata=1\"></script></html>";
  for (const Answer& answer : {compressed(page, "text/html"), compressed(page, "text/html", "x-gzip"),
                               compressed(page, "text/html", "gzip", 403),
                               compressed("<html>" + std::string(200u << 10, 'y') + page, "text/html"),
                               compressed(R"({"ret":["FAIL_SYS_USER_VALIDATE::x"]})", "application/json")}) {
    World world(R"("breaker":{"strikes":1,"open_seconds":50})");
    world.upstream_answers({answer});
    HttpClient client = world.connect();
    const Reply reply = client.ask("GET", "/x", {{"Accept-Encoding", "gzip"}});
    CHECK(reply.status == 503);
    CHECK(nlohmann::json::parse(reply.body).at("error").at("code") == "upstream_challenge");
    CHECK(client.ask("GET", "/x", {{"Accept-Encoding", "gzip"}}).status == 503);
    CHECK(world.asked().size() == 1);  // it was a strike
  }
}

TEST_CASE("compressed: any other body is handed on byte for byte, under its own headers") {
  const std::string page = "<html>hello</html>";
  for (const char* coding : {"gzip", "br"}) {  // the second is none, but who knows
    for (const char* type : {"text/html", "application/json"}) {
      World world;
      world.upstream_answers({compressed(page, type, coding)});
      HttpClient client = world.connect();
      const Reply reply = client.ask("GET", "/x", {{"Accept-Encoding", "gzip, br"}});
      CHECK(reply.status == 200);
      CHECK(reply.headers.get("content-encoding") == coding);
      CHECK(reply.body == gzip(page));
    }
  }
  // More than is looked at, and something that is no gzip at all.
  World world;
  const std::string large = "<html>" + std::string(3u << 20, 'z');
  Answer damaged = compressed(page, "text/html");
  damaged.pieces = {"<html>", "plain"};
  world.upstream_answers({compressed(large, "text/html"), damaged});
  HttpClient client = world.connect();
  CHECK(client.ask("GET", "/x", {{"Accept-Encoding", "gzip"}}).body == gzip(large));
  CHECK(client.ask("GET", "/x", {{"Accept-Encoding", "gzip"}}).body == "<html>plain");
}

}  // namespace
}  // namespace tidemark::test
