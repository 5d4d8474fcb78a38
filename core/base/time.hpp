// Time as the core sees it: an argument, in milliseconds from an origin that the caller keeps, never running backwards.
#pragma once

#include <cstdint>
#include <limits>

namespace tidemark {

using TimeMs = std::int64_t;

/// A deadline that never comes.
inline constexpr TimeMs kNever = std::numeric_limits<TimeMs>::max();

}  // namespace tidemark
