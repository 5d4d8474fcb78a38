// An answer that begins again.
#include "core/seam/replay.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"

namespace tidemark::seam {

Replay::Result Replay::offer(std::string_view text) {
  if (diverged_) return {Step::Diverged, 0};
  const std::string_view expected = delivered_.substr(matched_);
  const std::size_t most = std::min(expected.size(), text.size());
  std::size_t same = 0;
  while (same < most && expected[same] == text[same]) ++same;
  // Where the texts part inside a code point, they part before it.
  const auto goes_on = [&same](std::string_view t) { return same < t.size() && is_continuation(t[same]); };
  diverged_ = same < most || goes_on(text) || goes_on(expected);
  while (diverged_ && same > 0 && (goes_on(text) || goes_on(expected))) --same;
  matched_ += same;
  if (diverged_) return {Step::Diverged, same};
  return {matched_ == delivered_.size() ? Step::Joined : Step::Skipped, same};
}

}  // namespace tidemark::seam
