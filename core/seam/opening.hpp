// The beginning of an answer, to be recognised when a continuation says it again: word for word, or in other words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tidemark::seam {

class Opening {
 public:
  static constexpr std::size_t kLetters = 256;  // so many letters are compared one by one
  static constexpr std::size_t kWordsBytes =
      360;  // from so much of the answer, and from half of it at most, its words are taken

  static constexpr std::size_t kRecentBytes = 240;  // what so much of its end has, too, is left out
  static constexpr std::uint32_t kMostWords = 16;

  /// `delivered` must outlive this.
  explicit Opening(std::string_view delivered);

  struct Agreement {
    std::uint32_t weight = 0;  // of the letters that agree from the beginning on, white space and marks passed over
    std::uint32_t repeated =
        0;               // of as many as the answer says more than once itself; not less than `weight` in a loop
    bool ended = false;  // another letter has followed, or no more are compared
  };
  /// How far a continuation agrees with it. Where the weight is below `from`, `repeated` isn't looked for.
  Agreement agree(std::string_view continuation, std::uint32_t from);

  struct Words {
    std::uint32_t all = 0;    // different words of at least four letters; in CJK text, pairs of letters
    std::uint32_t known = 0;  // those of them that stand in the opening
    bool enough = false;      // `most` have been counted: more text changes nothing
  };
  /// Words of a continuation, up to `most` (of kMostWords). Where it is `complete`, the last one counts although none
  /// follows.
  Words words(std::string_view continuation, std::uint32_t most, bool complete);

  /// What all its compared letters weigh.
  std::uint32_t weight() const { return weight_; }

 private:
  std::size_t advance(std::size_t matched, char32_t letter) const;
  void search();

  std::string_view delivered_;
  std::vector<char32_t> letters_;
  std::vector<std::size_t> failure_;  // of letters_, once searched
  std::vector<std::uint32_t> words_;  // hashes, sorted, once asked for
  std::uint32_t weight_ = 0;
  std::size_t repeated_ = 0;  // letters that what was delivered repeats of its beginning
  std::size_t matched_ = 0;   // letters of it that stand at the very end of what was delivered
};

}  // namespace tidemark::seam
