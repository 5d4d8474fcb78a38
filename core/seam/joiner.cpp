// Replay, overlap, white space and evidence, in this order.
#include "core/seam/joiner.hpp"

#include <algorithm>

#include "core/seam/letters.hpp"

namespace tidemark::seam {
namespace {

constexpr std::uint32_t kEcho = 12;  // an echo that weighs less may be chance
// A model's tokens are small: as long as all that it says stands in what was delivered, so many events are waited for.
constexpr int kPatience = 256;
constexpr std::uint32_t kLightOverlap = 3;  // a letter is none
constexpr std::uint32_t kShortAnswer = 3;   // as an answer's first word is: less comes twice by chance

std::string_view last_bytes(std::string_view text, std::size_t bytes) {
  return text.substr(text.size() - std::min(bytes, text.size()));
}

}  // namespace

Joiner::Joiner(std::string_view delivered, const JoinOptions& options)
    : delivered_(delivered),
      stripped_(last_bytes(delivered, options.stripped_bytes)),
      options_(options),
      phase_(options.continuer == Continuer::Echo ? Phase::Replay : Phase::Overlap),
      replay_(delivered.substr(0, delivered.size() - stripped_.size())),
      trimmer_(delivered, options.continuer == Continuer::SameGeneration ? Continuer::SameGeneration : Continuer::Model,
               options.overlap_min,
               options.continuer == Continuer::SameGeneration ? OverlapTrimmer::kMaxEvents : kPatience) {}

Joiner::Decision Joiner::offer(std::string_view text) {
  if (phase_ == Phase::Joined) return {Step::Join, 0};
  if (phase_ == Phase::Refused) return {Step::Refuse, 0, why_};
  if (text.empty()) return {};
  keep(text);
  if (phase_ == Phase::Replay) return replay(text);
  if (phase_ == Phase::Overlap) return overlap(false);
  return phase_ == Phase::White ? white() : judge(false);
}

Joiner::Decision Joiner::finish() {
  if (phase_ == Phase::Joined) return {Step::Join, 0};
  if (phase_ == Phase::Refused) return {Step::Refuse, 0, why_};
  if (phase_ == Phase::Replay && echoes_) return refuse(Refusal::Divergence);
  if (phase_ == Phase::White) return join(echo_bytes_ + white_bytes_);
  if (!trimmer_.decided()) trim_bytes_ = trimmer_.finish().trim_bytes;
  return overlap(true);
}

void Joiner::keep(std::string_view text) {
  offered_ += text.size();
  head_ += text.substr(0, Evidence::kMostBytes - std::min(head_.size(), Evidence::kMostBytes));
  match_white(text);
  if (trimmer_.decided()) return;
  ++events_;
  trim_bytes_ = trimmer_.offer(text).trim_bytes;
  // What three events overlap is trimmed, whatever may follow (contract § 5).
  if (!trimmer_.decided() && events_ == OverlapTrimmer::kMaxEvents) early_trim_ = trimmer_.trim_so_far();
}

void Joiner::match_white(std::string_view text) {
  for (std::size_t i = 0; i < text.size() && white_open_; ++i) {
    white_open_ = white_at_ < stripped_.size() && text[i] == stripped_[white_at_];
    if (!white_open_) return;
    ++white_at_;
    ++white_bytes_;
  }
}

Joiner::Decision Joiner::replay(std::string_view text) {
  const Replay::Result result = replay_.offer(text);
  if (result.step == Replay::Step::Skipped) {
    echoes_ = echoes_ || weight(delivered_.substr(0, replay_.matched())) >= kEcho;
    return echoes_ ? drop() : Decision{};
  }
  if (result.step == Replay::Step::Joined) {
    const std::string_view rest = text.substr(result.skipped_bytes);
    echo_bytes_ = offered_ - rest.size();
    phase_ = Phase::White;
    white_at_ = white_bytes_ = 0;
    white_open_ = true;
    match_white(rest);
    return white();
  }
  if (echoes_) return refuse(Refusal::Divergence);
  // It doesn't echo at all: it may as well go on.
  phase_ = Phase::Overlap;
  return overlap(false);
}

Joiner::Decision Joiner::white() {
  const bool all = echo_bytes_ + white_bytes_ == offered_;
  return all && white_at_ < stripped_.size() ? drop() : join(echo_bytes_ + white_bytes_);
}

Joiner::Decision Joiner::overlap(bool complete) {
  if (!trimmer_.decided()) return {};
  const bool late = events_ > OverlapTrimmer::kMaxEvents && trim_bytes_ > early_trim_;
  if (late && is_habit(trim_bytes_)) trim_bytes_ = early_trim_;
  // A restart begins with an overlap where the answer has said its beginning again just before it was cut, and where
  // all that was delivered comes again; that it does so at once is an overlap by the contract.
  const std::size_t compared = std::min(trim_bytes_, head_.size());
  const bool begins_again = (late || trim_bytes_ < delivered_.size()) &&
                            delivered_.substr(0, compared) == std::string_view(head_).substr(0, compared);
  if (options_.continuer == Continuer::SameGeneration || (trim_bytes_ > 0 && !begins_again)) {
    return join(std::max(trim_bytes_, white_bytes_));
  }
  phase_ = Phase::Judge;
  evidence_.emplace(delivered_);
  if (trim_bytes_ > 0) {
    overlap_ = Evidence::Overlap::Trimmed;
  } else {
    const std::size_t light = overlap_bytes(last_bytes(delivered_, Evidence::kMostBytes), head_);
    if (weight(std::string_view(head_).substr(0, light)) >= kLightOverlap) overlap_ = Evidence::Overlap::Light;
  }
  return judge(complete);
}

// The end of the answer stands in it before: what repeats itself may well go on doing so.
bool Joiner::is_habit(std::size_t bytes) const {
  return find_bytes(delivered_, last_bytes(delivered_, bytes)) + bytes < delivered_.size();
}

// All that there is of an answer that has just begun is too light for an overlap; said once more it is no chance
// either.
Joiner::Repeats Joiner::repeats_short_answer(std::string_view body) const {
  std::string_view all = delivered_;
  while (!all.empty() && is_white(static_cast<unsigned char>(all.back()))) all.remove_suffix(1);
  if (all.size() / 4 >= options_.overlap_min) return Repeats::No;  // so many code points weigh that much at least
  const std::uint32_t heavy = weight(all);
  if (heavy < kShortAnswer || heavy >= options_.overlap_min) return Repeats::No;
  if (body.starts_with(all)) return Repeats::AllOfIt;
  return all.starts_with(body) ? Repeats::SoFar : Repeats::No;
}

Joiner::Decision Joiner::judge(bool complete) {
  if (overlap_ == Evidence::Overlap::Trimmed) {
    const std::optional<Refusal> verdict = evidence_->judge(head_, overlap_, complete);
    if (!verdict) return {};
    return *verdict == Refusal::None ? join(std::max(trim_bytes_, white_bytes_)) : refuse(*verdict);
  }
  // Of white space that is said otherwise, what it has in common with the end of that which was stripped.
  const std::size_t white = white_at_ > 0 ? white_bytes_ : overlap_bytes(stripped_, head_);
  const std::string_view body = std::string_view(head_).substr(white);
  if (body.empty()) {
    if (white_at_ == 0) white_at_ = stripped_.size();
    return complete ? join(offered_) : drop();
  }
  switch (repeats_short_answer(body)) {
    case Repeats::AllOfIt:
      return refuse(Refusal::Restart);
    case Repeats::SoFar:
      if (!complete) return {};
      break;
    case Repeats::No:
      break;
  }
  const std::optional<Refusal> verdict = evidence_->judge(body, overlap_, complete);
  if (verdict && *verdict != Refusal::None) return refuse(*verdict);
  if (!verdict) return {};
  return join(white);
}

Joiner::Decision Joiner::drop() {
  head_.clear();
  offered_ = echo_bytes_ = white_bytes_ = 0;
  return {Step::Drop, 0};
}

Joiner::Decision Joiner::join(std::size_t trim_bytes) {
  phase_ = Phase::Joined;
  head_.clear();
  return {Step::Join, trim_bytes};
}

Joiner::Decision Joiner::refuse(Refusal why) {
  phase_ = Phase::Refused;
  why_ = why;
  head_.clear();
  return {Step::Refuse, 0, why};
}

}  // namespace tidemark::seam
