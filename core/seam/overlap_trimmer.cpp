// Overlap at a seam, by the failure function of Knuth, Morris and Pratt.
#include "core/seam/overlap_trimmer.hpp"

#include <algorithm>
#include <vector>

#include "core/base/utf8.hpp"
#include "core/seam/letters.hpp"

namespace tidemark::seam {
namespace {

// A text to be looked for, with its failure function.
class Needle {
 public:
  explicit Needle(std::string_view text) : text_(text), failure_(text.size(), 0) {
    for (std::size_t i = 1, k = 0; i < text.size(); ++i) {
      while (k > 0 && text[i] != text[k]) k = failure_[k - 1];
      if (text[i] == text[k]) ++k;
      failure_[i] = k;
    }
  }

  /// How much of the needle has been matched after one more character.
  std::size_t advance(std::size_t matched, char c) const {
    while (matched > 0 && (matched == text_.size() || c != text_[matched])) matched = failure_[matched - 1];
    return !text_.empty() && c == text_[matched] ? matched + 1 : matched;
  }
  /// The next shorter match that ends at the same place.
  std::size_t shorter(std::size_t matched) const { return failure_[matched - 1]; }

 private:
  std::string_view text_;
  std::vector<std::size_t> failure_;
};

// Whether `at` is the text's end or the beginning of a code point.
bool on_boundary(std::string_view text, std::size_t at) { return at >= text.size() || !is_continuation(text[at]); }

}  // namespace

std::size_t overlap_bytes(std::string_view delivered, std::string_view continuation) {
  if (continuation.empty() || is_continuation(continuation.front())) return 0;
  const std::size_t most = std::min(delivered.size(), continuation.size());
  delivered.remove_prefix(delivered.size() - most);
  const Needle needle(continuation.substr(0, most));
  std::size_t matched = 0;
  for (const char c : delivered) matched = needle.advance(matched, c);
  while (matched > 0 && !on_boundary(continuation, matched)) matched = needle.shorter(matched);
  return matched;
}

std::size_t find_bytes(std::string_view text, std::string_view part) {
  const Needle needle(part);
  std::size_t matched = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    matched = needle.advance(matched, text[i]);
    if (matched == part.size()) return i + 1 - part.size();
  }
  return std::string_view::npos;
}

std::uint32_t weight(std::string_view text) {
  std::uint32_t sum = 0;
  for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
    sum += weight_of(decode_at(text, at, length));
  }
  return sum;
}

OverlapTrimmer::OverlapTrimmer(std::string_view delivered, Continuer continuer, std::uint32_t overlap_min,
                               int max_events)
    : continuer_(continuer), overlap_min_(overlap_min), max_events_(max_events) {
  if (delivered.size() > kWindowBytes) {
    delivered.remove_prefix(delivered.size() - kWindowBytes);
    while (!delivered.empty() && is_continuation(delivered.front())) delivered.remove_prefix(1);
  }
  delivered_ = delivered;
}

OverlapTrimmer::Decision OverlapTrimmer::offer(std::string_view text) {
  if (decided_) return {true, 0};
  if (text.empty()) return {false, 0};
  offered_ += text;
  if (++events_ < max_events_ && may_trim_more()) return {false, 0};
  return finish();
}

OverlapTrimmer::Decision OverlapTrimmer::finish() {
  if (decided_) return {true, 0};
  decided_ = true;
  const std::size_t bytes = trim_so_far();
  offered_.clear();
  delivered_.clear();
  return {true, bytes};
}

std::size_t OverlapTrimmer::trim_so_far() const {
  const std::size_t bytes = overlap_bytes(delivered_, offered_);
  return outweighs_chance(std::string_view(offered_).substr(0, bytes)) ? bytes : 0;
}

// A longer overlap begins where all that was offered stands in what was delivered, and more follows. The first such
// place gives the longest.
bool OverlapTrimmer::may_trim_more() const {
  if (is_continuation(offered_.front()) || offered_.size() >= delivered_.size()) return false;
  const std::size_t at = find_bytes(delivered_, offered_);
  if (at == std::string_view::npos || at + offered_.size() == delivered_.size()) return false;
  return outweighs_chance(std::string_view(delivered_).substr(at));
}

bool OverlapTrimmer::outweighs_chance(std::string_view overlap) const {
  return continuer_ == Continuer::SameGeneration || weight(overlap) >= overlap_min_;
}

}  // namespace tidemark::seam
