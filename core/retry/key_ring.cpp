// Keys in turn.
#include "core/retry/key_ring.hpp"

#include <algorithm>

namespace tidemark::retry {

bool is_key_status(int status) { return status == 401 || status == 402 || status == 403 || status == 429; }

KeyRing::KeyRing(std::size_t keys) : aside_until_(keys, 0) {}

std::optional<std::size_t> KeyRing::take(TimeMs now, std::optional<std::size_t> previous) {
  const std::size_t first = previous ? *previous + 1 : next_;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::size_t key = (first + i) % size();
    if (!is_usable(key, now)) continue;
    next_ = (key + 1) % size();
    return key;
  }
  return std::nullopt;
}

void KeyRing::judge(std::size_t key, int status, std::optional<TimeMs> retry_after, TimeMs now) {
  if (!is_key_status(status)) return;
  const bool for_good = status == 401 || status == 403;
  const TimeMs until = for_good ? kNever : later(now, retry_after.value_or(0));
  aside_until_[key] = std::max(aside_until_[key], until);
}

std::size_t KeyRing::usable(TimeMs now) const {
  return static_cast<std::size_t>(
      std::count_if(aside_until_.begin(), aside_until_.end(), [now](TimeMs until) { return until <= now; }));
}

TimeMs KeyRing::usable_in(TimeMs now) const {
  TimeMs soonest = kNever;
  for (const TimeMs until : aside_until_) soonest = std::min(soonest, until);
  return soonest == kNever ? kNever : std::max<TimeMs>(soonest - now, 0);
}

}  // namespace tidemark::retry
