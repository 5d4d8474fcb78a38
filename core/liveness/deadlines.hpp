// A fixed set of deadlines, indexed by an enum.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/base/time.hpp"

namespace tidemark::liveness {

/// `Id` is an enum class whose last enumerator is `Count`.
template <class Id>
class Deadlines {
 public:
  static constexpr std::size_t kCount = static_cast<std::size_t>(Id::Count);

  constexpr Deadlines() { at_.fill(kNever); }
  constexpr void set(Id id, TimeMs when) { at_[index(id)] = when; }
  constexpr void clear(Id id) { at_[index(id)] = kNever; }
  constexpr void clear_all() { at_.fill(kNever); }
  constexpr TimeMs at(Id id) const { return at_[index(id)]; }
  constexpr bool is_set(Id id) const { return at(id) != kNever; }

  constexpr TimeMs next_deadline() const {
    TimeMs first = kNever;
    for (TimeMs t : at_) first = t < first ? t : first;
    return first;
  }

  /// The earliest deadline at or before `now`, cleared; nullopt where none has come. Ties go by the enum's order.
  constexpr std::optional<Id> pop_due(TimeMs now) {
    std::size_t best = kCount;
    for (std::size_t i = 0; i < kCount; ++i) {
      if (at_[i] <= now && at_[i] != kNever && (best == kCount || at_[i] < at_[best])) best = i;
    }
    if (best == kCount) return std::nullopt;
    at_[best] = kNever;
    return static_cast<Id>(best);
  }

 private:
  static constexpr std::size_t index(Id id) { return static_cast<std::size_t>(id); }
  std::array<TimeMs, kCount> at_{};
};

}  // namespace tidemark::liveness
