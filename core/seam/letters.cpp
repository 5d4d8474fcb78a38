// Scripts by their ranges of code points.
#include "core/seam/letters.hpp"

#include "core/base/utf8.hpp"

namespace tidemark::seam {
namespace {

constexpr bool between(char32_t point, char32_t first, char32_t last) { return point >= first && point <= last; }

}  // namespace

bool is_cjk(char32_t p) {
  return between(p, 0x1100, 0x11FF) ||  // Hangul Jamo
         between(p, 0x2E80, 0x303F) ||  // radicals, CJK punctuation
         between(p, 0x3040, 0x31FF) ||  // kana, bopomofo, Hangul compatibility
         between(p, 0x3200, 0x4DBF) ||  // enclosed, extension A
         between(p, 0x4E00, 0x9FFF) ||  // unified ideographs
         between(p, 0xA960, 0xA97F) ||  // Hangul Jamo extended A
         between(p, 0xAC00, 0xD7FF) ||  // Hangul syllables
         between(p, 0xF900, 0xFAFF) ||  // compatibility ideographs
         between(p, 0xFE30, 0xFE4F) ||  // compatibility forms
         between(p, 0xFF00, 0xFFEF) ||  // full-width and half-width forms
         between(p, 0x20000, 0x3FFFF);  // extensions B and later
}

bool is_white(char32_t p) {
  return p == ' ' || between(p, '\t', '\r') || p == 0x85 || p == 0xA0 || p == 0x1680 || between(p, 0x2000, 0x200A) ||
         p == 0x2028 || p == 0x2029 || p == 0x202F || p == 0x205F || p == 0x3000;
}

bool is_letter(char32_t p) {
  if (p < 0x80) return between(p, '0', '9') || between(p, 'a', 'z') || between(p, 'A', 'Z');
  return p != 0xFFFD &&
         !(between(p, 0x80, 0xBF) ||  // controls, Latin-1 punctuation and symbols
           p == 0xD7 || p == 0xF7 ||  // times, divided by
           p == 0x60C || p == 0x61B || p == 0x61F || p == 0x6D4 || between(p, 0x66A, 0x66D) ||  // Arabic punctuation
           between(p, 0x964, 0x965) ||                                                          // danda
           between(p, 0x2000, 0x2BFF) ||  // punctuation, symbols, arrows, shapes
           between(p, 0x2E00, 0x2E7F) ||  // more punctuation
           between(p, 0x3000, 0x3004) || between(p, 0x3008, 0x3020) || p == 0x3030 ||  // CJK punctuation
           p == 0x30FB || between(p, 0xFE00, 0xFE6F) ||  // middle dot, selectors, forms of punctuation
           between(p, 0xFF01, 0xFF0F) || between(p, 0xFF1A, 0xFF20) || between(p, 0xFF3B, 0xFF40) ||
           between(p, 0xFF5B, 0xFF65) ||   // full-width punctuation
           between(p, 0x1F000, 0x1FAFF));  // emoji
}

char32_t folded(char32_t p) {
  if (p < 0x80) return between(p, 'A', 'Z') ? p + 32 : p;
  if (between(p, 0xC0, 0xDE) && p != 0xD7) return p + 32;
  if (between(p, 0x139, 0x148) || between(p, 0x179, 0x17E)) return p + p % 2;
  if (between(p, 0x100, 0x177) && p != 0x130 && p != 0x138) return p | 1;
  if (between(p, 0x391, 0x3A9)) return p + 32;
  if (between(p, 0x400, 0x40F)) return p + 80;
  if (between(p, 0x410, 0x42F)) return p + 32;
  return p;
}

bool is_caseless(char32_t p) { return p >= 0x590 && !between(p, 0x10A0, 0x10FF) && !between(p, 0x1E00, 0x1FFF); }

bool Letters::next() {
  adjoins_ = at_ > 0;
  for (std::size_t length = 0; at_ < text_.size();) {
    const char32_t point = decode_at(text_, at_, length);
    at_ += length;
    if (is_letter(point)) {
      letter_ = folded(point);
      return true;
    }
    adjoins_ = false;
  }
  return false;
}

}  // namespace tidemark::seam
