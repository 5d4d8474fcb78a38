// Looking a word up.
#include "core/dialect/words.hpp"

#include <array>
#include <cstddef>

#include "core/dialect/json_scan.hpp"

namespace tidemark::dialect {
namespace {

// All words, one after the other.
#define TIDEMARK_WORD(name, text) text
constexpr char kText[] = TIDEMARK_WORDS(TIDEMARK_WORD);
#undef TIDEMARK_WORD

#define TIDEMARK_WORD(name, text) sizeof(text) - 1,
constexpr std::array kSizes = {TIDEMARK_WORDS(TIDEMARK_WORD)};
#undef TIDEMARK_WORD

constexpr std::size_t kLongest = kSizes.back();

constexpr bool is_sorted() {
  for (std::size_t i = 1; i < kSizes.size(); ++i) {
    if (kSizes[i] < kSizes[i - 1]) return false;
  }
  return true;
}
static_assert(is_sorted());
static_assert(kSizes.size() < 0xFF);

// The words of one size.
struct Shelf {
  std::uint8_t first = 0;
  std::uint8_t count = 0;
  std::uint16_t text_at = 0;
};

constexpr std::array<Shelf, kLongest + 1> shelves() {
  std::array<Shelf, kLongest + 1> all{};
  std::size_t text_at = 0;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    Shelf& shelf = all[kSizes[i]];
    if (shelf.count++ == 0) {
      shelf.first = static_cast<std::uint8_t>(i + 1);  // after Word::None
      shelf.text_at = static_cast<std::uint16_t>(text_at);
    }
    text_at += kSizes[i];
  }
  return all;
}
constexpr std::array<Shelf, kLongest + 1> kShelves = shelves();

}  // namespace

Word word_of(std::string_view text) {
  if (text.size() > kLongest || text.empty()) return Word::None;
  const Shelf& shelf = kShelves[text.size()];
  const char* candidate = kText + shelf.text_at;
  // The middle tells more apart than the ends, which many share.
  const std::size_t middle = text.size() / 2;
  for (unsigned i = 0; i < shelf.count; ++i, candidate += text.size()) {
    if (candidate[middle] == text[middle] && scan::equal(candidate, text.data(), text.size())) {
      return static_cast<Word>(shelf.first + i);
    }
  }
  return Word::None;
}

}  // namespace tidemark::dialect
