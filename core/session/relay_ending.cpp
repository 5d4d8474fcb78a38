// Attempts that fail and are repeated, answers that break off, and the end (contract § 4.2, § 4.5, § 3.3).
#include <algorithm>
#include <string>

#include "core/session/relay.hpp"
#include "core/session/upstream_error.hpp"

namespace tidemark::session {

using dialect::Dialect;
using dialect::EofVerdict;
using dialect::FinishStyle;

// True: the attempt is given up, and another one goes out, at once or later. False: there is to be no other one, and
// nothing has been done.
bool Relay::repeat(TimeMs now, Loss loss) {
  if (!may_repeat(loss)) return false;
  const bool refused = loss == Loss::Unreachable || loss == Loss::Status;
  unsigned none = 0;  // another key is no further try of the same: there are only so many keys
  unsigned& repeated = loss == Loss::Key ? none : refused ? failures_ : empties_;
  const unsigned allowed = loss == Loss::Key       ? 1
                           : !refused              ? options_.stream_empty_retry_max
                           : options_.attempts > 0 ? options_.attempts - 1
                                                   : 0;
  if (repeated >= allowed) return false;

  // An empty or silent attempt has taken its time already, and its upstream has asked for no patience.
  TimeMs delay = 0;
  if (refused || loss == Loss::ErrorEvent) {
    delay = retry::backoff_delay(options_.backoff, repeated, random_.unit());
  }
  if (loss == Loss::Status && retry_after_) {
    if (*retry_after_ > kMaxRetryAfterMs) return false;
    delay = std::max(delay, *retry_after_);
  }
  if (!committed() && client_deadline_ != kNever && now + delay >= client_deadline_) return false;

  ++repeated;
  note(loss);
  if (form_) note_seam(name(loss));
  if (committed() && !form_ && !delivered_ && interpreter_ && interpreter_->answer().progress) {
    delivered_ = interpreter_->answer();
  }
  leave_attempt(retry::Outcome::Neutral);
  drop_held();
  for (const Deadline of_attempt : {Deadline::CommitHold, Deadline::FirstByte, Deadline::Idle}) {
    deadlines_.clear(of_attempt);
  }
  move(RelaySignal::Lose);
  if (hold_over_ && !committed()) commit(0, CommitCause::HoldMax);
  if (delay == 0) {
    send_attempt(now);
  } else {
    deadlines_.set(Deadline::Retry, now + delay);
  }
  return true;
}

// A plain request may have done its work although no answer came; one for a stream of a model asks for words.
bool Relay::may_repeat(Loss loss) const {
  if (options_.expects_stream || loss == Loss::Key || unsent_) return true;
  return stream_head_ && (options_.repeatable || dialect() != Dialect::Opaque);
}

void Relay::note(Loss loss) {
  if (lost_.empty() || lost_.back().attempt != attempt_) lost_.push_back({attempt_, loss, status_});
}

// The last attempt has failed too.
void Relay::fail(Loss loss, std::string_view message) {
  note(loss);
  RelayError error;
  EndReason reason = EndReason::UpstreamError;
  switch (loss) {
    case Loss::Unreachable:
    case Loss::Status:
    case Loss::Key:
    case Loss::Challenge:
    case Loss::Cut:
      error = own_error(502, "upstream_error", "upstream_unreachable", message, 1);
      break;
    case Loss::Empty:
      error = own_error(502, "upstream_error", "upstream_empty", message, 1);
      reason = EndReason::UpstreamEmpty;
      break;
    case Loss::ErrorEvent:
      error = own_error(502, "upstream_error", "upstream_empty", message, 1);
      break;
    case Loss::Silent:
      error = own_error(504, "upstream_error", "upstream_timeout", message, 1);
      reason = EndReason::UpstreamTimeout;
      break;
  }
  leave_attempt(retry::Outcome::Neutral);
  give_up(error, {EndState::Failed, reason});
}

// As repeat(), but what is final by its own account is not repeated.
bool Relay::repeat_after_error(TimeMs now, const dialect::ErrorInfo& info) {
  return !is_final(info) && repeat(now, Loss::ErrorEvent);
}

// The upstream has told an error instead of an answer, and there is no other attempt.
void Relay::fail_with(const dialect::ErrorInfo& info) {
  const RelayError error = in_upstreams_words(info);
  if (!is_final(info)) return fail(Loss::ErrorEvent, error.message);
  note(Loss::ErrorEvent);
  leave_attempt(retry::Outcome::Neutral);
  give_up(error, {EndState::Failed, EndReason::UpstreamError});
}

void Relay::challenged() {
  note(Loss::Challenge);
  leave_attempt(retry::Outcome::Challenge);
  give_up(own_error(503, "upstream_unavailable", "upstream_challenge",
                    "the upstream answered with a verification challenge instead of an answer", 30),
          {EndState::Failed, EndReason::UpstreamChallenge});
}

// Before the commit a status tells it, after it an error event.
void Relay::give_up(const RelayError& error, Plan plan) {
  if (form_) return end_as_cut(plan);
  error_ = error;
  drop_held();
  if (!committed()) {
    move(RelaySignal::Finish);
    deadlines_.clear_all();
    push(RelayAction::Kind::Refuse);
    return;
  }
  append_error();
  finish(plan);
}

void Relay::append_error() {
  dialect::Answer answer = answer_so_far();
  if (last_content_ == dialect::Kind::Silence) {
    // What the attempt has said and the client has not seen took numbers too.
    preamble_.restart_numbers();
    answer.sequence = preamble_.last_sequence();
  }
  append_own(dialect::error_event(dialect(), answer, error_.facts()), dialect::Kind::Error);
}

// The answer breaks off after content, and is not continued (rule 5).
void Relay::cut_answer(Cut cut) {
  leave_attempt(retry::Outcome::Answer);
  const bool by_upstream = cut == Cut::EndOfBody || cut == Cut::Broken || cut == Cut::Silent || cut == Cut::TooLarge;
  if (by_upstream) note(Loss::Cut);
  if (dialect() == Dialect::Opaque && cut == Cut::EndOfBody) {
    return finish({EndState::Complete, EndReason::EndOfBody});
  }
  end_truncated(reason_for(cut), by_upstream);
}

void Relay::end_truncated(EndReason own_reason, bool by_upstream) {
  if (dialect() == Dialect::Opaque) return finish({EndState::Truncated, own_reason});

  dialect::Answer answer = interpreter_->answer();
  EndReason reason = options_.truncated_finish == FinishStyle::Error ? own_reason : EndReason::SynthesizedStop;
  switch (interpreter_->at_eof()) {
    case EofVerdict::Complete:
      return finish({EndState::Complete, answer.terminal ? EndReason::TerminalMarker : EndReason::EndOfBody});
    case EofVerdict::OpenToolCall:
      return give_up(
          own_error(502, "upstream_error", "open_tool_call", "the answer broke off in the middle of a tool call", 1),
          by_upstream ? Plan{EndState::Failed, EndReason::OpenToolCall} : Plan{EndState::Truncated, own_reason});
    case EofVerdict::ReasoningOnly:
      append_endings(dialect::promote_reasoning(dialect(), answer, reasoning_));
      text_ = std::move(reasoning_);
      reason = EndReason::PromotedReasoning;
      break;
    case EofVerdict::Truncated:
    case EofVerdict::Empty:
      break;
  }
  append_endings(dialect::ending(dialect(), answer, options_.truncated_finish, text_));
  finish({EndState::Truncated, by_upstream ? reason : own_reason});
}

void Relay::append_endings(const std::vector<dialect::OwnEvent>& events) {
  for (const dialect::OwnEvent& event : events) append_own(event, dialect::Kind::Progress);
}

void Relay::finish(Plan plan) {
  report(retry::Outcome::Neutral);
  move(RelaySignal::Finish);
  attempt_running_ = false;
  deadlines_.clear_all();
  RelayAction& action = push(RelayAction::Kind::End);
  action.state = plan.state;
  action.reason = plan.reason;
}

void Relay::leave_attempt(retry::Outcome outcome) {
  report(outcome);
  if (attempt_running_) push(RelayAction::Kind::CutAttempt);
  attempt_running_ = false;
}

void Relay::report(retry::Outcome outcome) {
  if (outcome_given_) return;
  outcome_given_ = true;
  push(RelayAction::Kind::Outcome).outcome = outcome;
}

dialect::Answer Relay::answer_so_far() const {
  if (interpreter_ && interpreter_->answer().progress) return interpreter_->answer();
  return delivered_.value_or(dialect::Answer{});
}

// Contract § 4.2: Anthropic's clients know other words, and another status for an upstream that can't answer now.
RelayError Relay::own_error(int status, std::string_view type, std::string_view code, std::string_view message,
                            int retry_after_s) const {
  RelayError error{status, std::string(type), std::string(code), std::string(message), std::nullopt};
  if (retry_after_s > 0) error.retry_after_s = retry_after_s;
  if (options_.dialect == Dialect::AnthropicMessages) {
    error.type = status == 503 ? "overloaded_error" : status == 504 ? "timeout_error" : "api_error";
    if (status == 503) error.status = 529;
  }
  return error;
}

// The upstream's error, with the status that it would have had.
RelayError Relay::in_upstreams_words(const dialect::ErrorInfo& info) const {
  const std::string_view message = info.message.empty() ? "the upstream reported an error" : info.message;
  RelayError error = own_error(status_for(info), "upstream_error", "upstream_error", message, 0);
  if (!info.type.empty() && info.type != "error") error.type = info.type;  // the flat form's says no more
  if (!info.code.empty()) error.code = info.code;
  return error;
}

EndReason Relay::reason_for(Cut cut) {
  switch (cut) {
    case Cut::EndOfBody:
    case Cut::Broken:
    case Cut::TooLarge:
    case Cut::ErrorEvent:
      return EndReason::UpstreamError;
    case Cut::Silent:
      return EndReason::UpstreamTimeout;
    case Cut::Shutdown:
      return EndReason::Shutdown;
    case Cut::LogLimit:
      return EndReason::LogLimit;
    case Cut::ClientGone:
      return EndReason::ClientStop;
  }
  return EndReason::UpstreamError;
}

}  // namespace tidemark::session
