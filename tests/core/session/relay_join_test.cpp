// The second attempt after the commit: one preamble, ids and numbers as the client knows them (contract § 4, rule 2).
#include <numeric>
#include <string>
#include <vector>

#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("relay: after the commit a failed attempt is repeated, and the client sees one preamble") {
  for (const RelaySample& sample : samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble).wait(2000);
    REQUIRE(world.committed());
    CHECK(world.body() == sample.message);
    world.eof();
    REQUIRE(world.attempt() == 2);
    CHECK(world.commit_head == 1);
    world.head().bytes(sample.whole()).eof();
    CHECK(world.body() == sample.whole());
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  }
}

std::vector<std::uint64_t> numbers_in(const std::string& body) {
  constexpr std::string_view kKey = "\"sequence_number\":";
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = body.find(kKey); at != std::string::npos; at = body.find(kKey, at + 1)) {
    numbers.push_back(std::stoull(body.substr(at + kKey.size())));
  }
  return numbers;
}

std::vector<std::uint64_t> counting(std::size_t size) {
  std::vector<std::uint64_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

// Progress that fills the hold, so that the client sees all of it.
std::string many_deltas(int first_number) {
  std::string all;
  for (unsigned i = 0; i <= session::kMaxHeldEvents; ++i) {
    all +=
        event("response.output_text.annotation.added",
              R"(,"sequence_number":)" + std::to_string(first_number + static_cast<int>(i)) + R"(,"output_index":0)");
  }
  return all;
}

TEST_CASE("relay: the second attempt goes by the ids that the client knows, its numbers rise by one") {
  const RelaySample first = responses_sample("A");
  const RelaySample second = responses_sample("B");
  SECTION("where it has seen the response begin") {
    RelayWorld world(relay_options(Dialect::OpenaiResponses));
    world.start().head().bytes(first.message + event("keepalive", R"(,"sequence_number":2)")).wait(2000).reset();
    world.head().bytes(second.whole()).eof();
    CHECK(numbers_in(world.body()) == counting(11));
    CHECK(world.body().find("\"resp_B\"") == std::string::npos);
    CHECK(world.body().find("\"msg_B\"") != std::string::npos);  // of the item it has heard here first
  }
  SECTION("where it has seen an item begin") {
    RelayWorld world(relay_options(Dialect::OpenaiResponses));
    world.start().head().bytes(first.preamble + many_deltas(4)).reset();
    REQUIRE(world.committed());
    const std::size_t seen = world.events.size();
    world.head().bytes(second.whole()).eof();
    CHECK(numbers_in(world.body()) == counting(seen + 6));
    CHECK(world.body().find("_B\"") == std::string::npos);
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  }
  RelayWorld chat(relay_options(Dialect::OpenaiChat));
  chat.start().head().bytes(chat_sample("a").preamble).wait(2000).eof();
  chat.head().bytes(chat_sample("b").whole());
  CHECK(chat.body() == chat_sample("a").whole());
}

TEST_CASE("relay: what is said for the upstream goes by the ids and numbers that the client knows") {
  const RelaySample first = responses_sample("A");
  const RelaySample second = responses_sample("B");
  RelayWorld failed(relay_options(Dialect::OpenaiResponses));
  failed.start().head().bytes(first.preamble).wait(2000).eof();
  SECTION("without another word") { failed.head().eof(); }
  SECTION("with an item that the client does not get to see") { failed.head().bytes(second.preamble).eof(); }
  const std::string error = failed.body().substr(first.message.size());
  CHECK(error.find("event: response.failed") == 0);
  CHECK(error.find("\"resp_A\"") != std::string::npos);
  CHECK(error.find("\"sequence_number\":2") != std::string::npos);

  RelayWorld cut(relay_options(Dialect::OpenaiResponses));
  cut.start().head().bytes(first.preamble).wait(2000).eof();
  cut.head().bytes(second.preamble + second.text).eof();
  CHECK(cut.ended(EndState::Truncated, EndReason::SynthesizedStop));
  CHECK(cut.body().find("\"resp_B\"") == std::string::npos);
  CHECK(cut.body().rfind("\"resp_A\"") > cut.body().find("Hello"));
}

// A whole answer that begins with reasoning.
RelaySample reasoning_sample(Dialect dialect) {
  RelaySample s;
  s.dialect = dialect;
  if (dialect == Dialect::AnthropicMessages) {
    const RelaySample text = anthropic_sample("msg_2");
    s.message = text.message;
    s.preamble =
        s.message + event("content_block_start", R"(,"index":0,"content_block":{"type":"thinking","thinking":""})");
    s.text = event("content_block_delta", R"(,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"})");
    s.end = text.end;
  } else if (dialect == Dialect::OpenaiResponses) {
    const RelaySample text = responses_sample("2");
    s.message = text.message;
    s.preamble = s.message + event("response.output_item.added",
                                   R"(,"sequence_number":2,"output_index":0,"item":{"id":"rs_2","type":"reasoning"})");
    s.text = event("response.reasoning_summary_text.delta",
                   R"(,"sequence_number":3,"item_id":"rs_2","output_index":0,"summary_index":0,"delta":"hm")");
    s.end = event("response.completed",
                  R"(,"sequence_number":4,"response":{"id":"resp_2","status":"completed","model":"m","output":[]})");
  } else {
    s.message = ai_sdk_sample().message;
    s.preamble = s.message + data_event(R"({"type":"reasoning-start","id":"r1"})");
    s.text = data_event(R"({"type":"reasoning-delta","id":"r1","delta":"hm"})");
    s.end = data_event(R"({"type":"reasoning-end","id":"r1"})") + data_event(R"({"type":"finish-step"})") +
            data_event(R"({"type":"finish"})") + data_event("[DONE]");
  }
  return s;
}

