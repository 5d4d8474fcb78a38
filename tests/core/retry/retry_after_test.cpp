// Retry-After and HTTP dates.
#include "core/retry/retry_after.hpp"

#include "tests/catch.hpp"

namespace tidemark::retry {
namespace {

constexpr std::int64_t kNow = 1796014800000;  // Mon, 30 Nov 2026 05:00:00 GMT

TEST_CASE("seconds, milliseconds and their precedence", "[retry-after]") {
  CHECK(parse_retry_after("7", "", kNow) == 7000);
  CHECK(parse_retry_after(" 7 ", "", kNow) == 7000);
  CHECK(parse_retry_after("1.5", "", kNow) == 1500);
  CHECK(parse_retry_after("0.0001", "", kNow) == 1);
  CHECK(parse_retry_after("7", "250", kNow) == 250);
  CHECK(parse_retry_after("7", "250.2", kNow) == 251);
  CHECK(parse_retry_after("7", "soon", kNow) == 7000);
  CHECK(parse_retry_after("0", "", kNow) == 0);
  CHECK(parse_retry_after("99999999999999999999999", "", kNow) > TimeMs{1} << 50);
}

TEST_CASE("what is no time is none", "[retry-after]") {
  for (const char* wrong :
       {"", " ", "-1", "+1", "1,", "1.x", ".5", "0x10", "1e3", "tomorrow", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 31 Feb 2027 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT+1"}) {
    INFO(wrong);
    CHECK_FALSE(parse_retry_after(wrong, "", kNow));
  }
}

TEST_CASE("all three forms of a date", "[retry-after]") {
  CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", kNow) == 784111777);
  CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", kNow) == 784111777);
  CHECK(parse_http_date("Sun Nov  6 08:49:37 1994", kNow) == 784111777);
  CHECK(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT", kNow) == 0);
  CHECK(parse_http_date("Tue, 29 Feb 2028 23:59:60 GMT", kNow) == 1835481600);
  CHECK(parse_http_date("Saturday, 01-Jan-77 00:00:00 GMT", kNow) == 220924800);    // 2077 is more than 50 years ahead
  CHECK(parse_http_date("Wednesday, 01-Jan-76 00:00:00 GMT", kNow) == 3345062400);  // 2076 is not
}

TEST_CASE("a date counts from now, and a past one is no wait", "[retry-after]") {
  CHECK(parse_retry_after("Mon, 30 Nov 2026 05:00:30 GMT", "", kNow) == 30000);
  CHECK(parse_retry_after("Mon, 30 Nov 2026 04:00:00 GMT", "", kNow) == 0);
}

}  // namespace
}  // namespace tidemark::retry
