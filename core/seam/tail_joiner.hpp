// The seam of a repeated request (contract § 8, `tail`): the server goes on by itself, or it begins the answer again,
// and only the text tells which.
//
// Going on, it may repeat some of the end: the longest overlap goes, from one code point on. Beginning again, it
// repeats everything that was delivered, or it is refused. Over the first three content events both are weighed; the
// reading that explains all of the text holds, the beginning before the end. An overlap of up to sixty characters is
// waited for however small its events are. Text that begins as the answer did and then parts from it is refused, too,
// unless so little agrees that it may be chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/seam/replay.hpp"

namespace tidemark::seam {

class TailJoiner {
 public:
  static constexpr int kMaxEvents = 3;
  /// A longer overlap is not looked for, as in overlap_trimmer.hpp.
  static constexpr std::size_t kWindowBytes = 16384;
  /// From the third event on, an overlap is waited for that begins so close to the end: sixty code points.
  static constexpr std::size_t kLongBytes = 240;
  /// To agree with the answer's beginning by so many bytes more than with its end is no chance: six letters, two CJK
  /// characters.
  static constexpr std::size_t kNoChance = 6;

  /// `delivered`: all that the reader has; it outlives this, unchanged.
  explicit TailJoiner(std::string_view delivered) : delivered_(delivered), replay_(delivered) {}

  enum class Step : std::uint8_t {
    Hold,    // keep this event
    Drop,    // this event and all that are held were delivered before: drop them
    Join,    // decided: of all text offered since the last Drop, joined, trim_bytes go, and the rest is delivered
    Refuse,  // decided: another answer
  };
  struct Decision {
    Step step = Step::Hold;
    std::size_t trim_bytes = 0;
  };
  /// A content event's text, whole code points, not empty. Not to be asked once it is decided.
  Decision offer(std::string_view text);
  /// No more text comes, or something else than text.
  Decision finish();
  /// Once joined: whether by a replay, or else by its end alone.
  bool replayed() const { return replay_.joined(); }

 private:
  bool may_overlap_more() const;

  std::string_view delivered_;
  Replay replay_;
  std::string offered_;
  int events_ = 0;
  bool replays_ = false;  // decided so far: it begins again
};

}  // namespace tidemark::seam
