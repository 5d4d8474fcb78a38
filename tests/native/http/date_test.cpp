// Dates as they go out, against those of RFC 9110 and against the C library's.
#include "native/http/date.hpp"

#include <ctime>

#include "tests/catch.hpp"

using tidemark::http::format_date;

TEST_CASE("a date reads as RFC 9110 wants it") {
  CHECK(format_date(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(format_date(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(format_date(951782400) == "Tue, 29 Feb 2000 00:00:00 GMT");
  CHECK(format_date(1796014800) == "Mon, 30 Nov 2026 05:00:00 GMT");
  CHECK(format_date(4107542400) == "Mon, 01 Mar 2100 00:00:00 GMT");
  CHECK(format_date(253402300799) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(format_date(-1) == "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST_CASE("every day of four centuries is the C library's") {
  constexpr std::time_t kDay = 86400;
  for (std::time_t at = -200 * 365 * kDay; at < 200 * 366 * kDay; at += kDay + 1) {
    std::tm parts{};
    REQUIRE(gmtime_r(&at, &parts) != nullptr);
    char expected[64];
    REQUIRE(std::strftime(expected, sizeof expected, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0);
    if (format_date(at) != expected) CHECK(format_date(at) == expected);
  }
}
