// The watermark: the highest sequence number taken, and what a next number means against it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::seam {

/// A stream's event numbers start at 0; -1 means that nothing has been taken.
using Seq = std::int64_t;
inline constexpr Seq kNothing = -1;

class Watermark {
 public:
  explicit Watermark(Seq start = kNothing) : value_(start) {}

  enum class Verdict : std::uint8_t {
    Accept,     // the next one; the watermark has risen
    Duplicate,  // at or below the watermark: drop it
    Hole,       // numbers in between are missing; the watermark stays
  };
  Verdict offer(Seq seq);
  Seq value() const { return value_; }

 private:
  Seq value_;
};

/// An event id of the form EPOCH-SEQ (contract § 3.1).
struct EventId {
  std::string_view epoch;
  Seq seq = kNothing;
};
/// nullopt where it is not of that form (no dash, no digits, leading zeros, or a number past 2^53 - 1).
std::optional<EventId> parse_event_id(std::string_view id);

/// A watermark as a client writes it: an integer of at least -1, at most 2^53 - 1, no sign but the one of -1, no
/// leading zeros or spaces.
std::optional<Seq> parse_watermark(std::string_view text);

}  // namespace tidemark::seam
