// UTF-8 by its lead bytes: where code points begin, and the decoding of well-formed ones (RFC 3629).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark {

/// Whether a byte continues a code point (10xxxxxx).
constexpr bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

/// Code units of UTF-16 that the code point begun by this byte takes; 0 for a continuation byte.
constexpr unsigned utf16_units(char lead) {
  if (is_continuation(lead)) return 0;
  return static_cast<unsigned char>(lead) >= 0xF0u ? 2 : 1;
}

/// The code point that begins at `at`, below text.size(); `length` becomes its number of bytes. Where no code point
/// begins there, or its bytes are not all there, U+FFFD, and `length` is 1. (Overlong forms and surrogates are decoded
/// as they are.)
constexpr char32_t decode_at(std::string_view text, std::size_t at, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead < 0x80) return lead;
  if (lead < 0xC0 || lead >= 0xF8) {
    length = 1;
    return 0xFFFD;
  }
  char32_t point = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || !is_continuation(text[at + i])) {
      length = 1;
      return 0xFFFD;
    }
    point = (point << 6) | (byte(at + i) & 0x3Fu);
  }
  return point;
}

}  // namespace tidemark
