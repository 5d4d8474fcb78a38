// Finding the end of a line: the first CR or LF, many bytes at a time.
//
// A stream's bytes are nearly all above CR (0x0D), the highest of the two. So a stretch is passed over when none of its
// bytes is at most 0x0D: one comparison instead of two. A tab or another low byte only costs a closer look.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tidemark::sse {

inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }

/// Eight bytes at a time in plain integers: for WebAssembly, where memchr goes byte by byte, and for every machine
/// without SSE2. Returns `end` where there is no line end.
inline const char* find_line_end_swar(const char* at, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  constexpr std::uint64_t kHighBits = kOnes * 0x80u;
  constexpr std::uint64_t kAboveCr = kOnes * ('\r' + 1);
  // A byte's high bit is set if the byte is below 0x0E; a borrow can set one wrongly only above a right one.
  const auto low_bytes = [](const char* from) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return (word - kAboveCr) & ~word & kHighBits;
  };
  while (end - at >= 32) {
    if ((low_bytes(at) | low_bytes(at + 8) | low_bytes(at + 16) | low_bytes(at + 24)) != 0) {
      for (const char* const stop = at + 32; at != stop; ++at) {
        if (is_line_end(*at)) return at;
      }
    } else {
      at += 32;
    }
  }
  while (at != end && !is_line_end(*at)) ++at;
  return at;
}

#if defined(__SSE2__)
/// 64 bytes at a time. Returns `end` where there is no line end.
inline const char* find_line_end_sse2(const char* at, const char* end) {
  const __m128i cr = _mm_set1_epi8('\r');
  const __m128i lf = _mm_set1_epi8('\n');
  const auto load = [](const char* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  const auto line_ends = [&](__m128i bytes) {
    const __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, cr), _mm_cmpeq_epi8(bytes, lf));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(hits));
  };
  while (end - at >= 64) {
    const __m128i a = load(at);
    const __m128i b = load(at + 16);
    const __m128i c = load(at + 32);
    const __m128i d = load(at + 48);
    const __m128i lowest = _mm_min_epu8(_mm_min_epu8(a, b), _mm_min_epu8(c, d));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(lowest, cr), lowest)) != 0) {
      const std::uint64_t first = line_ends(a) | (line_ends(b) << 16);
      const std::uint64_t second = line_ends(c) | (line_ends(d) << 16);
      const std::uint64_t hits = first | (second << 32);
      if (hits != 0) return at + std::countr_zero(hits);
    }
    at += 64;
  }
  for (; end - at >= 16; at += 16) {
    const std::uint32_t hits = line_ends(load(at));
    if (hits != 0) return at + std::countr_zero(hits);
  }
  while (at != end && !is_line_end(*at)) ++at;
  return at;
}
#endif

/// The first CR or LF in [at, end), or `end`. Every second line of a usual stream is blank: that is looked at first.
inline const char* find_line_end(const char* at, const char* end) {
  if (at != end && is_line_end(*at)) return at;
#if defined(__SSE2__)
  return find_line_end_sse2(at, end);
#else
  return find_line_end_swar(at, end);
#endif
}

}  // namespace tidemark::sse
