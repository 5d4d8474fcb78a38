// Text on its way to JavaScript: UTF-8 that TextDecoder will not change, and its length as JavaScript counts.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/utf8.hpp"
#include "wasm/byte_buffer.hpp"

namespace tidemark::wasm {

/// Appends `text`; each maximal part of it that is not UTF-8 becomes U+FFFD, as the Encoding standard decodes it.
/// Returns the number of UTF-16 code units appended. Linear.
std::uint32_t append_text(ByteBuffer& out, std::string_view text);

/// The same for text that is known to be UTF-8. Eight bytes at a time.
std::uint32_t append_long(ByteBuffer& out, std::string_view text);

/// The same. Inline: most of it is a few bytes an event.
inline std::uint32_t append_well_formed(ByteBuffer& out, std::string_view text) {
  constexpr std::size_t kShort = 24;
  if (text.size() > kShort) return append_long(out, text);
  char* const to = out.reserve(text.size());
  std::uint32_t units = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    to[i] = text[i];
    units += utf16_units(text[i]);
  }
  out.advance(text.size());
  return units;
}

}  // namespace tidemark::wasm
