// An answer that begins again: how far it agrees with what was delivered (contract § 5).
//
// A backend that cannot go on generates the answer from its beginning. As long as it says what it said before, nothing
// of it is new; what follows then is. Texts are UTF-8, compared byte by byte; where one is cut, it is between code
// points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark::seam {

class Replay {
 public:
  /// `delivered` outlives this, unchanged.
  explicit Replay(std::string_view delivered) : delivered_(delivered) {}

  enum class Step : std::uint8_t {
    Skipped,   // all of the text repeats what was delivered, of which more is to come
    Joined,    // everything delivered has been repeated: what the text has after skipped_bytes is new
    Diverged,  // after skipped_bytes it says something else. Nothing after that is compared any more
  };
  struct Result {
    Step step = Step::Skipped;
    std::size_t skipped_bytes = 0;  // of this text, from its front
  };
  /// The next piece of the replay; texts begin and end between code points. Linear in the text.
  Result offer(std::string_view text);

  /// Bytes of `delivered` that have been repeated so far.
  std::size_t matched() const { return matched_; }
  /// Whether all of it has: a replay that ends before that is another answer.
  bool joined() const { return !diverged_ && matched_ == delivered_.size(); }

 private:
  std::string_view delivered_;
  std::size_t matched_ = 0;
  bool diverged_ = false;
};

}  // namespace tidemark::seam
