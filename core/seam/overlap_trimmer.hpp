// Overlap at a seam: how much of a continuation's beginning was delivered already (contract § 5).
//
// Texts are UTF-8, compared code point by code point: no normalisation, and no regard for what is seen as one
// character, so that an emoji made of several code points may be cut at its joiner. In ill-formed text every byte that
// is no continuation byte begins a code point. A cut between code points is never inside a UTF-16 surrogate pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/seam/continuer.hpp"

namespace tidemark::seam {

/// Length in bytes of the longest suffix of `delivered` that `continuation` starts with. It begins and ends where a
/// code point of the continuation does; 0 for a continuation that begins inside one. Linear in the shorter of the two.
std::size_t overlap_bytes(std::string_view delivered, std::string_view continuation);

/// Where `part`, not empty, first stands in `text`, or npos. Linear in both.
std::size_t find_bytes(std::string_view text, std::string_view part);

/// A code point weighs 1, a CJK one (Han, Hiragana, Katakana, Hangul, CJK punctuation, full-width forms) 3.
std::uint32_t weight(std::string_view text);

/// One seam. Content is offered event by event, and held while a longer overlap that counts could still arise, up to
/// the third event; then the seam is decided, once and for good.
///
/// What is trimmed is exactly the overlap of `delivered` (its last kWindowBytes) with the texts of the first three
/// events that have any, joined, or of all there are if the attempt ends before; nothing where that overlap is lighter
/// than overlap_min, unless a SameGeneration continues. How the continuation is cut into events therefore matters in
/// one case only: an overlap that reaches beyond the third event is not found, since the joined three then stand in the
/// middle of what was delivered; trimmed is what the three by themselves overlap, mostly nothing. Deciding early never
/// changes the result, given events that begin and end between code points.
class OverlapTrimmer {
 public:
  static constexpr int kMaxEvents = 3;
  static constexpr std::size_t kWindowBytes = 16384;

  /// `delivered`: the end of what the reader has (the last kWindowBytes suffice; more is cut off). `max_events`: in
  /// place of three, for who would rather wait than miss an overlap that comes in small pieces.
  OverlapTrimmer(std::string_view delivered, Continuer continuer, std::uint32_t overlap_min = 12,
                 int max_events = kMaxEvents);

  struct Decision {
    bool decided = false;        // false: hold this event and offer the next one
    std::size_t trim_bytes = 0;  // when decided: bytes to drop from the front of all text offered so far, joined
  };
  /// A content event's text. Empty text changes nothing. Once decided: {true, 0}, pass it on.
  /// Linear in the window and the text.
  Decision offer(std::string_view text);
  /// The attempt ended before a decision: decides with what there is.
  Decision finish();
  /// What finish() would trim.
  std::size_t trim_so_far() const;
  bool decided() const { return decided_; }

 private:
  bool may_trim_more() const;
  bool outweighs_chance(std::string_view overlap) const;

  std::string delivered_;
  std::string offered_;
  Continuer continuer_;
  std::uint32_t overlap_min_;
  int max_events_;
  int events_ = 0;
  bool decided_ = false;
};

}  // namespace tidemark::seam
