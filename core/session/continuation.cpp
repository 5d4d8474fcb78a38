// Hold, judge, splice.
#include "core/session/continuation.hpp"

#include <algorithm>
#include <utility>

#include "core/base/utf8.hpp"

namespace tidemark::session {

using dialect::Kind;

namespace {

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](const char c) { return !is_continuation(c); }));
}

}  // namespace

Continuation::Continuation(dialect::Dialect dialect, const CutAnswer& so_far, seam::JoinOptions options)
    : reader_(dialect), joiner_(so_far.text, options), splicer_(dialect, so_far.answer, so_far.text, so_far.tokens) {}

Continuation::Step Continuation::take(const sse::Event& event, const dialect::Meaning& meaning) {
  if (joined_) {
    splice(event, meaning, 0);
    return Step::Deliver;
  }
  if (meaning.kind == Kind::Refusal) {
    refusal_ = seam::Refusal::Different;
    return Step::Refuse;
  }
  const bool is_last =
      meaning.kind == Kind::ToolFragment || meaning.finish != dialect::Finish::None || meaning.terminal;
  if (meaning.text.empty() && held_.empty() && !is_last) {
    const std::size_t before = ready_.size();
    splice(event, meaning, 0);
    for (std::size_t i = before; i < ready_.size(); ++i) waiting_bytes_ += ready_[i].data.size();
    return bounded(Step::Hold);
  }
  held_.push_back({{std::string(event.name), std::string(event.data)}, meaning, std::string(meaning.text)});
  held_bytes_ += event.data.size();
  offered_ = offered_ || meaning.kind == Kind::ToolFragment;
  Step step = Step::Hold;
  if (!meaning.text.empty()) {
    offered_ = true;
    step = act(joiner_.offer(meaning.text));
  }
  if (step == Step::Hold && is_last) step = act(joiner_.finish());
  return bounded(step);
}

// An attempt that is undecided for so long can't be told from a different answer.
Continuation::Step Continuation::bounded(Step step) {
  if (step != Step::Hold || waiting_bytes_ + held_bytes_ <= kMaxHeldBytes) return step;
  refusal_ = seam::Refusal::Different;
  return Step::Refuse;
}

std::vector<dialect::OwnEvent> Continuation::take_ready() { return std::exchange(ready_, {}); }

Continuation::Step Continuation::act(const seam::Joiner::Decision& decision) {
  switch (decision.step) {
    case seam::Joiner::Step::Hold:
      return Step::Hold;
    case seam::Joiner::Step::Drop:
      splice_held(held_bytes_);
      return Step::Hold;
    case seam::Joiner::Step::Join:
      joined_ = true;
      splice_held(decision.trim_bytes);
      return Step::Deliver;
    case seam::Joiner::Step::Refuse:
      refusal_ = decision.why;
      return Step::Refuse;
  }
  return Step::Refuse;
}

void Continuation::splice_held(std::size_t trim_bytes) {
  for (Held& one : std::exchange(held_, {})) {
    sse::Event event;
    event.name = one.event.name;
    event.data = one.event.data;
    one.meaning.text = one.text;
    one.meaning.reasoning = {};  // of the event as it was
    one.meaning.error = {};
    const std::size_t trim = std::min(trim_bytes, one.text.size());
    trim_bytes -= trim;
    trimmed_ += code_points(std::string_view(one.text).substr(0, trim));
    splice(event, one.meaning, trim);
  }
  held_bytes_ = 0;
}

void Continuation::splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes) {
  splicer_.splice(event, meaning, trim_bytes, ready_);
}

}  // namespace tidemark::session
