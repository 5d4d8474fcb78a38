// The upstream leg's state machine: its inputs and its clock.
#include "core/session/relay.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/dialect/challenge.hpp"
#include "core/retry/retry_after.hpp"
#include "core/session/media_type.hpp"

namespace tidemark::session {

Relay::Relay(RelayOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      parser_({.max_line_bytes = options_.max_event_bytes, .max_event_bytes = options_.max_event_bytes}) {}

// ---- Inputs

void Relay::start(TimeMs now) {
  begin();
  if (state_ != RelayState::Idle) return;
  TimeMs hold_ms = options_.hold_max_ms;
  if (options_.client_timeout_ms > 0) {
    client_deadline_ = now + options_.client_timeout_ms;
    hold_ms = std::min(hold_ms, options_.client_timeout_ms * 4 / 5);
  }
  if (options_.expects_stream) deadlines_.set(Deadline::HoldMax, now + hold_ms);
  send_attempt(now);
}

void Relay::taken_over() {
  begin();
  if (!held_.empty()) let_all_go();
}

void Relay::set_dialect(std::optional<dialect::Dialect> spoken) {
  if (delivered_ || form_) {
    foreign_ = spoken && spoken != options_.dialect;
    return;
  }
  options_.dialect = spoken;
  dialect_guessed_ = false;
  interpreter_.reset();
  if (spoken) interpreter_.emplace(*spoken);
}

void Relay::handle_head(TimeMs now, unsigned attempt, const UpstreamHead& head) {
  begin();
  if (!running(attempt) || state_ != RelayState::Asking) return;
  status_ = head.status;
  content_type_ = head.content_type;
  coding_ = head.coding;
  challenge_header_ = head.challenge_header;
  own_key_ = head.own_key;
  another_key_ = head.another_key;
  retry_after_ = retry::parse_retry_after(head.retry_after, head.retry_after_ms, head.unix_now_ms);
  const bool success = status_ >= 200 && status_ < 300;
  stream_head_ = success && !challenge_header_ && media_type(content_type_) == MediaType::EventStream;
  if (!options_.expects_stream && !committed()) deadlines_.set(Deadline::HoldMax, now + options_.hold_max_ms);
  if (!stream_head_) return take_other_head(now);
  if (foreign_) return refuse_to_join();
  if (!options_.expects_stream) await_first_event(now);
  move(RelaySignal::Stream);
  beat(now);
}

void Relay::handle_bytes(TimeMs now, unsigned attempt, std::string_view chunk, std::string_view readable) {
  begin();
  if (!running(attempt) || chunk.empty()) return;
  switch (state_) {
    case RelayState::Peeking:
      return peek(now, chunk, readable);
    case RelayState::Holding:
    case RelayState::Flowing:
    case RelayState::Draining:
      return parse(now, chunk);
    case RelayState::Idle:
    case RelayState::Asking:
    case RelayState::Waiting:
    case RelayState::Passing:
    case RelayState::Over:
      return;
  }
}

void Relay::handle_eof(TimeMs now, unsigned attempt) {
  begin();
  if (!running(attempt)) return;
  attempt_running_ = false;
  if (state_ == RelayState::Asking) {
    constexpr std::string_view kMessage = "the connection was closed before a response came";
    if (!repeat(now, Loss::Unreachable)) fail(Loss::Unreachable, kMessage);
  } else if (state_ == RelayState::Peeking) {
    judge_body(now, true);
  } else {
    end_of_events(now, Cut::EndOfBody, {});
  }
}

void Relay::handle_failure(TimeMs now, unsigned attempt, AttemptFailure failure, std::string_view message) {
  begin();
  if (!running(attempt)) return;
  attempt_running_ = false;
  unsent_ = failure == AttemptFailure::Unreachable;
  if (state_ == RelayState::Asking) {
    if (repeat(now, Loss::Unreachable)) return;
    fail(Loss::Unreachable, message);
  } else if (state_ == RelayState::Peeking) {
    lose_body(now, message);
  } else {
    end_of_events(now, Cut::Broken, message);
  }
}

void Relay::handle_paused(TimeMs /*now*/, unsigned attempt, TimeMs retry_in_ms) {
  begin();
  if (!running(attempt) || state_ != RelayState::Asking) return;
  attempt_running_ = false;
  outcome_given_ = true;  // the breaker knows of no such attempt
  const TimeMs seconds = std::clamp<TimeMs>((retry_in_ms + 999) / 1000, 1, 59);
  give_up(own_error(503, "upstream_unavailable", "upstream_paused", "the upstream is paused after refusing requests",
                    static_cast<int>(seconds)),
          {EndState::Failed, EndReason::UpstreamChallenge});
}

void Relay::handle_form_refused(TimeMs now, unsigned attempt, std::string_view why) {
  begin();
  if (!running(attempt) || state_ != RelayState::Asking || !form_) return;
  report(retry::Outcome::Neutral);
  attempt_running_ = false;
  --attempt_;
  try_next_form(now, why);
}

void Relay::handle_timeout(TimeMs now) {
  begin();
  while (const auto deadline = deadlines_.pop_due(now)) due(now, *deadline);
}

void Relay::stop(TimeMs /*now*/) {
  begin();
  if (over()) return;
  if (state_ == RelayState::Draining) return finish(plan_);
  leave_attempt(retry::Outcome::Neutral);
  drop_held();
  if (!committed()) commit(0, CommitCause::Stop);
  finish({EndState::Stopped, EndReason::ClientStop});
}

void Relay::abandon(TimeMs /*now*/) {
  begin();
  end_by_order(Cut::ClientGone, own_error(499, "client_error", "client_gone", "the client has gone", 0));
}

void Relay::shutdown(TimeMs /*now*/) {
  begin();
  end_by_order(Cut::Shutdown, own_error(503, "upstream_unavailable", "shutdown", "the proxy is shutting down", 1));
}

void Relay::log_refused(TimeMs /*now*/, seam::Seq seq) {
  const bool just_ended = std::any_of(actions_.begin(), actions_.end(),
                                      [](const RelayAction& action) { return action.kind == RelayAction::Kind::End; });
  begin();
  next_seq_ = seq;
  if (just_ended) return finish({EndState::Truncated, EndReason::LogLimit});
  end_by_order(Cut::LogLimit, own_error(503, "upstream_unavailable", "log_limit", "the answer is too long", 1));
}

// ---- Outputs

std::string_view Relay::bytes(const RelayAction& action) const {
  return std::string_view(arena_).substr(action.at, action.size);
}

dialect::Dialect Relay::dialect() const { return options_.dialect.value_or(dialect::Dialect::Opaque); }

void Relay::lend_buffers(Buffers buffers) {
  actions_ = std::move(buffers.actions);
  arena_ = std::move(buffers.arena);
}

Relay::Buffers Relay::take_buffers() { return {std::exchange(actions_, {}), std::exchange(arena_, {})}; }

// ---- The attempt and its body

void Relay::begin() {
  actions_.clear();
  arena_.clear();
}

void Relay::move(RelaySignal signal) {
  const auto next = next_state(state_, signal);
  assert(next);
  if (next) state_ = *next;
}

RelayAction& Relay::push(RelayAction::Kind kind) {
  RelayAction& action = actions_.emplace_back();
  action.kind = kind;
  action.attempt = attempt_;
  return action;
}

void Relay::send_attempt(TimeMs now) {
  move(RelaySignal::Send);
  ++attempt_;
  attempt_running_ = true;
  unsent_ = false;
  outcome_given_ = stream_head_ = challenge_header_ = foreign_ = first_byte_seen_ = all_goes_ = false;
  retry_told_.reset();
  retry_pending_.reset();
  status_ = 0;
  retry_after_.reset();
  content_type_.clear();
  coding_ = BodyCoding::None;
  peeked_.clear();
  readable_.clear();
  next_look_ = 0;
  parser_.reset();
  joining_.reset();
  push(RelayAction::Kind::SendAttempt).form = form_;
  if (!form_) {
    interpreter_.reset();
    // A failed attempt's error may look like another dialect's: what the client has not seen decides nothing.
    if (dialect_guessed_ && !delivered_) options_.dialect.reset();
    if (options_.dialect) interpreter_.emplace(*options_.dialect);
    if (attempt_ > 1) preamble_.next_attempt();
  }
  if (options_.expects_stream) await_first_event(now);
}

void Relay::await_first_event(TimeMs now) {
  if (options_.first_byte_timeout_ms > 0) deadlines_.set(Deadline::FirstByte, now + options_.first_byte_timeout_ms);
}

void Relay::parse(TimeMs now, std::string_view chunk) {
  if (!first_byte_seen_) {
    const std::size_t first = chunk.find_first_not_of(" \t\r\n");
    first_byte_seen_ = first != std::string_view::npos;
    // No field of an event stream begins so: a JSON or HTML body, or a challenge's bare words, under a false name.
    if (first_byte_seen_ && is_no_event_stream(chunk.substr(first))) {
      move(RelaySignal::OtherBody);
      return peek(now, chunk, {});
    }
  }
  const unsigned attempt = attempt_;
  parser_.feed(chunk);
  sse::Event event;
  dialect::FrameGuess::Match match;
  while (running(attempt)) {
    // Most events of an answer under way are the one before with another text: they need not be parsed.
    const bool joined_on = joining_ || continuation_;
    if (state_ == RelayState::Flowing && !joined_on && interpreter_->recognise(parser_.ahead(), event, match) &&
        parser_.take_ahead(event)) {
      take_event(now, event, &match);
      continue;
    }
    switch (parser_.next(event)) {
      case sse::Step::Event:
        note_retry_line(true);
        take_event(now, event);
        break;
      case sse::Step::Comment:
        note_retry_line(false);
        break;
      case sse::Step::NeedMore:
        return;
      case sse::Step::Failed:
        return end_of_events(now, Cut::TooLarge, sse::describe(parser_.error()));
    }
  }
}

// An upstream may leave out the last blank line. A block that is cut inside is told by its data: it's no whole JSON.
void Relay::take_tail(TimeMs now) {
  const bool opaque = options_.dialect == dialect::Dialect::Opaque;
  sse::Event event;
  if (parser_.end(opaque ? sse::Parser::Tail::Discard : sse::Parser::Tail::Dispatch, event) != sse::Step::Event) return;
  if (state_ == RelayState::Holding && dialect::challenge_in(event.data)) return challenged();
  if (state_ == RelayState::Holding && dialect::is_cut_challenge_body({}, event.data, dialect::BodyEnd::Lost)) {
    return challenged();
  }
  dialect::Interpreter probe = interpreter_ ? *interpreter_ : dialect::Interpreter(dialect::from_first_event(event));
  if (probe.interpret(event).kind != dialect::Kind::Malformed) take_event(now, event);
}

// The event stream is over, in one way or another; the attempt may still have to be cut.
void Relay::end_of_events(TimeMs now, Cut cut, std::string_view message) {
  const unsigned attempt = attempt_;
  if (cut == Cut::EndOfBody || cut == Cut::Broken) take_tail(now);
  if (attempt != attempt_ || state_ == RelayState::Waiting || over()) return;
  if (state_ == RelayState::Draining) {
    leave_attempt(retry::Outcome::Neutral);
    return finish(plan_);
  }
  if (state_ == RelayState::Flowing) {
    if (!continue_answer(now, cut)) cut_answer(cut);
    return;
  }

  // Holding.
  const bool opaque = dialect() == dialect::Dialect::Opaque;
  const bool finished = form_    ? false
                        : opaque ? !options_.expects_stream
                                 : interpreter_ && interpreter_->at_eof() == dialect::EofVerdict::Complete;
  if (finished && (cut == Cut::EndOfBody || !opaque)) {
    if (repeat(now, Loss::Empty)) return;
    leave_attempt(retry::Outcome::Answer);
    hand_on_empty_answer();
    return finish({EndState::Complete, EndReason::EndOfBody});
  }
  const Loss loss = cut == Cut::Silent ? Loss::Silent : Loss::Empty;
  if (!repeat(now, loss)) fail(loss, message.empty() ? kNoAnswer : message);
}

// ---- The clock

void Relay::due(TimeMs now, Deadline deadline) {
  switch (deadline) {
    case Deadline::CommitHold:
      return commit_without_content(CommitCause::Progress);
    case Deadline::HoldMax:
      hold_over_ = true;
      if (state_ == RelayState::Peeking) return judge_body(now, false);
      return commit_without_content(CommitCause::HoldMax);
    case Deadline::FirstByte:
      if (state_ == RelayState::Peeking) return judge_silence(now);
      if (!repeat(now, Loss::Silent)) fail(Loss::Silent, kSilent);
      return;
    case Deadline::Idle:
      if (state_ == RelayState::Peeking) return judge_silence(now);
      return end_of_events(now, Cut::Silent, kSilent);
    case Deadline::Drain:
      leave_attempt(retry::Outcome::Neutral);
      return finish(plan_);
    case Deadline::Retry:
      return send_attempt(now);
    case Deadline::Count:
      return;
  }
}

// Somebody else than the upstream ends the stream.
void Relay::end_by_order(Cut cut, const RelayError& error) {
  if (over()) return;
  if (state_ == RelayState::Draining) {
    leave_attempt(retry::Outcome::Neutral);
    return finish(plan_);
  }
  if (state_ == RelayState::Flowing) return cut_answer(cut);
  leave_attempt(retry::Outcome::Neutral);
  give_up(error, {EndState::Truncated, reason_for(cut)});
}

}  // namespace tidemark::session
