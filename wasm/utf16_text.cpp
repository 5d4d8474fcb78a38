// UTF-8 made whole, and counted in UTF-16 code units.
#include "wasm/utf16_text.hpp"

#include <bit>
#include <cstring>

#include "core/dialect/json_scan.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::wasm {
namespace {

using dialect::scan::kOnes;

// How much of the text is UTF-8 before the first ill-formed part.
std::size_t well_formed_size(std::string_view text) {
  std::size_t at = 0;
  for (;;) {
    while (text.size() - at >= 8 && (dialect::scan::load(text.data() + at) & dialect::scan::kHighBits) == 0) at += 8;
    if (at == text.size()) return at;
    const int size = dialect::code_point_size(text.substr(at));
    if (size < 0) return at;
    at += static_cast<std::size_t>(size);
  }
}

}  // namespace

std::uint32_t append_text(ByteBuffer& out, std::string_view text) {
  // Most often all of it is ASCII: checked and copied at once.
  char* const to = out.reserve(text.size());
  std::size_t plain = 0;
  for (; text.size() - plain >= 8; plain += 8) {
    const std::uint64_t word = dialect::scan::load(text.data() + plain);
    if ((word & dialect::scan::kHighBits) != 0) break;
    std::memcpy(to + plain, &word, sizeof word);
  }
  for (; plain != text.size() && static_cast<unsigned char>(text[plain]) < 0x80; ++plain) to[plain] = text[plain];
  out.advance(plain);
  text.remove_prefix(plain);

  auto units = static_cast<std::uint32_t>(plain);
  while (!text.empty()) {
    const std::size_t good = well_formed_size(text);
    units += append_well_formed(out, text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    units += append_well_formed(out, "\xEF\xBF\xBD");
    text.remove_prefix(static_cast<std::size_t>(-dialect::code_point_size(text)));
  }
  return units;
}

std::uint32_t append_long(ByteBuffer& out, std::string_view text) {
  out.append(text);
  // A code unit each byte, none for one that continues (10xxxxxx), two for one that begins four (11110xxx).
  std::uint32_t units = static_cast<std::uint32_t>(text.size());
  for (; text.size() >= 8; text.remove_prefix(8)) {
    const std::uint64_t word = dialect::scan::load(text.data());
    const std::uint64_t high = word >> 7;
    units -= static_cast<std::uint32_t>(std::popcount(high & ~(word >> 6) & kOnes));
    units += static_cast<std::uint32_t>(std::popcount(high & (word >> 6) & (word >> 5) & (word >> 4) & kOnes));
  }
  for (const char c : text) units = units - 1 + utf16_units(c);
  return units;
}

}  // namespace tidemark::wasm
