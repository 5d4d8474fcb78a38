// How long a response asks to wait: `retry-after-ms`, then Retry-After as seconds or as an HTTP date.
// RFC 9110 § 10.2.3 and § 5.6.7 (all three date forms).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/time.hpp"

namespace tidemark::retry {

/// Milliseconds to wait, at least 0 and at most 2^52, fractions rounded up. `unix_now_ms` is the wall clock, for the
/// date form (a past date is 0). Empty views: header absent. Seconds may have a fraction (SDKs accept it).
/// `retry_after_ms` is asked first; where it is no number, `retry_after` counts. nullopt: absent, negative, or not a
/// time.
std::optional<TimeMs> parse_retry_after(std::string_view retry_after, std::string_view retry_after_ms,
                                        std::int64_t unix_now_ms);

/// Seconds since the epoch of an HTTP date: IMF-fixdate, RFC 850 or asctime. `unix_now_ms` places the two-digit year of
/// RFC 850. nullopt where it is none of the three or no day of the calendar; that the day's name is the right one is
/// not checked.
std::optional<std::int64_t> parse_http_date(std::string_view text, std::int64_t unix_now_ms);

}  // namespace tidemark::retry
