// What the upstream's events mean for the stream: hold, commit, hand on, repeat (contract § 4).
#include <string>

#include "core/dialect/challenge.hpp"
#include "core/session/relay.hpp"
#include "core/session/upstream_error.hpp"

namespace tidemark::session {

using dialect::Dialect;
using dialect::Finish;
using dialect::Kind;

namespace {

// An answer although it has no content: asking again would bring the same.
constexpr bool is_answer_at_once(Finish finish) {
  return finish == Finish::Length || finish == Finish::ContentFilter || finish == Finish::Refusal ||
         finish == Finish::Other;
}

}  // namespace

// `known`: the interpreter has recognised the event before it was parsed.
void Relay::take_event(TimeMs now, const sse::Event& event, const dialect::FrameGuess::Match* known) {
  if (!interpreter_) {
    if (state_ == RelayState::Holding && dialect::challenge_in(event.data)) return challenged();
    options_.dialect = dialect::from_first_event(event);
    dialect_guessed_ = true;
    interpreter_.emplace(*options_.dialect);
  }
  // SDKs fail on it.
  if (event.data.empty() && dialect() != Dialect::Opaque) return;
  if (!fits(event.block.size())) {
    return end_by_order(Cut::LogLimit,
                        own_error(503, "upstream_unavailable", "log_limit", "the answer is too long", 1));
  }
  if (form_ == seam::Form::Reattach) {
    const Reattached found = reattached(event);
    if (found == Reattached::Old) return;
    if (found == Reattached::Foreign) {
      leave_attempt(retry::Outcome::Neutral);
      return try_next_form(now, "another-answer");
    }
  }
  if (joining_ || continuation_) return take_continued(now, event);
  const dialect::Meaning meaning = known != nullptr ? interpreter_->interpret(*known) : interpreter_->interpret(event);
  if (state_ == RelayState::Flowing) return take_while_flowing(now, event, meaning);
  if (state_ == RelayState::Draining) return take_while_draining(event, meaning);
  take_while_holding(now, event, meaning);
}

// ---- Before content

void Relay::take_while_holding(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning) {
  if (meaning.kind == Kind::Challenge || matches_pattern(event.data)) return challenged();
  if (meaning.kind == Kind::Silence) return take_silence(event);
  deadlines_.clear(Deadline::FirstByte);
  beat(now);
  if (dialect::is_content(meaning.kind) || has_content() || is_answer_at_once(meaning.finish)) {
    if (!start_answer(now)) return;
    return take_while_flowing(now, event, meaning);
  }
  if (meaning.kind == Kind::Error) return take_error_without_content(now, event, meaning);
  if (meaning.terminal || meaning.finish != Finish::None) return take_finish_without_content(now, event, meaning);
  take_progress(now, event, meaning);
}

// Never life, never a reason to commit. What doesn't fit beside the progress that is held is left out.
void Relay::take_silence(const sse::Event& event) {
  if (committed() && held_.empty()) {
    append(event, Kind::Silence);
    preamble_.delivered(event);
  } else if (held_bytes_.size() + event.block.size() <= kMaxHeldBytes / 2) {
    hold(event, Kind::Silence);
  }
}

void Relay::take_progress(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning) {
  if (preamble_.active() && preamble_.repeats(event)) return;
  const bool shapes = !all_goes_ && !shaping_ && Preamble::shapes_answer(event);
  if (committed() && held_.empty() && !shapes) {
    append(event, meaning.kind);
    return preamble_.delivered(event);
  }
  if (shapes) shaping_ = held_.size();
  hold(event, meaning.kind);
  ++held_progress_;
  if (!committed() && !deadlines_.is_set(Deadline::CommitHold)) {
    deadlines_.set(Deadline::CommitHold, now + options_.commit_hold_ms);
  }
  if (too_much_held()) {
    const bool joins = !preamble_.active() || preamble_.joins();
    if (undecided_ || !joins) {
      start_answer(now);
    } else {
      let_all_go();
    }
  } else if (options_.commit_hold_ms == 0) {
    commit_without_content(CommitCause::Progress);
  }
}

void Relay::take_finish_without_content(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning) {
  if (!undecided_) undecided_ = held_.size();
  hold(event, meaning.kind);
  if (!meaning.terminal || repeat(now, Loss::Empty)) return;
  // A marker alone ends nothing: the provider has not said that this is its answer.
  if (interpreter_->answer().finish == Finish::None) return fail(Loss::Empty, kNoAnswer);
  hand_on_empty_answer();
  take_last_word(now, {EndState::Complete, EndReason::TerminalMarker}, nothing_follows(event, meaning));
}

void Relay::take_error_without_content(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning) {
  if (repeat_after_error(now, meaning.error)) return;
  if (!committed()) return fail_with(meaning.error);
  note(Loss::ErrorEvent);
  drop_held();
  end_with_error(event, meaning);
}

// ---- Content, and after it

// False where the answer can't be joined on to the preamble that the client has; the stream is over then.
bool Relay::start_answer(TimeMs now) {
  if (preamble_.active() && !preamble_.joins()) {
    refuse_to_join();
    return false;
  }
  if (!committed()) commit(attempt_, CommitCause::Content);
  flush(held_.size());
  drop_held();
  if (form_) {
    note_join();
  } else {
    report(retry::Outcome::Answer);
    move(RelaySignal::Content);
  }
  beat(now);
  return true;
}

void Relay::refuse_to_join() {
  leave_attempt(retry::Outcome::Answer);
  give_up(own_error(502, "upstream_error", "upstream_error", "the repeated answer begins differently", 1),
          {EndState::Failed, EndReason::UpstreamError});
}

// It's the provider's answer.
void Relay::hand_on_empty_answer() {
  if (!committed()) commit(attempt_, CommitCause::Content);
  flush(held_.size());
  drop_held();
  report(retry::Outcome::Answer);
}

void Relay::take_while_flowing(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning) {
  if (meaning.kind == Kind::Silence) return append(event, Kind::Silence);
  if (meaning.kind == Kind::Challenge) return challenged();
  if (meaning.kind == Kind::Error) return take_error_after_content(now, event, meaning);
  beat(now);
  append(event, meaning.kind);
  remember_text(meaning);
  if (meaning.terminal) {
    take_last_word(now, {EndState::Complete, EndReason::TerminalMarker}, nothing_follows(event, meaning));
  }
}

// What may pass by its own account is a cut like another.
void Relay::take_error_after_content(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning) {
  if (is_final(meaning.error) || !continue_answer(now, Cut::ErrorEvent)) return end_with_error(event, meaning);
  said_at_cut_ = in_upstreams_words(meaning.error);
}

// The stream's last word. A shape that the dialect's SDKs don't take for an error would be a silent end: theirs goes
// out in its place (contract § 4.2).
void Relay::end_with_error(const sse::Event& event, const dialect::Meaning& meaning) {
  leave_attempt(retry::Outcome::Neutral);
  if (dialect::is_error_event(dialect(), answer_so_far(), event)) {
    append(event, Kind::Error);
  } else {
    if (!meaning.text.empty() || !meaning.reasoning.empty()) append(event, Kind::Text);
    error_ = in_upstreams_words(meaning.error);
    append_error();
  }
  finish({EndState::Failed, EndReason::UpstreamError});
}

void Relay::take_while_draining(const sse::Event& event, const dialect::Meaning& meaning) {
  append(event, meaning.kind);
  if (nothing_follows(event, meaning)) finish(plan_);
}

// The upstream has said all that it has to say; what it may still add is waited for until EOF, or a little while.
void Relay::take_last_word(TimeMs now, Plan plan, bool nothing_follows) {
  plan_ = plan;
  move(RelaySignal::LastWord);
  deadlines_.clear_all();
  if (nothing_follows) return finish(plan);
  deadlines_.set(Deadline::Drain, now + kDrainMs);
}

bool Relay::nothing_follows(const sse::Event& event, const dialect::Meaning& meaning) const {
  return meaning.terminal && (event.data == "[DONE]" || dialect() == Dialect::AnthropicMessages);
}

void Relay::beat(TimeMs now) {
  if (options_.idle_timeout_ms > 0) deadlines_.set(Deadline::Idle, now + options_.idle_timeout_ms);
}

bool Relay::has_content() const {
  const dialect::Answer& answer = interpreter_->answer();
  return answer.text || answer.reasoning || answer.refusal || answer.tool_open || answer.tool_finished;
}

void Relay::remember_text(const dialect::Meaning& meaning) {
  if (dialect() == Dialect::OpenaiResponses || !options_.continuation.empty()) text_.append(meaning.text);
  if (!meaning.text.empty()) ++text_events_;
  if (dialect::is_content(meaning.kind)) last_content_ = meaning.kind;
  const dialect::Answer& answer = interpreter_->answer();
  if (!answer.text && !answer.refusal && !answer.tool_open && !answer.tool_finished) {
    reasoning_.append(meaning.reasoning);
  } else if (!reasoning_.empty()) {
    std::string().swap(reasoning_);
  }
}

}  // namespace tidemark::session
