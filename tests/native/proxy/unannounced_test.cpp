// Answers that turn out to be streams although the request did not say so (contract § 2.2): named by an
// Idempotency-Key they are attached to and resumed like any other.
#include <nlohmann/json.hpp>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

namespace tidemark::test {
namespace {

const std::string kPath = "/api/chat";
const std::string kBody = R"({"messages":[{"role":"user","content":"Hi"}]})";
const std::string kWhole = R"({"messages":[{"role":"user","content":"Hi"}],"resumeSeq":1,"receivedLength":5})";

Answer seq_answer() {
  return answer_with({"data: {\"seq\":0,\"delta\":\"Hel\"}\n\n", "data: {\"seq\":1,\"delta\":\"lo\"}\n\n",
                      "data: {\"seq\":2,\"done\":true}\n\n"});
}

TEST_CASE("unannounced: the key names the stream, and the same request attaches") {
  World world;
  world.upstream_answers({seq_answer()});
  HttpClient client = world.connect();
  const Reply whole = client.ask("POST", kPath, with_key(), kBody);
  CHECK(whole.status == 200);
  CHECK(whole.headers.get("tidemark-stream") == kKey);
  CHECK(client.ask("POST", kPath, with_key(), kBody).body == whole.body);
  const Reply rest = client.ask("POST", kPath, with_key(kKey, {{"X-Resume-Seq", "0"}}), kBody);
  CHECK(rest.headers.get("tidemark-resumed") == "true");
  const auto blocks = blocks_of(whole.body);
  REQUIRE(blocks.size() == 4);
  CHECK(rest.body == blocks[1] + blocks[2] + blocks[3]);
  // The watermark in the body, which is compared without it.
  CHECK(client.ask("POST", kPath, with_key(), kWhole).body == blocks[2] + blocks[3]);
  CHECK(client.ask("POST", kPath, with_key(), R"({"messages":[]})").status == 422);
  REQUIRE(world.asked().size() == 1);
  CHECK(world.asked()[0].body == kBody);
  CHECK(client.ask("POST", kPath, with_key("another-key-of-twenty-and-more", {{"X-Resume-Seq", "3"}}), kBody).status ==
        410);
  CHECK(world.asked().size() == 1);
}

TEST_CASE("unannounced: without a key that can be one, nothing of the request is touched") {
  World world;
  world.upstream_answers({seq_answer()});
  for (const http::Headers& headers :
       {http::Headers{}, http::Headers{{"Idempotency-Key", "short"}}, http::Headers{{"Idempotency-Key", "a b"}}}) {
    HttpClient client = world.connect();
    http::Headers all = headers;
    all.add("X-Resume-Seq", "7");
    const Reply reply = client.ask("POST", kPath, all, kWhole);
    CHECK(reply.status == 200);
    CHECK(reply.headers.get("tidemark-stream").size() == 32);
    CHECK(world.asked().back().body == kWhole);
    CHECK(world.asked().back().head.headers.get("x-resume-seq") == "7");
  }
  CHECK(world.asked().size() == 3);
}

TEST_CASE("unannounced: an answer without content is asked for again like any stream") {
  const std::string busy = R"(data: {"error":{"message":"busy","type":"server_error","code":"server_error"}})"
                           "\n\n";
  Answer cut = answer_with({"data: {\"type\":\"start\"}\n\n"});
  const Answer good = answer_with({"data: {\"type\":\"start\"}\n\n",
                                   "data: {\"type\":\"text-delta\",\"id\":\"1\",\"delta\":\"Hi\"}\n\n",
                                   "data: {\"type\":\"finish\"}\n\n", "data: [DONE]\n\n"});
  for (const Answer& first : {cut, answer_with({busy}), answer_with({})}) {
    World world(R"("retry":{"base_ms":1,"jitter_ms":0})");
    world.upstream_answers({first, good});
    HttpClient client = world.connect();
    const Reply reply = client.ask("POST", kPath, with_key(), kBody);
    CHECK(reply.status == 200);
    CHECK(reply.body.find("\"Hi\"") != std::string::npos);
    CHECK(reply.body.find("end=complete") != std::string::npos);
    CHECK(world.asked().size() == 2);
  }
}

TEST_CASE("unannounced: what may have done its work without a stream is not sent twice") {
  Answer busy;
  busy.status = 503;
  busy.headers = {{"Content-Type", "application/json"}};
  busy.pieces = {"{}"};
  Answer reset;
  reset.end = Answer::End::ResetAtOnce;
  for (const Answer& only : {busy, reset}) {
    for (const http::Headers& headers : {http::Headers{}, with_key()}) {
      World world;
      world.upstream_answers({only});
      HttpClient client = world.connect();
      CHECK(client.ask("POST", "/v1/embeddings", headers, "{}").status >= 502);
      CHECK(world.asked().size() == 1);
    }
  }
  // An empty event stream of no known dialect, from a request without a name, is what it is.
  World world;
  world.upstream_answers({answer_with({})});
  HttpClient client = world.connect();
  CHECK(client.ask("POST", "/mcp", {}, "{}").body == ": tidemark end=complete reason=end-of-body\n\n");
  CHECK(world.asked().size() == 1);
}

TEST_CASE("unannounced: a plain request goes on to the next upstream where nobody is listening") {
  World world("", "",
              R"({"name":"dead","base_url":"http://127.0.0.1:1"},{"name":"b","base_url":"http://127.0.0.1:PORT"})");
  Answer models;
  models.headers = {{"Content-Type", "application/json"}};
  models.pieces = {"{}"};
  world.upstream_answers({models});
  HttpClient client = world.connect();
  CHECK(client.ask("GET", "/v1/models").status == 200);
  CHECK(client.ask("POST", "/v1/embeddings", {}, "{}").status == 200);
}

}  // namespace
}  // namespace tidemark::test