TEST_CASE("relay: a second answer that begins otherwise is the answer, since the client has seen nothing opened") {
  for (const RelaySample& text : samples()) {
    if (!text.brackets) continue;
    for (const bool reasoning_first : {false, true}) {
      CAPTURE(dialect::name(text.dialect), reasoning_first);
      const RelaySample reasoning = reasoning_sample(text.dialect);
      const RelaySample& first = reasoning_first ? reasoning : text;
      const RelaySample& second = reasoning_first ? text : reasoning;
      RelayWorld world(relay_options(text.dialect));
      world.start().head().bytes(first.preamble).wait(2000);
      REQUIRE(world.body() == first.message);
      world.eof();
      REQUIRE(world.attempt() == 2);
      world.head().bytes(second.preamble);
      CHECK(world.body() == first.message);
      world.bytes(second.text + second.more_text + second.end).eof();
      CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
      // The client sees the second answer, under the first one's ids.
      std::string expected = first.message + second.whole().substr(second.message.size());
      for (const char* kind : {"resp_", "msg_"}) {
        const std::string from = std::string("\"") + kind + (reasoning_first ? "1\"" : "2\"");
        const std::string to = std::string("\"") + kind + (reasoning_first ? "2\"" : "1\"");
        if (first.message.find(to) == std::string::npos) continue;
        for (std::size_t at; (at = expected.find(from)) != std::string::npos;) expected.replace(at, from.size(), to);
      }
      CHECK(world.body() == expected);
    }
  }
}

TEST_CASE("relay: a second answer that begins otherwise is not glued on to what the client has seen opened") {
  const RelaySample text = anthropic_sample();
  const RelaySample reasoning = reasoning_sample(text.dialect);
  const std::string signature = event("content_block_delta", R"(,"index":0,"delta":{"type":"signature_delta"})");
  std::string many;
  for (unsigned i = 0; i < session::kMaxHeldEvents; ++i) many += signature;
  RelayWorld world(relay_options(text.dialect));
  world.start().head().bytes(text.preamble + many);
  REQUIRE(world.body() == text.preamble + many);
  world.eof();
  SECTION("with content") { world.head().bytes(reasoning.preamble + reasoning.text); }
  SECTION("before any, as more than is held") { world.head().bytes(reasoning.preamble + many + signature + many); }
  CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
  CHECK(world.cut == std::vector<unsigned>{2});
  CHECK(world.body().find("thinking") == std::string::npos);
  CHECK(world.body().find("event: error") != std::string::npos);
}

}  // namespace
}  // namespace tidemark::test
