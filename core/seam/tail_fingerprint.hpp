// The tail fingerprint: FNV-1a, 64 bits, over the last 30 code points of the answer text (contract § 3.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::seam {

inline constexpr std::size_t kTailCodePoints = 30;

/// Of a whole text (UTF-8). Linear in the last 120 bytes.
std::uint64_t tail_fingerprint(std::string_view text);
/// 16 lower-case hex digits.
std::string to_hex(std::uint64_t fingerprint);

/// The same, incrementally: keeps the last 30 code points and the length. Text may be appended cut anywhere, also
/// inside a code point. No allocation. Text that is not well-formed UTF-8 counts a code point at every byte that is no
/// continuation; of a run of continuation bytes longer than the window, the first are forgotten.
class Tail {
 public:
  void append(std::string_view text);
  std::uint64_t fingerprint() const;
  /// In UTF-16 code units, as JavaScript's `length` (`received_length`).
  std::uint64_t utf16_length() const { return utf16_length_; }
  /// The last code points themselves (at most 30), UTF-8.
  std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  static constexpr std::size_t kWindow = kTailCodePoints * 4;

  void keep_last_code_points();

  std::array<char, kWindow * 2> bytes_{};  // the second half takes what is being appended
  std::size_t size_ = 0;
  std::uint64_t utf16_length_ = 0;
};

}  // namespace tidemark::seam
