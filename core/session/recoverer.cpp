// The client leg's state machine: its inputs, its legs, and its ends.
#include "core/session/recoverer.hpp"

#include <algorithm>
#include <utility>

#include "core/session/media_type.hpp"

namespace tidemark::session {
namespace {

bool is_success(int status) { return status >= 200 && status < 300; }

bool is_retryable(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504 || status == 529;
}

std::string_view message_for(LossCause cause) {
  switch (cause) {
    case LossCause::Network:
      return "the connection failed";
    case LossCause::Status:
      return "the server answered";
    case LossCause::Heartbeat:
      return "nothing came from the server for too long";
    case LossCause::EndOfStream:
      return "the stream ended before the answer was complete";
    case LossCause::Hole:
      return "events of the stream are missing";
    case LossCause::NotEventStream:
      return "the answer is no event stream";
  }
  return "the stream was lost";
}

}  // namespace

Recoverer::Recoverer(const RecovererOptions& options, RecovererSink& sink)
    : options_(options),
      sink_(sink),
      random_(options.seed),
      heartbeat_(options.heartbeat_timeout_ms),
      mode_(options.resume) {}

// ---- Inputs

void Recoverer::start(TimeMs now) {
  if (attempt_ > 0 || state_ == RecovererState::Finalized) return;
  sink_.state(state_);
  connect(now);
}

void Recoverer::handle_response(TimeMs now, unsigned attempt, const ResponseFacts& facts) {
  if (!concerns(attempt) || leg_ != Leg::Connecting) return;
  status_ = facts.status;
  const bool event_stream = media_type(facts.content_type) == MediaType::EventStream;
  if (!is_success(status_) || !event_stream) {
    const auto retry_after = facts.retry_after_ms;
    if (is_success(status_) && attempt_ > 1) return lose(now, LossCause::NotEventStream, {});
    if (is_retryable(status_) && !facts.should_not_retry) return lose(now, LossCause::Status, {}, retry_after);
    // The response itself is the answer: its body is left to the owner.
    leg_is_gone();
    const LossCause cause = is_success(status_) ? LossCause::NotEventStream : LossCause::Status;
    return fail({.code = code(cause), .message = message_for(cause), .status = status_, .retry_after_ms = retry_after});
  }

  if (!facts.tidemark_stream.empty()) {
    named_stream_ = true;
    if (mode_ == ResumeMode::Auto) mode_ = ResumeMode::Tidemark;
  }
  // Another one than before: the stream is another replica's now, which has what was delivered, or it had said 409.
  if (!facts.tidemark_epoch.empty()) epoch_ = facts.tidemark_epoch;
  leg_ = Leg::Open;
  watch_leg(now);
  move(RecovererSignal::Opened);
}

void Recoverer::handle_bytes(TimeMs now, unsigned attempt, std::string_view chunk) {
  if (!concerns(attempt) || leg_ != Leg::Open) return;
  heartbeat_.beat(now);
  parser_.feed(chunk);
  sse::Event event;
  while (concerns(attempt)) {
    dialect::FrameGuess::Match match;
    if (interpreter_ && interpreter_->recognise(parser_.ahead(), event, match) && parser_.take_ahead(event)) {
      take_event(now, event, &match);
      continue;
    }
    switch (parser_.next(event)) {
      case sse::Step::Event:
        take_event(now, event, nullptr);
        break;
      case sse::Step::Comment:
        take_comment(event.block);
        break;
      case sse::Step::NeedMore:
        return;
      case sse::Step::Failed:
        drop_leg();
        if (!finish_after_answer(false)) {
          fail({.code = "event_too_large", .message = sse::describe(parser_.error()), .status = status_});
        }
        return;
    }
  }
}

void Recoverer::handle_end(TimeMs now, unsigned attempt) {
  if (!concerns(attempt)) return;
  if (leg_ == Leg::Open) take_unfinished_event(now);
  if (!concerns(attempt)) return;
  leg_is_gone();
  if (!finish_after_answer(true)) lose(now, LossCause::EndOfStream, {});
}

void Recoverer::handle_failure(TimeMs now, unsigned attempt, std::string_view message) {
  if (!concerns(attempt)) return;
  leg_is_gone();
  if (!finish_after_answer(false)) lose(now, LossCause::Network, message);
}

void Recoverer::handle_timeout(TimeMs now) {
  while (const auto due = deadlines_.pop_due(now)) {
    switch (*due) {
      case Deadline::Retry:
        connect(now);
        break;
      case Deadline::EndGrace:
        drop_leg();
        if (!finish_after_answer(true)) fail_by_event();
        break;
      case Deadline::Count:
        break;
    }
  }
  if (leg_ == Leg::None || !heartbeat_.expired(now)) return;
  drop_leg();
  if (!finish_after_answer(false)) lose(now, LossCause::Heartbeat, {});
}

void Recoverer::wake(TimeMs now) {
  if (!deadlines_.is_set(Deadline::Retry)) return;
  if (now >= not_before_) {
    deadlines_.clear(Deadline::Retry);
    connect(now);
  } else {
    deadlines_.set(Deadline::Retry, std::min(not_before_, deadlines_.at(Deadline::Retry)));
  }
}

void Recoverer::set_hidden(TimeMs now, bool hidden) {
  if (hidden == hidden_) return;
  hidden_ = hidden;
  if (leg_ == Leg::None) return;
  if (hidden) {
    heartbeat_.pause();
  } else {
    heartbeat_.resume(now);
  }
}

void Recoverer::abort(TimeMs /*now*/) {
  if (state_ == RecovererState::Finalized) return;
  drop_leg();
  held_.clear();
  move(RecovererSignal::Ended);
}

void Recoverer::stop(TimeMs /*now*/) {
  if (state_ == RecovererState::Finalized) return;
  drop_leg();
  finish(RecoveredEnd::Stopped, "client-stop");
}

TimeMs Recoverer::next_deadline() const {
  const TimeMs own = deadlines_.next_deadline();
  return leg_ == Leg::None ? own : std::min(own, heartbeat_.deadline());
}

// ---- Legs

void Recoverer::move(RecovererSignal signal) {
  const auto to = next_state(state_, signal);
  if (!to || *to == state_) return;
  state_ = *to;
  if (state_ == RecovererState::Finalized) deadlines_.clear_all();
  sink_.state(state_);
}

void Recoverer::connect(TimeMs now) {
  ++attempt_;
  leg_ = Leg::Connecting;
  status_ = 0;
  resumes_ = committed_;
  leg_progress_ = replays_ = false;
  duplicates_ = trimmed_ = 0;
  seam_kind_ = SeamKind::Resumed;
  if (resumes_) {
    parser_.reset();
  } else {
    forget_answer();
  }
  skip_ = since_id_;
  watch_leg(now);

  ConnectAction action{.attempt = attempt_};
  if (resumes_) {
    switch (mode_) {
      case ResumeMode::Tidemark:
        action.resume_seq = watermark_.value();
        action.epoch = epoch_;
        break;
      case ResumeMode::Seq:
        action.resume_seq = watermark_.value();
        action.body_fields = true;
        action.received_length = tail_.utf16_length();
        action.tail_fingerprint = tail_.fingerprint();
        break;
      case ResumeMode::LastEventId:
        action.last_event_id = last_id_;
        break;
      case ResumeMode::Tail:
        // Whatever comes is read by itself.
        ends_only_ = ends_only_ || interpreter_->answer().finish != dialect::Finish::None;
        interpreter_.emplace(interpreter_->dialect());
        joins_reasoning_ = text_.empty();
        joiner_.emplace(joins_reasoning_ ? reasoning_ : text_);
        if (watermark_.value() != seam::kNothing) action.resume_seq = watermark_.value();
        action.tail_header = action.body_fields = true;
        action.received_length = tail_.utf16_length();
        action.tail_fingerprint = tail_.fingerprint();
        break;
      case ResumeMode::Auto:
      case ResumeMode::None:
        break;
    }
  }
  sink_.connect(action);
}

// Nothing of it has been delivered: the request is made as if for the first time.
void Recoverer::forget_answer() {
  parser_ = sse::Parser({.max_line_bytes = options_.max_event_bytes, .max_event_bytes = options_.max_event_bytes});
  mode_ = options_.resume;
  interpreter_.reset();
  if (options_.dialect) interpreter_.emplace(*options_.dialect);
  named_stream_ = ids_repeat_ = false;
  held_.clear();
  held_bytes_ = 0;
  watermark_ = seam::Watermark();
  delivered_ = seam::kNothing;
  epoch_.clear();
  first_id_.clear();
  last_id_.clear();
  since_id_ = 0;
  tail_ = {};
  text_.clear();
  reasoning_.clear();
  unjoinable_ = thinks_ = ends_only_ = false;
}

void Recoverer::watch_leg(TimeMs now) {
  heartbeat_.resume(now);
  heartbeat_.start(now);
  if (hidden_) heartbeat_.pause();
}

void Recoverer::drop_leg() {
  if (leg_ == Leg::None) return;
  sink_.disconnect(attempt_);
  leg_is_gone();
}

void Recoverer::leg_is_gone() {
  leg_ = Leg::None;
  if (joiner_) held_.clear();
  joiner_.reset();
  heartbeat_.stop();
  deadlines_.clear(Deadline::EndGrace);
}

// ---- Losing and ending

bool Recoverer::resumable() const {
  switch (mode_) {
    case ResumeMode::Tidemark:
    case ResumeMode::Seq:
      return watermark_.value() != seam::kNothing;
    case ResumeMode::LastEventId:
      return !last_id_.empty() && !ids_repeat_;
    case ResumeMode::Tail:
      return interpreter_ && !unjoinable_ && !thinks_ && !interpreter_->answer().several_choices &&
             interpreter_->at_eof() != dialect::EofVerdict::Complete;
    case ResumeMode::Auto:
    case ResumeMode::None:
      return false;
  }
  return false;
}

void Recoverer::lose(TimeMs now, LossCause cause, std::string_view message, std::optional<TimeMs> retry_after) {
  if (message.empty()) message = message_for(cause);
  const bool nothing_to_resume_by = committed_ && !resumable();
  const bool hopeless = failures_ >= options_.max_retries || retry_after.value_or(0) > options_.max_retry_after_ms;
  if (nothing_to_resume_by || hopeless) {
    // A response that is not retried is the owner's, body and all.
    leg_is_gone();
    if (error_seen_) return fail_by_event();
    const std::string_view final_code = nothing_to_resume_by ? code(LossCause::EndOfStream) : code(cause);
    return fail({.code = final_code, .message = message, .status = status_, .retry_after_ms = retry_after});
  }

  drop_leg();
  const TimeMs delay = std::max(retry_delay(cause), retry_after.value_or(0));
  ++failures_;
  not_before_ = now + retry_after.value_or(0);
  deadlines_.set(Deadline::Retry, now + delay);
  move(RecovererSignal::Lost);
  sink_.retry({.attempt = attempt_ + 1, .delay_ms = delay, .cause = cause});
}

// What broke in the middle is healed at once; what did not answer is given time.
TimeMs Recoverer::retry_delay(LossCause cause) {
  const double unit = random_.unit();
  const bool transport = cause == LossCause::Network || cause == LossCause::EndOfStream;
  if (leg_progress_ || (failures_ == 0 && transport)) {
    return static_cast<TimeMs>(unit * static_cast<double>(options_.first_retry_delay_ms));
  }
  return retry::backoff_delay(options_.backoff, backoffs_++, unit);
}

// The leg is over: does that leave a whole answer? `clean_end`: by EOF.
bool Recoverer::finish_after_answer(bool clean_end) {
  if (error_seen_) {
    if (named_stream_ && resumable()) return false;
    fail_by_event();
    return true;
  }
  if (!interpreter_) return false;
  const dialect::Answer& answer = interpreter_->answer();
  if (answer.terminal) {
    finish(RecoveredEnd::Complete, "terminal-marker");
    return true;
  }
  // A proxy's stream ends with a comment: without it there is more to come.
  if (named_stream_ || interpreter_->at_eof() != dialect::EofVerdict::Complete) return false;
  if (!clean_end && (resumable() || answer.finish == dialect::Finish::None)) return false;
  finish(RecoveredEnd::Complete, "end-of-body");
  return true;
}

void Recoverer::finish(RecoveredEnd end, std::string_view reason) {
  commit();
  move(RecovererSignal::Ended);
  sink_.finished({.end = end, .reason = reason});
}

void Recoverer::fail(FailedAction action) {
  commit();
  action.attempts = attempt_;
  move(RecovererSignal::Ended);
  sink_.failed(action);
}

void Recoverer::fail_by_event() {
  fail({.code = error_code_, .message = error_message_, .status = error_status_, .in_band = true});
}

void Recoverer::fail_mismatch(std::string_view message, std::string_view code) {
  drop_leg();
  fail({.code = code, .message = message, .status = status_});
}

}  // namespace tidemark::session
