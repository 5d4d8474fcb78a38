// Agreement letter by letter, repetition by the failure function of Knuth, Morris and Pratt, words by their hashes.
#include "core/seam/opening.hpp"

#include <algorithm>
#include <array>

#include "core/base/utf8.hpp"
#include "core/seam/letters.hpp"

namespace tidemark::seam {
namespace {

constexpr std::uint32_t kShortestWord = 4;
constexpr std::uint32_t kStem = 5;  // letters of a word that are looked at: its endings change
constexpr std::uint32_t kHashStart = 2166136261;

std::uint32_t mixed(std::uint32_t hash, char32_t letter) {
  return (hash ^ static_cast<std::uint32_t>(letter)) * 16777619u;
}

// Calls take(hash) for every word and every pair of CJK letters until it returns false.
template <class Take>
void each_word(std::string_view text, bool complete, Take take) {
  std::uint32_t hash = kHashStart, length = 0;
  char32_t last = 0;  // the CJK letter just before
  const auto end_word = [&] {
    const bool counts = length >= kShortestWord;
    length = 0;
    const std::uint32_t word = hash;
    hash = kHashStart;
    return !counts || take(word);
  };
  for (std::size_t at = 0, bytes = 0; at < text.size(); at += bytes) {
    const char32_t point = decode_at(text, at, bytes);
    const char32_t letter = folded(point);
    if (is_letter(point) && !is_cjk(point)) {
      if (length++ < kStem) hash = mixed(hash, letter);
      last = 0;
      continue;
    }
    if (!end_word()) return;
    if (!is_letter(point)) {
      last = 0;
      continue;
    }
    if (is_hiragana(letter)) {  // endings and particles, which all texts share
      last = 0;
      continue;
    }
    if (last != 0 && !take(mixed(mixed(kHashStart, last), letter))) return;
    last = letter;
  }
  if (complete) end_word();
}

}  // namespace

Opening::Opening(std::string_view delivered) : delivered_(delivered) {
  Letters letters(delivered);
  while (letters_.size() < kLetters && letters.next()) {
    letters_.push_back(letters.letter());
    weight_ += weight_of(letters.letter());
  }
}

std::size_t Opening::advance(std::size_t matched, char32_t letter) const {
  while (matched > 0 && (matched == letters_.size() || letter != letters_[matched])) matched = failure_[matched - 1];
  return letter == letters_[matched] ? matched + 1 : matched;
}

// Where what was delivered says its beginning again.
void Opening::search() {
  failure_.assign(letters_.size(), 0);
  for (std::size_t i = 1, k = 0; i < letters_.size(); ++i) {
    while (k > 0 && letters_[i] != letters_[k]) k = failure_[k - 1];
    if (letters_[i] == letters_[k]) ++k;
    failure_[i] = k;
  }
  Letters letters(delivered_);
  letters.next();
  while (letters.next()) {
    matched_ = advance(matched_, letters.letter());
    repeated_ = std::max(repeated_, matched_);
  }
}

Opening::Agreement Opening::agree(std::string_view continuation, std::uint32_t from) {
  Agreement agreement;
  Letters letters(continuation);
  std::size_t agreed = 0;
  while (agreed < letters_.size() && letters.next()) {
    agreement.ended = letters.letter() != letters_[agreed];
    if (agreement.ended) break;
    agreement.weight += weight_of(letters_[agreed++]);
  }
  agreement.ended = agreement.ended || agreed == letters_.size();
  if (agreement.weight < from || agreed == 0) return agreement;

  if (failure_.empty()) search();
  std::size_t repeated = repeated_, matched = matched_;
  Letters again(continuation);
  for (std::size_t i = 1; i <= agreed && again.next(); ++i) {
    matched = advance(matched, again.letter());
    if (matched > i) repeated = std::max(repeated, matched);
  }
  for (std::size_t i = 0; i < repeated; ++i) agreement.repeated += weight_of(letters_[i]);
  return agreement;
}

Opening::Words Opening::words(std::string_view continuation, std::uint32_t most, bool complete) {
  if (words_.empty()) {
    const std::string_view last =
        delivered_.substr(delivered_.size() - std::min(kRecentBytes, delivered_.size() * 2 / 3));
    each_word(delivered_.substr(0, std::min(kWordsBytes, delivered_.size() / 2)), true, [&](std::uint32_t word) {
      words_.push_back(word);
      return true;
    });
    std::sort(words_.begin(), words_.end());
    // What is being talked about at the end as well says nothing.
    each_word(last, true, [&](std::uint32_t word) {
      const auto [from, to] = std::equal_range(words_.begin(), words_.end(), word);
      words_.erase(from, to);
      return true;
    });
  }
  Words words;
  std::array<std::uint32_t, kMostWords> seen{};
  each_word(continuation, complete, [&](std::uint32_t word) {
    const auto end = seen.begin() + words.all;
    if (std::find(seen.begin(), end, word) != end) return true;
    const bool known = std::binary_search(words_.begin(), words_.end(), word);
    seen[words.all++] = word;
    words.known += known ? 1 : 0;
    words.enough = words.all == std::min<std::uint32_t>(most, kMostWords);
    return !words.enough;
  });
  return words;
}

}  // namespace tidemark::seam
