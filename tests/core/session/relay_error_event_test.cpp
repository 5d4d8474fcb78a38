// Errors that the upstream tells in its stream: what the client gets is what its SDK takes for an error (contract
// § 4.2).
#include <nlohmann/json.hpp>

#include "core/dialect/ending.hpp"
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

using Json = nlohmann::json;

struct Case {
  RelaySample sample;
  std::string error;  // as it comes
  const char* name;   // of the event that the client gets; empty: no event line
  const char* data;   // its JSON, or as much of it as matters
};

std::string failed(int sequence, const std::string& id) {
  return event("response.failed", R"(,"sequence_number":)" + std::to_string(sequence) + R"(,"response":{"id":")" + id +
                                      R"(","status":"failed","error":{"code":"server_error","message":"boom"}})");
}

std::string named(const std::string& name, const std::string& data) {
  return "event: " + name + "\ndata: " + data + "\n\n";
}

const std::vector<Case>& foreign_shapes() {
  constexpr const char* kChat = R"({"error":{"message":"boom","type":"upstream_error","code":"server_error"}})";
  constexpr const char* kChatTyped = R"({"error":{"message":"boom","type":"server_error"}})";
  constexpr const char* kFailed =
      R"({"type":"response.failed","sequence_number":5,"response":{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"boom"}}})";
  constexpr const char* kFailedBare =
      R"({"type":"response.failed","sequence_number":5,"response":{"id":"resp_1","status":"failed","error":{"message":"boom"}}})";
  constexpr const char* kAnthropic = R"({"type":"error","error":{"type":"overloaded_error","message":"boom"}})";
  constexpr const char* kAnthropicBare = R"({"type":"error","error":{"type":"api_error","message":"boom"}})";
  static const std::vector<Case> all{
      {chat_sample(), data_event(R"({"type":"error","message":"boom","code":"server_error"})"), "", kChat},
      {chat_sample(), data_event(R"({"object":"error","message":"boom","type":"server_error","code":500})"), "",
       kChatTyped},
      {chat_sample(), named("error", R"({"message":"boom","code":"server_error"})"), "", kChat},
      {chat_sample(), named("error", "boom"), "", R"({"error":{"message":"boom"}})"},
      {chat_sample(), data_event(R"({"error":"boom"})"), "", R"({"error":{"message":"boom"}})"},
      {chat_sample(), data_event(R"({"error":{}})"), "",
       R"({"error":{"message":"the upstream reported an error","type":"upstream_error"}})"},
      {chat_sample(), data_event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"error"}]})"), "",
       R"({"error":{"message":"the upstream reported an error","code":"error"}})"},
      {responses_sample(),
       event("error", R"(,"sequence_number":1,"code":"server_error","message":"boom","param":null)"), "response.failed",
       kFailed},
      {responses_sample(), event("error", R"(,"error":{"code":"server_error","message":"boom"})"), "response.failed",
       kFailed},
      {responses_sample(), data_event(R"({"error":{"message":"boom"}})"), "response.failed", kFailedBare},
      {responses_sample(), failed(1, "resp_1"), "response.failed", kFailed},
      {responses_sample(), failed(99, "resp_1"), "response.failed", kFailed},
      {responses_sample(), failed(5, "resp_X"), "response.failed", kFailed},
      {anthropic_sample(), data_event(R"({"type":"error","error":{"type":"overloaded_error","message":"boom"}})"),
       "error", kAnthropic},
      {anthropic_sample(), data_event(R"({"error":{"message":"boom"}})"), "error", kAnthropicBare},
      {anthropic_sample(), named("error", R"({"error":{"type":"overloaded_error","message":"boom"}})"), "error",
       kAnthropic},
      {anthropic_sample(), named("error", "boom"), "error", kAnthropicBare},
      {ai_sdk_sample(), data_event(R"({"type":"error","error":"boom"})"), "", R"({"type":"error","errorText":"boom"})"},
      {ai_sdk_sample(), named("error", R"({"error":{"message":"boom"}})"), "",
       R"({"type":"error","errorText":"boom"})"},
  };
  return all;
}

const std::vector<Case>& own_shapes() {
  static const std::vector<Case> all{
      {chat_sample(), data_event(R"({"error":{"message":"boom","type":"server_error","code":null},"x":1})"), "", ""},
      {chat_sample(),
       data_event(
           R"({"id":"c","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"boom"}})"),
       "", ""},
      {responses_sample(), failed(5, "resp_1"), "", ""},
      {anthropic_sample(), event("error", R"(,"error":{"type":"overloaded_error","message":"boom"},"request_id":"r")"),
       "", ""},
      {ai_sdk_sample(), data_event(R"({"type":"error","errorText":"boom"})"), "", ""},
  };
  return all;
}

// What the client gets after `before`; one event.
std::string rest_of(const RelayWorld& world, const std::string& before) {
  const std::string body = world.body();
  REQUIRE(body.substr(0, before.size()) == before);
  return body.substr(before.size());
}

