// The seam of a repeated request.
#include "core/seam/tail_joiner.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"

namespace tidemark::seam {
namespace {

// As overlap_bytes() of overlap_trimmer.hpp, with less code: that is for the browser. Hardly ever is more than the
// first character of a length looked at; where every one has to be, there are no more of them than the window has.
std::size_t overlap_of(std::string_view delivered, std::string_view offered) {
  std::size_t size = std::min(std::min(delivered.size(), offered.size()), TailJoiner::kWindowBytes);
  const auto between_code_points = [&] { return size == offered.size() || !is_continuation(offered[size]); };
  while (size > 0 && !(delivered.ends_with(offered.substr(0, size)) && between_code_points())) --size;
  return size;
}

}  // namespace

TailJoiner::Decision TailJoiner::offer(std::string_view text) {
  const Replay::Result repeated = replay_.offer(text);
  if (replays_ && repeated.step != Replay::Step::Skipped) {
    return {repeated.step == Replay::Step::Joined ? Step::Join : Step::Refuse, repeated.skipped_bytes};
  }
  if (!replays_) {
    offered_ += text;
    ++events_;
    if (repeated.step != Replay::Step::Skipped) return may_overlap_more() ? Decision{} : finish();
    if (events_ < kMaxEvents) return {};
    replays_ = true;
  }
  return {Step::Drop, 0};
}

TailJoiner::Decision TailJoiner::finish() {
  if (replay_.joined()) return {Step::Join, delivered_.size()};
  const std::size_t overlap = overlap_of(delivered_, offered_);
  const bool parted = replay_.matched() >= kNoChance + overlap;
  return {replays_ || parted ? Step::Refuse : Step::Join, overlap};
}

// A longer overlap begins where all that was offered stands in what was delivered, and more follows.
bool TailJoiner::may_overlap_more() const {
  std::string_view end = delivered_;
  const std::size_t most = events_ < kMaxEvents ? kWindowBytes : kLongBytes;
  if (end.size() > most) end.remove_prefix(end.size() - most);
  const std::size_t at = end.find(offered_);
  return at != std::string_view::npos && at + offered_.size() != end.size();
}

}  // namespace tidemark::seam
