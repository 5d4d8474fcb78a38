// Contract § 4 as a table, dialect by fault, through real sockets: what the client of each dialect gets when the
// upstream fails once, and what it gets when the upstream goes on failing.
#include <nlohmann/json.hpp>

#include "tests/core/session/relay_samples.hpp"
#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

namespace tidemark::test {
namespace {

const std::string kQuick =
    R"("stream_first_byte_timeout_ms":150,"stream_idle_timeout_ms":150,"commit_hold_ms":5000,)"
    R"("retry":{"attempts":2,"base_ms":1,"jitter_ms":0,"max_ms":1},"breaker":{"open_seconds":0})";

std::string path_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::OpenaiChat:
      return "/v1/chat/completions";
    case Dialect::OpenaiResponses:
      return "/v1/responses";
    case Dialect::AnthropicMessages:
      return "/v1/messages";
    default:
      return "/api/chat";
  }
}

Answer with_end(std::vector<std::string> pieces, Answer::End end) {
  Answer answer = answer_with(std::move(pieces));
  answer.end = end;
  return answer;
}
Answer other(int status, const std::string& type, std::vector<std::string> pieces,
             Answer::End end = Answer::End::Proper) {
  Answer answer = with_end(std::move(pieces), end);
  answer.status = status;
  answer.headers = {{"Content-Type", type}};
  return answer;
}

struct Told {
  int status;
  const char* code;
  const char* anthropic_type;
  int anthropic_status;
  int retry_after;  // 0: none
};
constexpr Told kUnreachable{502, "upstream_unreachable", "api_error", 502, 1};
constexpr Told kEmpty{502, "upstream_empty", "api_error", 502, 1};
constexpr Told kTimeout{504, "upstream_timeout", "timeout_error", 504, 1};
constexpr Told kChallenge{503, "upstream_challenge", "overloaded_error", 529, 30};

struct Fault {
  const char* name;
  Answer (*answer)(const RelaySample&);
  Told told;
  bool repeated = true;
};

// Faults before content.
const std::vector<Fault>& faults() {
  using End = Answer::End;
  static const std::vector<Fault> all{
      {"reset at once", [](const RelaySample&) { return with_end({}, End::ResetAtOnce); }, kUnreachable},
      {"an empty body", [](const RelaySample&) { return answer_with({}); }, kEmpty},
      {"an empty body, cut", [](const RelaySample&) { return with_end({}, End::Cut); }, kEmpty},
      {"comments only",
       [](const RelaySample&) {
         return answer_with({": ping\n\n", ": ping\n\n"});
       },
       kEmpty},
      {"preamble only", [](const RelaySample& s) { return answer_with({s.preamble}); }, kEmpty},
      {"preamble only, cut", [](const RelaySample& s) { return with_end({s.preamble}, End::Cut); }, kEmpty},
      {"silence", [](const RelaySample&) { return with_end({}, End::Stall); }, kTimeout},
      {"silence after the preamble", [](const RelaySample& s) { return with_end({s.preamble}, End::Stall); }, kTimeout},
      {"the frame as an event",
       [](const RelaySample&) { return answer_with({"data: {\"ret\":[\"FAIL_SYS_USER_VALIDATE::x\"]}\n\n"}); },
       kChallenge, false},
      {"the frame, bare", [](const RelaySample&) { return answer_with({"{\"ret\":[\"RGV587_ERROR::SM\"]}"}); },
       kChallenge, false},
      {"the frame as JSON",
       [](const RelaySample&) { return other(200, "application/json", {"{\"ret\":[\"FAIL_SYS_USER_VALIDATE\"]}"}); },
       kChallenge, false},
      {"a captcha page",
       [](const RelaySample&) {
         return other(200, "text/html", {"<html><a href=\"/punish?x5secdata=1\">", "</html>"});
       },
       kChallenge, false},
      {"a captcha page, cut",
       [](const RelaySample&) {
         return other(200, "text/html", {"<!doctype html><script src=\"/_____tmd_____/pu"}, End::Cut);
       },
       kChallenge, false},
      {"a captcha page with a status",
       [](const RelaySample&) { return other(403, "text/html", {"<html><script>window._cf_chl_opt={}</script>"}); },
       kChallenge, false},
  };
  return all;
}

