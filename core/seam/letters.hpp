// Letters of a text as they are compared where the form may differ: code points in lower case, white space, punctuation
// and marks left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark::seam {

/// Han, Hiragana, Katakana, Hangul, CJK punctuation, full-width forms.
bool is_cjk(char32_t point);

/// Unicode's White_Space.
bool is_white(char32_t point);

/// Letters and digits of any script. (Told by what is known not to be one: punctuation, symbols, emoji, white space.)
bool is_letter(char32_t point);

/// Lower case of Latin, Greek and Cyrillic letters; any other code point as it is.
char32_t folded(char32_t point);
inline bool is_upper(char32_t point) { return folded(point) != point; }

/// Whether a letter is of a script that has no upper case.
bool is_caseless(char32_t letter);

inline bool is_hiragana(char32_t point) { return point >= 0x3041 && point <= 0x309F; }

/// What a code point weighs against chance: 1, a CJK one 3.
inline std::uint32_t weight_of(char32_t point) { return is_cjk(point) ? 3 : 1; }

/// The letters of a text, folded, one after the other.
class Letters {
 public:
  explicit Letters(std::string_view text) : text_(text) {}
  /// Goes to the next letter; false at the text's end.
  bool next();
  char32_t letter() const { return letter_; }
  /// Whether the last letter and the one before it stand side by side.
  bool adjoins() const { return adjoins_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  char32_t letter_ = 0;
  bool adjoins_ = false;
};

}  // namespace tidemark::seam