void check_translated(const std::string& rest, const Case& c) {
  sse::Parser parser;
  parser.feed(rest);
  sse::Event event;
  REQUIRE(parser.next(event) == sse::Step::Event);
  CHECK(event.name == c.name);
  const Json data = Json::parse(event.data);
  // Every member that is expected is there.
  Json patched = data;
  patched.merge_patch(Json::parse(c.data));
  CHECK(patched == data);
  CHECK(parser.next(event) == sse::Step::NeedMore);
}

TEST_CASE("relay: an error after content that the dialect's SDKs would pass over goes out in their shape") {
  for (const Case& c : foreign_shapes()) {
    CAPTURE(dialect::name(c.sample.dialect), c.error);
    const std::string answer = c.sample.preamble + c.sample.text;
    RelayWorld world(relay_options(c.sample.dialect));
    world.start().head().bytes(answer + c.error + c.sample.more_text + c.sample.end);
    CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
    check_translated(rest_of(world, answer), c);
    CHECK(world.cut == std::vector<unsigned>{1});
    CHECK(world.attempt() == 1);
  }
}

TEST_CASE("relay: an error after content in the dialect's own shape is handed on, and is the last word") {
  for (const Case& c : own_shapes()) {
    CAPTURE(dialect::name(c.sample.dialect), c.error);
    const std::string answer = c.sample.preamble + c.sample.text;
    RelayWorld world(relay_options(c.sample.dialect));
    world.start().head().bytes(answer + c.error + c.sample.more_text + c.sample.end);
    CHECK(rest_of(world, answer) == c.error);
    CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
  }
}

TEST_CASE("relay: an error after the commit, before content, likewise") {
  for (const Case& c : foreign_shapes()) {
    CAPTURE(dialect::name(c.sample.dialect), c.error);
    RelayOptions options = relay_options(c.sample.dialect);
    options.stream_empty_retry_max = 0;
    RelayWorld world(options);
    world.start().head().bytes(c.sample.preamble).wait(2000);
    REQUIRE(world.committed());
    const std::string before = world.body();
    world.bytes(c.error + c.sample.text);
    CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
    const std::string rest = rest_of(world, before);
    CHECK(rest.find("Hello") == std::string::npos);
    CHECK(rest.find(c.sample.dialect == Dialect::OpenaiResponses ? "response.failed" : "\"error") != std::string::npos);
    const Json said = Json::parse(c.data);
    const bool named = said.dump().find("boom") != std::string::npos;
    CHECK((rest.find("boom") != std::string::npos) == named);
  }
}

TEST_CASE("relay: text beside an error is not lost") {
  const RelaySample sample = chat_sample();
  RelayWorld world(relay_options(sample.dialect));
  const std::string last =
      data_event(R"({"choices":[{"index":0,"delta":{"content":" wor"},"finish_reason":"error"}]})");
  world.start().head().bytes(sample.preamble + sample.text + last);
  const std::string rest = rest_of(world, sample.preamble + sample.text);
  CHECK(rest.substr(0, last.size()) == last);
  CHECK(rest.find("data: {\"error\":{\"message\":", last.size()) == last.size());
  CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
}

TEST_CASE("relay: an error in a second attempt goes by the ids and numbers that the client knows") {
  const RelaySample first = responses_sample("A");
  const RelaySample second = responses_sample("B");
  const std::string keepalive = event("keepalive", R"(,"sequence_number":4)");
  for (const std::string& error :
       {failed(5, "resp_B"), event("error", R"(,"sequence_number":5,"code":"server_error","message":"boom")")}) {
    CAPTURE(error);
    RelayWorld world(relay_options(Dialect::OpenaiResponses));
    world.start().head().bytes(first.preamble + keepalive).wait(2000).reset();
    world.head().bytes(second.preamble + second.text + error);
    std::vector<std::uint64_t> numbers;
    const std::string body = world.body();
    sse::Parser parser;
    parser.feed(body);
    sse::Event last;
    for (sse::Event event; parser.next(event) == sse::Step::Event;) {
      numbers.push_back(Json::parse(event.data).at("sequence_number").get<std::uint64_t>());
      last = event;
    }
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    CHECK(numbers.back() == numbers.front() + numbers.size() - 1);
    CHECK(last.name == "response.failed");
    CHECK(Json::parse(last.data).at("response").at("id") == "resp_A");
  }
}

TEST_CASE("dialect: what is said as an error event is one, and no other shape is") {
  for (int i = 0; i < dialect::kDialectCount; ++i) {
    const auto dialect = static_cast<Dialect>(i);
    if (dialect == Dialect::Opaque) continue;
    CAPTURE(dialect::name(dialect));
    dialect::Answer answer;
    answer.id = "resp_1";
    answer.sequence = 4;
    dialect::ErrorFacts facts;
    facts.type = "upstream_error";
    facts.message = "boom";
    const dialect::OwnEvent own = dialect::error_event(dialect, answer, facts);
    sse::Event event;
    event.name = own.name;
    event.data = own.data;
    CHECK(dialect::is_error_event(dialect, answer, event));
    event.data = R"({"type":"error","message":"boom"})";
    CHECK_FALSE(dialect::is_error_event(dialect, answer, event));
    event.data = "boom";
    CHECK_FALSE(dialect::is_error_event(dialect, answer, event));
  }
}

}  // namespace
}  // namespace tidemark::test