void check_told(const RelaySample& sample, const Told& told, const Reply& reply) {
  const bool anthropic = sample.dialect == Dialect::AnthropicMessages;
  CHECK(reply.status == (anthropic ? told.anthropic_status : told.status));
  CHECK(reply.headers.get("content-type") == "application/json");
  const auto body = nlohmann::json::parse(reply.body);
  const auto& error = body.at("error");
  if (anthropic) {
    CHECK(body.at("type") == "error");
    CHECK(body.contains("request_id"));
    CHECK(error.at("type") == told.anthropic_type);
  } else {
    CHECK(error.at("type") == (told.status == 503 ? "upstream_unavailable" : "upstream_error"));
    CHECK(error.at("code") == told.code);
    CHECK(error.at("param").is_null());
  }
  CHECK_FALSE(error.at("message").get<std::string>().empty());
  CHECK(error.at("retry_after") == told.retry_after);
  CHECK(reply.headers.get("retry-after") == std::to_string(told.retry_after));
  CHECK(reply.headers.get("retry-after-ms") == std::to_string(told.retry_after * 1000));
  CHECK_FALSE(reply.headers.has("tidemark-stream"));
}

Reply ask(World& world, const RelaySample& sample) {
  HttpClient client = world.connect();
  return client.ask("POST", path_of(sample.dialect), {}, kChatBody);
}

TEST_CASE("truth: a fault before content that happens once is never seen, unless it is a challenge") {
  for (const RelaySample& sample : samples()) {
    for (const Fault& fault : faults()) {
      CAPTURE(dialect::name(sample.dialect), fault.name);
      World world(kQuick);
      world.upstream_answers({fault.answer(sample), answer_with({sample.whole()})});
      const Reply reply = ask(world, sample);
      const auto asked = world.asked();
      if (!fault.repeated) {
        check_told(sample, fault.told, reply);
        CHECK(asked.size() == 1);
        continue;
      }
      CHECK(reply.status == 200);
      CHECK(without_ids(reply.body) == sample.whole() + kCompleteEnd);
      REQUIRE(asked.size() == 2);
      CHECK(asked[0].body == asked[1].body);
    }
  }
}

TEST_CASE("truth: a fault before content that goes on has a real status, and the same request may try again") {
  for (const RelaySample& sample : samples()) {
    for (const Fault& fault : faults()) {
      CAPTURE(dialect::name(sample.dialect), fault.name);
      World world(kQuick);
      world.upstream_answers({fault.answer(sample)});
      check_told(sample, fault.told, ask(world, sample));
      CHECK(world.asked().size() == (fault.repeated ? 2 : 1));
    }
  }
}

TEST_CASE("truth: an upstream's own error is passed on byte for byte, after the repeats that it is worth") {
  for (const RelaySample& sample : samples()) {
    for (const int status : {400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529}) {
      CAPTURE(dialect::name(sample.dialect), status);
      World world(kQuick);
      Answer answer = other(status, "application/json", {R"( { "error" : {"message":"as I say"}} )"});
      answer.headers.add("x-request-id", "r1");
      world.upstream_answers({answer});
      const Reply reply = ask(world, sample);
      CHECK(reply.status == status);
      CHECK(reply.headers.get("x-request-id") == "r1");
      CHECK(reply.body == R"( { "error" : {"message":"as I say"}} )");
      const bool may_pass = status == 408 || status == 409 || status == 429 || status >= 500;
      CHECK(world.asked().size() == (may_pass ? 2 : 1));
    }
  }
}

