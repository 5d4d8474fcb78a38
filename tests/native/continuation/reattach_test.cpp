// The requests that resume the provider's own generation.
#include <string>

#include "tests/catch.hpp"
#include "tests/native/continuation/cut.hpp"

namespace tidemark::continuation {
namespace {

using dialect::Dialect;
using seam::Form;

constexpr std::string_view kStored = R"({"model":"gpt-5.1","input":"hi","background":true,"store":true,"stream":true})";

TEST_CASE("a stored response is asked for from the number on that came last") {
  const config::Upstream upstream = upstream_at("https://api.openai.com/base");
  CutAnswer cut = cut_answer(upstream, Dialect::OpenaiResponses, kStored, "text");
  cut.answer_id = "resp_abc123";
  cut.last_sequence = 41;
  auto built = continued_request(Form::Reattach, cut);
  REQUIRE(built.ok());
  CHECK(built.value().method == "GET");
  CHECK(built.value().target == "/base/v1/responses/resp_abc123?stream=true&starting_after=41");
  CHECK(built.value().body.empty());
  CHECK(built.value().continuer == seam::Continuer::SameGeneration);
  CHECK(built.value().stripped_bytes == 0);

  http::RequestHead head;
  head.method = "POST";
  head.target = "/base/v1/responses";
  head.headers = {{"Host", "api.openai.com"}, {"Authorization", "Bearer k"}, {"Content-Type", "application/json"},
                  {"Content-Length", "5"},    {"Idempotency-Key", "one"},    {"OpenAI-Organization", "o"},
                  {"Last-Event-ID", "e-3"}};
  apply(built.value(), head);
  CHECK(head.method == "GET");
  CHECK(head.target == "/base/v1/responses/resp_abc123?stream=true&starting_after=41");
  CHECK(head.headers ==
        http::Headers{{"Host", "api.openai.com"}, {"Authorization", "Bearer k"}, {"OpenAI-Organization", "o"}});
}

TEST_CASE("what the client's path and query say is carried over, and what its body asks to include") {
  const config::Upstream upstream = upstream_at("https://mine.openai.azure.com");
  const std::string body = R"({"input":"hi","background":true,"include":["reasoning.encrypted_content","a b"]})";
  CutAnswer cut = cut_answer(upstream, Dialect::OpenaiResponses, body, "text");
  cut.target = "/openai/v1/responses/?api-version=preview#x";
  cut.answer_id = "re/sp?1";
  cut.last_sequence = 0;
  const auto built = continued_request(Form::Reattach, cut);
  REQUIRE(built.ok());
  CHECK(built.value().target ==
        "/openai/v1/responses/re%2Fsp%3F1?api-version=preview&stream=true&starting_after=0"
        "&include%5B%5D=reasoning.encrypted_content&include%5B%5D=a%20b");
}

TEST_CASE("without an id or a number there is nothing to resume") {
  const config::Upstream upstream = upstream_at("https://api.openai.com");
  CutAnswer cut = cut_answer(upstream, Dialect::OpenaiResponses, kStored, "text");
  CHECK(why_not(continued_request(Form::Reattach, cut)) == "position-unknown");
  cut.answer_id = "resp_1";
  CHECK(why_not(continued_request(Form::Reattach, cut)) == "position-unknown");
  cut.answer_id = "";
  cut.last_sequence = 1;
  CHECK(why_not(continued_request(Form::Reattach, cut)) == "position-unknown");
  cut.answer_id = "resp_1";
  CHECK(why_not(continued_request(Form::Reattach, cut)).empty());
  cut.body = R"({"input":"hi","store":true})";
  CHECK(why_not(continued_request(Form::Reattach, cut)) == "not-resumable");
  cut.dialect = Dialect::OpenaiChat;
  CHECK(why_not(continued_request(Form::Reattach, cut)) == "not-resumable");
}

TEST_CASE("a server of seq-delta gets the same request again, with its key and where to go on") {
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1/base");
  CutAnswer cut = cut_answer(upstream, Dialect::SeqDelta, "not JSON at all", "text");
  cut.target = "/answers?x=1";
  CHECK(why_not(continued_request(Form::Reattach, cut)) == "position-unknown");
  cut.last_sequence = 7;
  const auto built = continued_request(Form::Reattach, cut);
  REQUIRE(built.ok());
  CHECK(built.value().body == "not JSON at all");
  CHECK(built.value().continuer == seam::Continuer::SameGeneration);
  http::RequestHead head;
  head.method = "POST";
  head.headers = {{"Idempotency-Key", "one"}, {"x-resume-seq", "2"}, {"Content-Type", "text/plain"}};
  apply(built.value(), head);
  CHECK(head.method == "POST");
  CHECK(head.target == "/base/answers?x=1");
  CHECK(head.headers ==
        http::Headers{{"Idempotency-Key", "one"}, {"Content-Type", "text/plain"}, {"X-Resume-Seq", "7"}});
}

TEST_CASE("the model is what the body names, or the path") {
  CHECK(model_of("/v1/chat/completions", R"({"model":"a\u0062"})") == "ab");
  CHECK(model_of("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "{}") == "gemini-2.5-flash");
  CHECK(model_of("/openai/deployments/mine/chat/completions?api-version=1", R"({"messages":[]})") == "mine");
  CHECK(model_of("/model/anthropic.claude-opus-4-5-v1:0/invoke", "x") == "anthropic.claude-opus-4-5-v1");
  CHECK(model_of("/v1/chat/completions?x=/models/y", "{}") == "");
  CHECK(model_of("", "") == "");
}

}  // namespace
}  // namespace tidemark::continuation
