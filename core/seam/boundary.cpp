// The last code points of what was delivered, and the first of what comes.
#include "core/seam/boundary.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"
#include "core/seam/letters.hpp"

namespace tidemark::seam {
namespace {

constexpr std::size_t kProseBytes = 2048;  // how far back camelCase and code are looked for
constexpr std::size_t kLongestWord = 24;   // letters
constexpr std::size_t kLongestMark = 7;    // of a Markdown heading, at most

// Words like iPhone and eBay stand in any prose; those that begin with more letters in lower case are code or a brand.
constexpr std::size_t kShortestHump = 3;

// Where the code point before `at`, above 0, begins.
std::size_t before(std::string_view text, std::size_t at) {
  --at;
  for (int back = 0; back < 3 && at > 0 && is_continuation(text[at]); ++back) --at;
  return at;
}

char32_t point_before(std::string_view text, std::size_t at) {
  std::size_t length = 0;
  return at == 0 ? 0 : decode_at(text, before(text, at), length);
}

bool is_lower(char32_t point) { return is_letter(point) && !is_caseless(point) && !is_upper(point) && point > '9'; }

// Lower-case letters that end at `at`, up to `most`.
std::size_t lower_run(std::string_view text, std::size_t at, std::size_t most) {
  std::size_t run = 0;
  while (run < most && at > 0 && is_lower(point_before(text, at))) {
    at = before(text, at);
    ++run;
  }
  return run;
}

constexpr std::string_view kCode = "`{}<>=_\\";

}  // namespace

Place place_of(std::string_view delivered) {
  std::size_t at = delivered.size();
  char32_t last = 0;
  bool white = false;
  for (; at > 0; at = before(delivered, at)) {
    last = point_before(delivered, at);
    if (!is_white(last)) break;
    if (last == '\n') return Place::Fresh;
    white = true;
  }
  if (at == 0) return Place::Fresh;
  if (is_letter(last)) return white ? Place::Sentence : Place::Word;
  if (last == ',' || last == ';') return white ? Place::Sentence : Place::Fresh;
  if (last == 0xFF0C || last == 0x3001 || last == 0xFF1B) return Place::Sentence;
  const bool ends = last == '.' || last == '!' || last == '?';
  return ends && !white && lower_run(delivered, at - 1, 3) == 3 ? Place::Tight : Place::Fresh;
}

Beginning beginning_of(std::string_view text) {
  std::size_t at = 0, length = 0;
  while (at < text.size() && (text[at] == '#' || text[at] == '*' || text[at] == '>' || text[at] == '-' ||
                              text[at] == '|' || text[at] == '`')) {
    ++at;
  }
  if (at == text.size() && at < kLongestMark) return {};
  if (at >= kLongestMark) return {Start::Plain, 0};
  if (at == 0) {
    const char32_t point = decode_at(text, 0, length);
    if (!is_letter(point) || (point >= '0' && point <= '9')) return {Start::Plain, 0};
    if (is_caseless(point)) return {is_hiragana(point) ? Start::Plain : Start::Caseless, 0};
    return {is_upper(point) ? Start::Capital : Start::Plain, 0};
  }
  // A block of code names its language; headings, lists and tables have a space; a bold word has none.
  const bool code = text.substr(0, 3) == "```";
  const bool bold = text.substr(0, at) == "**";
  if (!code && !bold) {
    if (text[at] != ' ' || text.find_first_of(">`") < at) return {Start::Plain, 0};
    ++at;
  }
  if (at == text.size()) return {};
  const char32_t point = decode_at(text, at, length);
  if (code) return {is_letter(point) ? Start::Mark : Start::Plain, at};
  const bool begins = is_letter(point) && (is_upper(point) || is_caseless(point));
  return {begins ? Start::Mark : Start::Plain, at};
}

bool has_code_signs(std::string_view text) { return text.find_first_of(kCode) != std::string_view::npos; }

bool is_prose(std::string_view text) {
  std::size_t at = text.size() - std::min(kProseBytes, text.size()), length = 0;
  while (at < text.size() && is_continuation(text[at])) ++at;
  if (has_code_signs(text.substr(at))) return false;
  char32_t last = ' ';
  std::size_t lower = 0;  // letters of the current word, as long as all are lower case
  for (; at < text.size(); at += length) {
    const char32_t point = decode_at(text, at, length);
    if (point == '(' && is_letter(last)) return false;
    if (lower >= kShortestHump && is_letter(point) && is_upper(point)) return false;
    lower = is_lower(point) && (lower > 0 || !is_letter(last)) ? lower + 1 : 0;
    last = point;
  }
  return true;
}

bool ends_in_plain_word(std::string_view text) {
  const std::size_t run = lower_run(text, text.size(), kLongestWord);
  if (run < kShortestHump || run == kLongestWord) return false;
  std::size_t word = text.size();
  for (std::size_t i = 0; i < run; ++i) word = before(text, word);
  return word == 0 || is_white(point_before(text, word));
}

bool is_open(std::string_view text, std::string_view mark) {
  bool open = false;
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + mark.size())) {
    open = !open;
  }
  return open;
}

std::string_view last_line(std::string_view text) {
  text = text.substr(text.size() - std::min(kProseBytes, text.size()));
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace tidemark::seam