TEST_CASE("truth: after the commit the beginning is told once, and the last error as the dialect's own event") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    const Answer lost = with_end({sample.preamble}, Answer::End::Stall);
    const std::string quick = R"("stream_idle_timeout_ms":100,"commit_hold_ms":0)";
    World once(quick);
    once.upstream_answers({lost, answer_with({sample.whole()})});
    CHECK(without_ids(ask(once, sample).body) == sample.whole() + kCompleteEnd);
    CHECK(once.asked().size() == 2);

    World always(quick);
    always.upstream_answers({lost});
    const Reply reply = ask(always, sample);
    CHECK(reply.status == 200);
    const auto blocks = blocks_of(reply.body);
    REQUIRE(blocks.size() >= 3);
    CHECK(blocks.back() == ": tidemark end=failed reason=upstream-timeout\n\n");
    const std::string& error = blocks[blocks.size() - 2];
    switch (sample.dialect) {
      case Dialect::OpenaiChat:
        CHECK(error.find("data: {\"error\":{") != std::string::npos);
        break;
      case Dialect::OpenaiResponses:
        CHECK(error.find("event: response.failed\n") != std::string::npos);
        break;
      default:
        CHECK(error.find("event: error\n") != std::string::npos);
        break;
    }
  }
}

TEST_CASE("truth: bytes are not life: pings, comments and empty events let nothing go out and keep nothing alive") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    World world(R"("stream_first_byte_timeout_ms":150,"commit_hold_ms":0,"stream_empty_retry_max":0)");
    world.upstream_answers(
        {with_end({": ping\n\n", "data:\n\n", "event: ping\ndata: {\"type\":\"ping\"}\n\n"}, Answer::End::Stall)});
    check_told(sample, kTimeout, ask(world, sample));
    // Between the events of an answer they are no more than that.
    World answered(kQuick);
    answered.upstream_answers({answer_with(
        {": ping\n\n", sample.preamble, "data:\n\n", sample.text, ": ping\n\n", sample.more_text, sample.end})});
    CHECK(without_ids(ask(answered, sample).body) == sample.whole() + kCompleteEnd);
  }
}

TEST_CASE("truth: an error event inside a 200 is an error, repeated where it may pass") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    World once(kQuick);
    once.upstream_answers({answer_with({sample.preamble, sample.failing}), answer_with({sample.whole()})});
    CHECK(without_ids(ask(once, sample).body) == sample.whole() + kCompleteEnd);
    CHECK(once.asked().size() == 2);

    World always(kQuick);
    always.upstream_answers({answer_with({sample.failing})});
    const Reply told = ask(always, sample);
    check_told(sample, kEmpty, told);
    CHECK(told.body.find("try later") != std::string::npos);

    World final(kQuick);
    final.upstream_answers({answer_with({sample.final}), answer_with({sample.whole()})});
    const Reply refused = ask(final, sample);
    CHECK(refused.status >= 400);
    CHECK(refused.status < 500);
    CHECK(refused.body.find("no money") != std::string::npos);
    CHECK(final.asked().size() == 1);
  }
}

TEST_CASE("truth: what breaks off after content is ended as the dialect ends, and never asked for again") {
  for (const RelaySample& sample : samples()) {
    for (const auto end : {Answer::End::Proper, Answer::End::Cut, Answer::End::Stall}) {
      CAPTURE(dialect::name(sample.dialect), static_cast<int>(end));
      World world(kQuick);
      world.upstream_answers({with_end({sample.preamble + sample.text}, end)});
      const Reply reply = ask(world, sample);
      CHECK(reply.status == 200);
      CHECK(world.asked().size() == 1);
      CHECK(reply.complete);
      const std::string body = without_ids(reply.body);
      CHECK(body.compare(0, sample.preamble.size() + sample.text.size(), sample.preamble + sample.text) == 0);
      CHECK(body.find(": tidemark end=truncated reason=synthesized-stop\n\n") != std::string::npos);
      const std::string last = sample.dialect == Dialect::OpenaiResponses     ? "event: response.completed\n"
                               : sample.dialect == Dialect::AnthropicMessages ? "event: message_stop\n"
                                                                              : "data: [DONE]\n";
      CHECK(body.find(last) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tidemark::test
