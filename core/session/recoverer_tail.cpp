// The client leg's state machine: a repeated request, joined on by its text (`tail`).
#include <algorithm>

#include "core/base/utf8.hpp"
#include "core/session/recoverer.hpp"

namespace tidemark::session {
namespace {

using dialect::Kind;

std::uint32_t utf16_length(std::string_view text) {
  std::uint32_t units = 0;
  for (const char c : text) units += utf16_units(c);
  return units;
}

}  // namespace

// What a resume may tell: the number of a dialect that numbers its events, where no proxy numbers them, too.
seam::Seq Recoverer::number_of(const dialect::Meaning& meaning) const {
  const bool numbered = interpreter_->dialect() == dialect::Dialect::SeqDelta && !named_stream_;
  return numbered && meaning.sequence ? static_cast<seam::Seq>(*meaning.sequence) : seam::kNothing;
}

// An event of a leg that has not been joined on. `commits`: it is no preamble.
void Recoverer::join(TimeMs now, EventAction action, const dialect::Meaning& meaning, bool commits) {
  using Step = seam::TailJoiner::Step;
  ++duplicates_;
  if (action.kind == Kind::Error || action.kind == Kind::Challenge) {
    held_.clear();
    return take(now, action, meaning);
  }
  // Reasoning that leads to what is there already.
  if (!joins_reasoning_) action.reasoning = {};
  if (!commits || (!joins_reasoning_ && action.kind == Kind::Reasoning)) return;
  if (ends_only_) return meaning.terminal ? take(now, action, meaning) : void();

  const std::string_view part = joins_reasoning_ ? action.reasoning : action.text;
  const bool last =
      part.empty() || action.finish != dialect::Finish::None || (joins_reasoning_ && !action.text.empty());
  seam::TailJoiner::Decision decision;
  if (!part.empty()) decision = joiner_->offer(part);
  if (last && (decision.step == Step::Hold || decision.step == Step::Drop)) decision = joiner_->finish();
  switch (decision.step) {
    case Step::Hold:
      return hold(action);
    case Step::Drop:
      held_.clear();
      return;
    case Step::Refuse:
      return fail_mismatch("the server sent a different answer", "seam_refused");
    case Step::Join:
      break;
  }
  trim_ = decision.trim_bytes;
  std::string_view again = joins_reasoning_ ? reasoning_ : text_;
  if (joiner_->replayed()) {
    seam_kind_ = SeamKind::Replayed;
  } else {
    again.remove_prefix(again.size() - trim_);
    seam_kind_ = trim_ > 0 ? SeamKind::Trimmed : SeamKind::Resumed;
  }
  trimmed_ = utf16_length(again);
  joiner_.reset();
  --duplicates_;
  take(now, action, meaning);
}

// Takes off the event what was delivered before. False: nothing is left of it.
bool Recoverer::trim(EventAction& action) {
  std::string_view& part = joins_reasoning_ ? action.reasoning : action.text;
  const std::size_t size = std::min(trim_, part.size());
  if (size == 0) return true;
  action.trimmed = utf16_length(part.substr(0, size));
  part.remove_prefix(size);
  trim_ -= size;
  const bool left = !action.text.empty() || !action.reasoning.empty() || action.finish != dialect::Finish::None;
  if (!left) ++duplicates_;
  return left;
}

// Keeps what a later leg is joined on by.
void Recoverer::remember(const EventAction& action) {
  if (!action.text.empty()) {
    thinks_ = false;
  } else if (!action.reasoning.empty()) {
    thinks_ = !text_.empty();
  } else if (dialect::is_content(action.kind) && action.trimmed == 0) {
    unjoinable_ = true;  // a tool call, an image
  }
  const std::size_t size = text_.size() + reasoning_.size() + action.text.size() + action.reasoning.size();
  if (action.kind == Kind::Refusal || size > kMaxTailBytes) unjoinable_ = true;
  if (unjoinable_) return;
  if (text_.empty()) reasoning_ += action.reasoning;
  text_ += action.text;
  tail_.append(action.text);
  if (action.seq != seam::kNothing) watermark_ = seam::Watermark(action.seq);
}

}  // namespace tidemark::session
