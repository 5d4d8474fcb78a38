// Finding the end of a JSON string's plain stretch, and comparing bytes, many at a time.
//
// In WebAssembly the C library's memchr and memcmp go byte by byte; there, and on machines without SSE2, eight bytes go
// at a time in plain integers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tidemark::dialect {

/// Whether a byte ends a plain stretch: a quote, a backslash, or a control character (RFC 8259 § 7).
constexpr bool ends_plain(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

namespace scan {

inline constexpr std::uint64_t kOnes = 0x0101010101010101u;
inline constexpr std::uint64_t kHighBits = kOnes * 0x80u;

inline std::uint64_t load(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// The high bit of each byte that ends a plain stretch. A borrow can set one wrongly only above a right one.
inline std::uint64_t ends_plain(std::uint64_t word) {
  const std::uint64_t quote = word ^ (kOnes * '"');
  const std::uint64_t backslash = word ^ (kOnes * '\\');
  const std::uint64_t low = (word - kOnes * 0x20u) & ~word;
  return (low | ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash)) & kHighBits;
}

/// Eight bytes at a time. Returns `end` where nothing ends the stretch.
inline const char* find_plain_end_swar(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    const std::uint64_t hits = ends_plain(load(at));
    if (hits == 0) continue;
    if constexpr (std::endian::native == std::endian::little) return at + std::countr_zero(hits) / 8;
    break;
  }
  while (at != end && !dialect::ends_plain(*at)) ++at;
  return at;
}

#if defined(__SSE2__)
inline const char* find_plain_end_sse2(const char* at, const char* end) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i highest_control = _mm_set1_epi8(0x1F);
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, highest_control), bytes);
    const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    const auto hits = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(controls, marks)));
    if (hits != 0) return at + std::countr_zero(hits);
  }
  return find_plain_end_swar(at, end);
}
#endif

/// The first byte in [at, end) that ends a plain stretch, or `end`.
inline const char* find_plain_end(const char* at, const char* end) {
#if defined(__SSE2__)
  return find_plain_end_sse2(at, end);
#else
  return find_plain_end_swar(at, end);
#endif
}

/// Up to 16 bytes: from both ends, overlapping in the middle.
inline bool equal_short(const char* a, const char* b, std::size_t size) {
  if (size >= 8) return ((load(a) ^ load(b)) | (load(a + size - 8) ^ load(b + size - 8))) == 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

inline bool equal_swar(const char* a, const char* b, std::size_t size) {
  if (size <= 16) return equal_short(a, b, size);
  std::size_t i = 0;
  for (; size - i > 16; i += 16) {
    if (((load(a + i) ^ load(b + i)) | (load(a + i + 8) ^ load(b + i + 8))) != 0) return false;
  }
  return equal_short(a + size - 16, b + size - 16, 16);
}

/// Whether `size` bytes at `a` and `b` are the same.
inline bool equal(const char* a, const char* b, std::size_t size) {
#if defined(__wasm__)
  return equal_swar(a, b, size);
#else
  return size <= 16 ? equal_short(a, b, size) : std::memcmp(a, b, size) == 0;
#endif
}

/// Whether no byte is above 0x7F.
inline bool is_ascii(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    if ((load(at) & kHighBits) != 0) return false;
  }
  unsigned bits = 0;
  for (; left > 0; ++at, --left) bits |= static_cast<unsigned char>(*at);
  return bits < 0x80;
}

}  // namespace scan

/// `text == literal`, by a comparison of constant size.
template <std::size_t N>
bool is(std::string_view text, const char (&literal)[N]) {
  return text.size() == N - 1 && __builtin_memcmp(text.data(), literal, N - 1) == 0;
}

template <std::size_t N>
bool starts_with(std::string_view text, const char (&literal)[N]) {
  return text.size() >= N - 1 && __builtin_memcmp(text.data(), literal, N - 1) == 0;
}

}  // namespace tidemark::dialect
