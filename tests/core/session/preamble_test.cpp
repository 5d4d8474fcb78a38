// One preamble for the client: swallowing, ids, numbers.
#include "core/session/preamble.hpp"
#include "tests/catch.hpp"

namespace tidemark::session {
namespace {

sse::Event event(std::string_view data, std::string_view name = {}) {
  sse::Event event;
  event.name = name;
  event.data = data;
  event.block = data;
  event.line_end = "\n";
  return event;
}

constexpr std::string_view kCreatedA = R"({"type":"response.created","sequence_number":0,"response":{"id":"ra"}})";
constexpr std::string_view kCreatedB = R"({"response":{"id":"rb"},"type":"response.created","sequence_number":0})";

TEST_CASE("preamble: each opening is swallowed once") {
  Preamble preamble;
  preamble.delivered(event(kCreatedA));
  CHECK_FALSE(preamble.active());
  preamble.next_attempt();
  REQUIRE(preamble.active());
  CHECK(preamble.repeats(event(kCreatedB)));
  CHECK_FALSE(preamble.repeats(event(kCreatedB)));
  CHECK_FALSE(preamble.repeats(event(R"({"type":"response.in_progress"})")));
  preamble.next_attempt();
  CHECK(preamble.repeats(event(kCreatedB)));
}

TEST_CASE("preamble: ids are replaced where they stand as a whole string, never inside one") {
  Preamble preamble;
  preamble.delivered(event(kCreatedA));
  preamble.next_attempt();
  CHECK(preamble.repeats(event(kCreatedB)));
  std::string text = R"({"id":"rb","delta":"rb is \"rb\", \\\"rb\\\"","x":["rb","rbb"]})";
  preamble.rewrite(text);
  CHECK(text == R"({"id":"ra","delta":"rb is \"rb\", \\\"rb\\\"","x":["ra","rbb"]})");
}

TEST_CASE("preamble: numbers go on where the client left off, in both directions") {
  struct Case {
    const char* delivered;
    const char* first;
    const char* expected;
  };
  for (const Case& c :
       {Case{R"({"type":"a","sequence_number":9})", R"({"x":1,"sequence_number": 2})",
             R"({"x":1,"sequence_number": 10})"},
        Case{R"({"type":"a","sequence_number":9})", R"({"sequence_number":400,"t":"\"sequence_number\":1"})",
             R"({"sequence_number":10,"t":"\"sequence_number\":1"})"},
        Case{R"({"type":"a","sequence_number":9})", R"({"sequence_number":10})", R"({"sequence_number":10})"},
        Case{R"({"type":"a"})", R"({"sequence_number":3})", R"({"sequence_number":3})"}}) {
    Preamble preamble;
    preamble.delivered(event(c.delivered));
    preamble.next_attempt();
    std::string scratch;
    CHECK(preamble.rewritten(event(c.first), scratch).block == c.expected);
  }
}

TEST_CASE("preamble: content joins on only where all that was opened is open again") {
  constexpr std::string_view kText = R"({"type":"content_block_start","index":0,"content_block":{"type":"text"}})";
  constexpr std::string_view kStop = R"({"type":"content_block_stop","index":0})";
  Preamble preamble;
  preamble.delivered(event(kText));
  preamble.delivered(event(R"({"type":"ping"})"));
  preamble.next_attempt();
  CHECK_FALSE(preamble.joins());
  CHECK_FALSE(
      preamble.repeats(event(R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking"}})")));
  CHECK_FALSE(preamble.repeats(event(R"({"type":"content_block_start","index":1,"content_block":{"type":"text"}})")));
  CHECK_FALSE(preamble.joins());
  CHECK(preamble.repeats(event(kText)));
  CHECK(preamble.joins());
  preamble.delivered(event(kStop));
  preamble.next_attempt();
  CHECK(preamble.repeats(event(kText)));
  CHECK_FALSE(preamble.joins());
}

TEST_CASE("preamble: what shapes the answer is told from what is about it as a whole") {
  for (const char* shaping :
       {R"({"type":"content_block_start","index":0,"content_block":{"type":"text"}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta"}})",
        R"({"type":"content_block_stop","index":0})",
        R"({"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message"}})",
        R"({"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text"}})",
        R"({"type":"response.reasoning_summary_part.added","output_index":0,"part":{"type":"summary_text"}})",
        R"({"type":"text-start","id":"t"})", R"({"type":"reasoning-start","id":"r"})"}) {
    CAPTURE(shaping);
    CHECK(Preamble::shapes_answer(event(shaping)));
  }
  for (const char* whole :
       {R"({"type":"message_start","message":{"id":"m"}})", R"({"type":"response.created","response":{"id":"r"}})",
        R"({"type":"response.queued","response":{"id":"r"}})", R"({"type":"keepalive","sequence_number":3})",
        R"({"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})",
        R"({"type":"start","messageId":"m"})", R"({"type":"start-step"})", R"({"type":"data-status","data":1})", "{"}) {
    CAPTURE(whole);
    CHECK_FALSE(Preamble::shapes_answer(event(whole)));
  }
}

TEST_CASE("preamble: an attempt that is delivered as it came goes on so, whatever was held meanwhile") {
  Preamble preamble;
  preamble.next_attempt();
  preamble.delivered(event(R"({"type":"a","sequence_number":1})"), Preamble::Numbers::Rewritten);
  std::string later = R"({"sequence_number":4})";
  preamble.rewrite(later);
  CHECK(later == R"({"sequence_number":4})");
}

TEST_CASE("preamble: numbers that went nowhere are given again") {
  Preamble preamble;
  preamble.delivered(event(R"({"type":"a","sequence_number":0})"));
  preamble.restart_numbers();
  std::string next = R"({"sequence_number":5})";
  preamble.rewrite(next);
  CHECK(next == R"({"sequence_number":1})");
  CHECK(preamble.last_sequence() == 0u);
  preamble.delivered(event(next), Preamble::Numbers::Rewritten);
  CHECK(preamble.last_sequence() == 1u);
}

TEST_CASE("preamble: what it can't read opens nothing twice and breaks nothing") {
  Preamble preamble;
  preamble.delivered(event("not json", "odd"));
  preamble.next_attempt();
  CHECK(preamble.repeats(event("neither", "odd")));
  CHECK_FALSE(preamble.repeats(event("neither", "other")));
  std::string text = R"("sequence_number":99999999999999999999999)";
  preamble.rewrite(text);
  CHECK(text == R"("sequence_number":99999999999999999999999)");
}

}  // namespace
}  // namespace tidemark::session
