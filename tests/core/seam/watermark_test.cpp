// Watermark, event ids and watermarks as clients write them.
#include "core/seam/watermark.hpp"

#include "tests/catch.hpp"

namespace tidemark::seam {
namespace {

TEST_CASE("the next number is accepted, older ones are duplicates, later ones a hole", "[watermark]") {
  Watermark mark;
  CHECK(mark.value() == kNothing);
  CHECK(mark.offer(1) == Watermark::Verdict::Hole);
  CHECK(mark.offer(0) == Watermark::Verdict::Accept);
  CHECK(mark.offer(0) == Watermark::Verdict::Duplicate);
  CHECK(mark.offer(2) == Watermark::Verdict::Hole);
  CHECK(mark.value() == 0);
  CHECK(mark.offer(1) == Watermark::Verdict::Accept);
  CHECK(mark.offer(-1) == Watermark::Verdict::Duplicate);
  CHECK(Watermark(41).offer(42) == Watermark::Verdict::Accept);
}

TEST_CASE("an event id is EPOCH-SEQ", "[watermark]") {
  const auto id = parse_event_id("a1b2-17");
  REQUIRE(id);
  CHECK(id->epoch == "a1b2");
  CHECK(id->seq == 17);
  CHECK(parse_event_id("a-b-0")->epoch == "a-b");
  CHECK(parse_event_id("e-9007199254740991")->seq == 9007199254740991);
  for (const char* wrong :
       {"", "17", "-17", "a-", "a-017", "a- 1", "a-1x", "a-+1", "a-9007199254740992", "a-99999999999999999999"}) {
    INFO(wrong);
    CHECK_FALSE(parse_event_id(wrong));
  }
}

TEST_CASE("a watermark is an integer from -1 on", "[watermark]") {
  CHECK(parse_watermark("-1") == kNothing);
  CHECK(parse_watermark("0") == 0);
  CHECK(parse_watermark("9007199254740991") == 9007199254740991);
  for (const char* wrong : {"", "-0", "-2", "+1", "01", "1.0", "1e3", " 1", "1 ", "x", "9007199254740992"}) {
    INFO(wrong);
    CHECK_FALSE(parse_watermark(wrong));
  }
}

}  // namespace
}  // namespace tidemark::seam
