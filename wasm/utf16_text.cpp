// UTF-8 made whole, and counted in UTF-16 code units.
#include "wasm/utf16_text.hpp"

#include <cstddef>
#include <cstring>

namespace tidemark::wasm {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080u;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What a code point's first byte says (Unicode, table 3-7): how many bytes follow, and the bounds of the first of them.
struct Lead {
  std::size_t following = 0;  // 0: not a first byte
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {.following = 1};
  if (byte == 0xE0) return {.following = 2, .low = 0xA0};
  if (byte == 0xED) return {.following = 2, .high = 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {.following = 2};
  if (byte == 0xF0) return {.following = 3, .low = 0x90};
  if (byte == 0xF4) return {.following = 3, .high = 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {.following = 3};
  return {};
}

}  // namespace

std::uint32_t append_text(ByteBuffer& out, std::string_view text) {
  // The worst case: every byte is replaced by three.
  char* to = out.reserve(text.size() * 3);
  char* const begin = to;
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint32_t units = 0;
  while (at != end) {
    if (static_cast<unsigned char>(*at) < 0x80) {
      for (; end - at >= 8; at += 8, to += 8, units += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        if ((word & kHighBits) != 0) break;
        std::memcpy(to, &word, sizeof word);
      }
      for (; at != end && static_cast<unsigned char>(*at) < 0x80; ++units) *to++ = *at++;
      continue;
    }
    const Lead lead = lead_of(static_cast<unsigned char>(*at));
    std::size_t good = 1;
    for (unsigned char low = lead.low, high = lead.high; good <= lead.following && at + good != end; ++good) {
      const auto byte = static_cast<unsigned char>(at[good]);
      if (byte < low || byte > high) break;
      low = 0x80;
      high = 0xBF;
    }
    if (lead.following != 0 && good == lead.following + 1) {
      for (std::size_t i = 0; i < good; ++i) to[i] = at[i];
      to += good;
      units += lead.following == 3 ? 2 : 1;
    } else {
      std::memcpy(to, kReplacement.data(), kReplacement.size());
      to += kReplacement.size();
      ++units;
    }
    at += good;
  }
  out.advance(static_cast<std::size_t>(to - begin));
  return units;
}

}  // namespace tidemark::wasm
