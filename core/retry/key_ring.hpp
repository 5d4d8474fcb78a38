// The keys of one upstream (contract § 2.1, `api_keys`; § 4, rule 3): whose turn it is, and which are put aside. Knows
// keys by their number only, counted from 0.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/time.hpp"

namespace tidemark::retry {

/// Statuses that say something about the key: 401 and 403 (not this one), 402 and 429 (not this one now).
bool is_key_status(int status);

class KeyRing {
 public:
  explicit KeyRing(std::size_t keys);

  std::size_t size() const { return aside_until_.size(); }

  /// The next usable key, in turn; `previous`, the one that this answer's last attempt went out with, makes it the next
  /// one after that. nullopt: every key is put aside, or there is none.
  std::optional<std::size_t> take(TimeMs now, std::optional<std::size_t> previous = std::nullopt);

  /// What a status, other than a challenge's, says about the key that it was the answer to: 401 and 403 put it aside
  /// for good, 402 and 429 for `retry_after` milliseconds; where the upstream names no time, it stays in turn. Other
  /// statuses say nothing.
  void judge(std::size_t key, int status, std::optional<TimeMs> retry_after, TimeMs now);

  bool is_usable(std::size_t key, TimeMs now) const { return aside_until_[key] <= now; }
  std::size_t usable(TimeMs now) const;
  /// How long until the first key comes back: 0 where one is usable, kNever where none ever is.
  TimeMs usable_in(TimeMs now) const;

 private:
  std::vector<TimeMs> aside_until_;  // by key; in the past: usable
  std::size_t next_ = 0;
};

}  // namespace tidemark::retry
