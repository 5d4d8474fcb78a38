// Time as the core sees it: an argument, in milliseconds from an origin that the caller keeps, never running backwards.
#pragma once

#include <cstdint>
#include <limits>

namespace tidemark {

using TimeMs = std::int64_t;

/// A deadline that never comes.
inline constexpr TimeMs kNever = std::numeric_limits<TimeMs>::max();

/// `wait` after `now`, both at least 0; kNever where that is past all time.
constexpr TimeMs later(TimeMs now, TimeMs wait) { return wait < kNever - now ? now + wait : kNever; }

}  // namespace tidemark
