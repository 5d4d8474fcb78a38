// Tail fingerprint.
#include "core/seam/tail_fingerprint.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/utf8.hpp"

namespace tidemark::seam {
namespace {

// Where the last kTailCodePoints code points begin.
std::size_t tail_start(std::string_view text) {
  std::size_t points = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    if (!is_continuation(text[i - 1]) && ++points == kTailCodePoints) return i - 1;
  }
  return 0;
}

// http://www.isthe.com/chongo/tech/comp/fnv/, 64-bit FNV-1a.
std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::uint64_t tail_fingerprint(std::string_view text) { return fnv1a(text.substr(tail_start(text))); }

std::string to_hex(std::uint64_t fingerprint) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex(16, '0');
  for (std::size_t i = 16; i > 0; --i, fingerprint >>= 4) hex[i - 1] = kDigits[fingerprint & 15];
  return hex;
}

void Tail::append(std::string_view text) {
  for (const char c : text) utf16_length_ += utf16_units(c);
  while (!text.empty()) {
    const std::size_t taken = std::min(text.size(), bytes_.size() - size_);
    std::memcpy(bytes_.data() + size_, text.data(), taken);
    size_ += taken;
    text.remove_prefix(taken);
    keep_last_code_points();
  }
}

std::uint64_t Tail::fingerprint() const { return fnv1a(text()); }

void Tail::keep_last_code_points() {
  std::size_t start = tail_start(text());
  // Only ill-formed text has thirty code points in more than the window.
  if (size_ - start > kWindow) start = size_ - kWindow;
  std::memmove(bytes_.data(), bytes_.data() + start, size_ - start);
  size_ -= start;
}

}  // namespace tidemark::seam
