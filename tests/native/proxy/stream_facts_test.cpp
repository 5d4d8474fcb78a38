// What is kept of a stream for another process: all that it needs, and no credential.
#include "native/proxy/stream_facts.hpp"
#include "tests/catch.hpp"

namespace tidemark::proxy {
namespace {

void fill(Stream& stream) {
  stream.principal = "owner";
  stream.id = "an answer";
  stream.terms = {{"e1", 0}};
  stream.request = {1, 2, 255};
  stream.dialect = dialect::Dialect::AnthropicMessages;
  stream.headers = {{"X-Request-Id", "r"}, {"Set-Cookie", "secret-1"}};
  stream.may_linger = true;
  stream.attempts = 3;
  stream.seams = {{2, seam::Form::Prefix, 5, 7, "joined"}, {3, seam::Form::ContinueTurn, 9, 0, "form-refused"}};
  stream.created_unix_ms = 1234;
}

RunRequest asked() {
  RunRequest request;
  request.head.method = "POST";
  request.head.target = "/v1/messages?beta=true";
  request.head.headers = {{"anthropic-version", "2023-06-01"},  {"X-Api-Key", "secret-2"},
                          {"Authorization", "Bearer secret-3"}, {"Cookie", "secret-4"},
                          {"Proxy-Authorization", "secret-5"},  {"X-User", "secret-6"},
                          {"x-goog-api-key", "secret-7"},       {"X-Auth-Token", "secret-8"},
                          {"Referer", "https://page/?secret-9"}};
  request.body = std::string("{\"stream\":true}\0\xff", 18);
  request.expects_stream = request.resumable = true;
  return request;
}

TEST_CASE("stream facts: a stream that runs is there again, with its request") {
  Stream stream;
  fill(stream);
  const RunRequest request = asked();
  const auto again = from_facts(to_facts(stream, &request, "x-user"));
  REQUIRE(again);
  CHECK(again->principal == "owner");
  CHECK(again->id == "an answer");
  REQUIRE(again->terms.size() == 1);
  CHECK(again->epoch() == "e1");
  CHECK(again->terms[0].first == 0);
  CHECK(again->request == stream.request);
  CHECK(again->dialect == dialect::Dialect::AnthropicMessages);
  CHECK(again->headers == http::Headers{{"X-Request-Id", "r"}});
  CHECK(again->may_linger);
  CHECK(again->attempts == 3);
  REQUIRE(again->seams.size() == 2);
  CHECK(again->seams[0].attempt == 2);
  CHECK(again->seams[0].form == seam::Form::Prefix);
  CHECK(again->seams[0].at == 5);
  CHECK(again->seams[0].trimmed == 7);
  CHECK(again->seams[0].verdict == "joined");
  CHECK(again->seams[1].form == seam::Form::ContinueTurn);
  CHECK(again->seams[1].verdict == "form-refused");
  CHECK(again->created_unix_ms == 1234);
  CHECK_FALSE(again->end);
  REQUIRE(again->left);
  CHECK(again->left->head.method == "POST");
  CHECK(again->left->head.target == request.head.target);
  CHECK(again->left->head.headers == http::Headers{{"anthropic-version", "2023-06-01"}});
  CHECK(again->left->body == request.body);
  CHECK(again->left->expects_stream);
  CHECK(again->left->resumable);
  CHECK(again->left->dialect == dialect::Dialect::AnthropicMessages);
}

TEST_CASE("stream facts: no credential is among them") {
  Stream stream;
  fill(stream);
  RunRequest request = asked();
  CHECK(to_facts(stream, &request, "x-user").find("secret") == std::string::npos);
  for (const char* target :
       {"/v1beta/models/m:streamGenerateContent?alt=sse&key=secret", "/v1/messages?token=secret",
        "/v1/messages?sig=secret&beta=true", "/v1/messages?secret", "/v1/messages?beta=true&&code=secret"}) {
    request.head.target = target;
    const std::string facts = to_facts(stream, &request, "x-user");
    CHECK(facts.find("secret") == std::string::npos);
    // It can be continued by who makes it again, and by nobody else.
    const auto again = from_facts(facts);
    REQUIRE(again);
    REQUIRE(again->left);
    CHECK(again->left->head.method.empty());
  }
}

TEST_CASE("stream facts: an end is kept, in every state and for every reason") {
  for (int state = 0; state <= static_cast<int>(session::EndState::Failed); ++state) {
    for (int reason = 0; reason <= static_cast<int>(session::EndReason::Shutdown); ++reason) {
      Stream stream;
      fill(stream);
      const RunRequest request = asked();
      stream.end = StreamEnd{static_cast<session::EndState>(state), static_cast<session::EndReason>(reason), 99};
      const auto again = from_facts(to_facts(stream, &request, {}));
      REQUIRE(again);
      REQUIRE(again->end);
      CHECK(again->end->state == stream.end->state);
      CHECK(again->end->reason == stream.end->reason);
      CHECK(again->end->at_unix_ms == 99);
      CHECK_FALSE(again->left);
    }
  }
}

TEST_CASE("stream facts: what are none is refused, wherever they are cut") {
  Stream stream;
  fill(stream);
  const std::string facts = to_facts(stream, nullptr, {});
  REQUIRE(from_facts(facts));
  for (std::size_t size = 0; size < facts.size(); ++size) CHECK_FALSE(from_facts(facts.substr(0, size)));
  CHECK_FALSE(from_facts("{}"));
}

TEST_CASE("stream facts: who comes for a stream lends their credentials, and a client token stays here") {
  RunRequest request;
  request.head.headers = {{"anthropic-version", "2023-06-01"}};
  lend_credentials(request, {{"Authorization", "Bearer token"}, {"Cookie", "c"}, {"X-Api-Key", "own"}}, {"token"});
  CHECK(request.head.headers.get("authorization") == "Bearer token");
  CHECK(request.head.headers.get("x-api-key") == "own");
  CHECK_FALSE(request.head.headers.has("cookie"));
  CHECK(request.token_in == "authorization");
}

}  // namespace
}  // namespace tidemark::proxy
