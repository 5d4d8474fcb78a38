// Retry-After and HTTP dates.
#include "core/retry/retry_after.hpp"

#include <ctime>
#include <string>

#include "core/base/random.hpp"
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
  CHECK(parse_retry_after("7", "-5", kNow) == 7000);
  CHECK(parse_retry_after("", "250", kNow) == 250);
}

TEST_CASE("a wait too long to count saturates", "[retry-after]") {
  constexpr TimeMs kMost = TimeMs{1} << 52;
  CHECK(parse_retry_after("4503599627369", "", kNow) == 4503599627369000);
  CHECK(parse_retry_after("4503599627371", "", kNow) == kMost);
  CHECK(parse_retry_after("99999999999999999999999", "", kNow) == kMost);
  CHECK(parse_retry_after("99999999999999999999999.9", "", kNow) == kMost);
  CHECK(parse_retry_after("", "99999999999999999999999", kNow) == kMost);
  CHECK(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", "", kNow) == 253402300799000 - kNow);
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

std::string formatted(const char* format, const std::tm& date) {
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &date)};
}

// The C library's calendar as the reference; its default locale has the names that HTTP wants.
TEST_CASE("every form of any date since 1900 is read as the C library writes it", "[retry-after]") {
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    const std::time_t when = static_cast<std::time_t>(random.next() % 255'000'000'000u) - 2'208'000'000;
    std::tm date{};
    REQUIRE(gmtime_r(&when, &date) != nullptr);
    if (date.tm_year > 9999 - 1900) continue;
    INFO(when);
    REQUIRE(parse_http_date(formatted("%a, %d %b %Y %H:%M:%S GMT", date), kNow) == when);
    REQUIRE(parse_http_date(formatted("%a %b %e %H:%M:%S %Y", date), kNow) == when);
    const int year = date.tm_year + 1900;
    if (year >= 1977 && year <= 2076) {
      REQUIRE(parse_http_date(formatted("%A, %d-%b-%y %H:%M:%S GMT", date), kNow) == when);
    }
  }
}

TEST_CASE("a date that is wrong in one place, cut short or padded is none", "[retry-after]") {
  for (const std::string right :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    for (std::size_t at = 0; at < right.size(); ++at) {
      std::string wrong = right;
      wrong[at] = '~';
      INFO(wrong);
      CHECK_FALSE(parse_http_date(wrong, kNow));
      CHECK_FALSE(parse_http_date(right.substr(0, at), kNow));
    }
    CHECK_FALSE(parse_http_date(right + " ", kNow));
    CHECK_FALSE(parse_http_date(" " + right, kNow));
  }
}

TEST_CASE("a date counts from now, and a past one is no wait", "[retry-after]") {
  CHECK(parse_retry_after("Mon, 30 Nov 2026 05:00:30 GMT", "", kNow) == 30000);
  CHECK(parse_retry_after("Mon, 30 Nov 2026 04:00:00 GMT", "", kNow) == 0);
}

}  // namespace
}  // namespace tidemark::retry
