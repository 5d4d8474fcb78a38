// Every word is found, and nothing that only looks like one.
#include "core/dialect/words.hpp"

#include <string>

#include "tests/catch.hpp"

namespace tidemark::dialect {
namespace {

struct Entry {
  Word word;
  std::string text;
};

#define TIDEMARK_WORD(name, text) Entry{Word::name, text},
const Entry kEntries[] = {TIDEMARK_WORDS(TIDEMARK_WORD)};
#undef TIDEMARK_WORD

TEST_CASE("a word is found, and a word with another byte, one less or one more is not") {
  const auto is_entry = [](const std::string& text) {
    for (const Entry& entry : kEntries) {
      if (entry.text == text) return true;
    }
    return false;
  };
  for (const Entry& entry : kEntries) {
    CAPTURE(entry.text);
    CHECK(word_of(entry.text) == entry.word);
    for (std::size_t i = 0; i < entry.text.size(); ++i) {
      std::string other = entry.text;
      other[i] = other[i] == '~' ? '!' : '~';
      CHECK(word_of(other) == Word::None);
    }
    const std::string shorter = entry.text.substr(1);
    if (!is_entry(shorter)) CHECK(word_of(shorter) == Word::None);
    CHECK(word_of(entry.text + "~") == Word::None);
  }
  CHECK(word_of("") == Word::None);
  CHECK(word_of(std::string(1000, 'a')) == Word::None);
}

}  // namespace
}  // namespace tidemark::dialect
