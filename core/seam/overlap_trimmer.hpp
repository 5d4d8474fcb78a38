// Overlap at a seam: how much of a continuation's beginning was delivered already (contract § 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::seam {

/// Length in bytes of the longest suffix of `delivered` that `continuation` starts with, never cutting a code point.
/// Linear in the shorter of the two.
std::size_t overlap_bytes(std::string_view delivered, std::string_view continuation);

/// A code point weighs 1, a CJK one (Han, Hiragana, Katakana, Hangul, CJK punctuation, full-width forms) 3.
std::uint32_t weight(std::string_view text);

/// Who continues, and so what counts as overlap.
enum class Continuer : std::uint8_t {
  SameGeneration,  // a server that resumes its own generation: any overlap is trimmed
  Model,           // a model asked to go on: a match lighter than overlap_min is chance, and kept
};

/// One seam. Content is offered event by event; text is held while a longer overlap is still possible, for at most
/// kMaxEvents content events, then released for good. Nothing after the release is looked at again.
class OverlapTrimmer {
 public:
  static constexpr int kMaxEvents = 3;

  /// `delivered`: the end of what the reader has (the last kWindowBytes suffice; more is cut off).
  static constexpr std::size_t kWindowBytes = 16384;
  OverlapTrimmer(std::string_view delivered, Continuer continuer, std::uint32_t overlap_min = 12);

  /// A content event's text. Returns how many bytes of it (and of the events before it) are decided:
  struct Decision {
    bool decided = false;        // false: hold this event and offer the next one
    std::size_t trim_bytes = 0;  // when decided: bytes to drop from the front of all text offered so far, joined
  };
  Decision offer(std::string_view text);
  /// The attempt ended before a decision: decides with what there is.
  Decision finish();
  bool decided() const { return decided_; }

 private:
  std::string delivered_;
  std::string offered_;
  Continuer continuer_;
  std::uint32_t overlap_min_;
  int events_ = 0;
  bool decided_ = false;
};

}  // namespace tidemark::seam
