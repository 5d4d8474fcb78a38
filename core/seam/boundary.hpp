// The place where an answer was cut, and how a continuation begins: what of it looks like another beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark::seam {

/// Where the delivered text ends.
enum class Place : std::uint8_t {
  Word,      // after a letter or a digit
  Tight,     // after a sentence's end, without the white space that would follow
  Sentence,  // between two words, or after a comma
  Fresh,     // anywhere else: something may begin here
};
Place place_of(std::string_view delivered);

/// How a continuation begins.
enum class Start : std::uint8_t {
  Open,      // not to be told yet
  Plain,     // white space, a lower-case letter, Hiragana, or anything else that says nothing
  Capital,   // an upper-case letter
  Caseless,  // a letter of a script without upper case
  Mark,      // a heading, a list, a bold word, a table or a code block, beginning with an upper-case letter or similar
};
struct Beginning {
  Start start = Start::Open;
  std::size_t at = 0;  // where its first letter is
};
Beginning beginning_of(std::string_view continuation);

/// Whether a text has characters that prose has seldom.
bool has_code_signs(std::string_view text);

/// Whether the last 2 KiB of a text have no such characters, no calls, and no words like useState, of which three
/// letters or more come before the upper case.
bool is_prose(std::string_view text);

/// Whether a text ends inside a word, or with one, of at least three letters, all in lower case.
bool ends_in_plain_word(std::string_view text);

/// Whether a text leaves a mark open: has an odd number of it.
bool is_open(std::string_view text, std::string_view mark);

/// Whether a Markdown code block has been opened and not closed.
inline bool ends_in_code_block(std::string_view delivered) { return is_open(delivered, "```"); }

/// What of a text, of its last 2 KiB, stands on its last line.
std::string_view last_line(std::string_view text);

}  // namespace tidemark::seam
