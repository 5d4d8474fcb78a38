// The Date header's value.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::http {

/// RFC 9110 § 5.6.7, IMF-fixdate: `Mon, 30 Nov 2026 05:00:00 GMT`. Seconds since 1970, from year 1 to year 9999.
std::string format_date(std::int64_t unix_seconds);

}  // namespace tidemark::http
