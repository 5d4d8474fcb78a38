// Going on with an answer that broke off: in which form the rest is asked for, and how it is joined on (contract § 5).
#include <algorithm>
#include <string>

#include "core/seam/boundary.hpp"
#include "core/session/relay.hpp"
#include "core/sse/encoder.hpp"

namespace tidemark::session {

using dialect::Dialect;
using dialect::Kind;
using seam::Form;

namespace {

// What follows is most likely more of the same sentence.
bool stops_in_sentence(std::string_view text) {
  const seam::Place place = seam::place_of(text);
  return place == seam::Place::Word || place == seam::Place::Sentence || text.ends_with(',');
}

}  // namespace

void Relay::set_continuation(const seam::JoinOptions& options) {
  if (!form_ || form_ == Form::Reattach) return;
  const dialect::Answer known = as_client_knows();
  joining_ = std::make_unique<Continuation>(dialect(), CutAnswer{known, text_, tokens()}, options);
}

std::uint64_t Relay::tokens() const { return text_events_; }

const dialect::Answer& Relay::provider_answer() const {
  return continuation_ ? continuation_->answer() : interpreter_->answer();
}

bool Relay::may_be_continued() const {
  return !options_.continuation.empty() && joins_ < kMaxSeams &&
         (state_ == RelayState::Flowing || state_ == RelayState::Waiting || form_);
}

// False: there is no way to go on, and nothing has been done.
bool Relay::continue_answer(TimeMs now, Cut cut) {
  const bool by_upstream = cut == Cut::EndOfBody || cut == Cut::Broken || cut == Cut::Silent || cut == Cut::ErrorEvent;
  // Asked by its numbers, an answer that has failed would fail again.
  const std::size_t first = cut == Cut::ErrorEvent ? first_model_form() : 0;
  const auto at = usable_form(first);
  fruitless_ = next_seq_ > cut_at_ ? 0 : fruitless_ + 1;
  if (!by_upstream || !at || joins_ >= kMaxSeams || fruitless_ > options_.stream_empty_retry_max) return false;
  cut_at_ = next_seq_;
  cut_ = cut;
  said_at_cut_.reset();
  form_at_ = *at;
  form_ = options_.continuation[*at];
  failures_ = empties_ = 0;
  note(Loss::Cut);
  leave_attempt(retry::Outcome::Answer);
  deadlines_.clear_all();
  move(RelaySignal::Lose);
  send_attempt(now);
  return true;
}

// By its text alone: not inside a tool call or reasoning, not with n > 1, not after a finish reason (contract § 5).
bool Relay::is_continuable() const {
  const dialect::Answer& answer = interpreter_->answer();
  switch (dialect()) {
    case Dialect::OpenaiChat:
    case Dialect::OpenaiResponses:
    case Dialect::AnthropicMessages:
    case Dialect::Gemini:
      break;
    case Dialect::SeqDelta:
    case Dialect::AiSdkUi:
    case Dialect::Opaque:
      return false;
  }
  const bool only_text = !answer.refusal && !answer.tool_open && !answer.tool_finished && !answer.several_choices;
  // Text that was not remembered is content of another kind: an image.
  return only_text && last_content_ == Kind::Text && !text_.empty() && answer.text_bytes == text_.size() &&
         answer.finish == dialect::Finish::None && answer.open_kind != Kind::Reasoning &&
         answer.open_kind != Kind::ToolFragment;
}

std::optional<std::size_t> Relay::usable_form(std::size_t from) const {
  if (options_.continuation.empty() || interpreter_->at_eof() == dialect::EofVerdict::Complete) return std::nullopt;
  for (std::size_t i = from; i < options_.continuation.size(); ++i) {
    // The provider sends the very events that are missing, by their numbers: whatever they are.
    const bool numbered = dialect() == Dialect::OpenaiResponses || dialect() == Dialect::SeqDelta;
    if (options_.continuation[i] == Form::Reattach ? numbered && provider_answer().sequence.has_value()
                                                   : is_continuable()) {
      return i;
    }
  }
  return std::nullopt;
}

std::size_t Relay::first_model_form() const {
  const auto& forms = options_.continuation;
  return static_cast<std::size_t>(
      std::find_if(forms.begin(), forms.end(), [](const Form form) { return form != Form::Reattach; }) - forms.begin());
}

dialect::Answer Relay::as_client_knows() const {
  dialect::Answer answer = interpreter_->answer();
  if (!continuation_) preamble_.as_known(answer);
  return answer;
}

// Reattached: what an event is by its number.
Relay::Reattached Relay::reattached(const sse::Event& event) const {
  dialect::Interpreter probe(dialect());
  const auto number = probe.interpret(event).sequence;
  const dialect::Answer& known = provider_answer();
  if (!probe.answer().id.empty() && !known.id.empty() && probe.answer().id != known.id) return Reattached::Foreign;
  if (!number) return Reattached::New;
  if (*number <= *known.sequence) return Reattached::Old;
  // Responses number keepalives too, and need not send them again.
  return dialect() == Dialect::SeqDelta && *number != *known.sequence + 1 ? Reattached::Foreign : Reattached::New;
}

void Relay::take_continued(TimeMs now, const sse::Event& event) {
  Continuation& seam = joining_ ? *joining_ : *continuation_;
  const dialect::Meaning meaning = seam.interpret(event);
  if (meaning.kind == Kind::Challenge || (joining_ && matches_pattern(event.data))) return challenged();
  if (meaning.kind == Kind::Error) {
    if (!form_) return take_error_after_content(now, event, meaning);
    if (!repeat_after_error(now, meaning.error)) fail_with(meaning.error);
    return;
  }
  // A marker alone ends nothing: the provider has not said that this is all.
  if (joining_ && meaning.terminal && !joining_->offered() && joining_->answer().finish == dialect::Finish::None) {
    if (!repeat(now, Loss::Empty)) fail(Loss::Empty, kNoAnswer);
    return;
  }
  // As an answer without content is asked for once more (§ 4, rule 3), unless it may well be all that there is to say.
  if (joining_ && meaning.finish == dialect::Finish::Stop && meaning.text.empty() && !joining_->offered() &&
      stops_in_sentence(text_) && repeat(now, Loss::Empty)) {
    return;
  }
  if (meaning.kind != Kind::Silence && state_ != RelayState::Draining) {
    deadlines_.clear(Deadline::FirstByte);
    beat(now);
  }
  switch (seam.take(event, meaning)) {
    case Continuation::Step::Hold:
      return;
    case Continuation::Step::Refuse:
      return refuse_seam();
    case Continuation::Step::Deliver:
      break;
  }
  if (form_) note_join();
  deliver(now, continuation_->take_ready());
}

void Relay::note_seam(std::string_view verdict) {
  const bool joined = verdict == kJoined;
  joins_ += joined ? 1 : 0;
  seams_.push_back({attempt_, *form_, next_seq_, joined && joining_ ? joining_->trimmed() : 0, verdict});
}

void Relay::note_join() {
  note_seam(kJoined);
  form_.reset();
  report(retry::Outcome::Answer);
  move(RelaySignal::Content);
  if (!joining_) return;
  // From here on the events are made for the client, and read as it reads them.
  interpreter_.emplace(dialect(), as_client_knows());
  preamble_ = {};
  continuation_ = std::move(joining_);
}

void Relay::deliver(TimeMs now, const std::vector<dialect::OwnEvent>& events) {
  for (const dialect::OwnEvent& own : events) {
    if (over()) return;
    sse::Event event;
    event.name = own.name;
    event.data = own.data;
    if (!fits(own.name.size() + own.data.size())) {
      return end_by_order(Cut::LogLimit,
                          own_error(503, "upstream_unavailable", "log_limit", "the answer is too long", 1));
    }
    const dialect::Meaning meaning = interpreter_->interpret(event);
    append_own(own, meaning.kind);
    if (state_ == RelayState::Draining) {
      if (nothing_follows(event, meaning)) finish(plan_);
      continue;
    }
    remember_text(meaning);
    if (meaning.terminal) {
      take_last_word(now, {EndState::Complete, EndReason::TerminalMarker}, nothing_follows(event, meaning));
    }
  }
}

// Nothing delivered is ever taken back: the answer ends where it broke off.
void Relay::refuse_seam() {
  note_seam(seam::name(joining_->refusal()));
  leave_attempt(retry::Outcome::Answer);
  form_.reset();
  end_truncated(EndReason::SeamRefused, false);
}

void Relay::try_next_form(TimeMs now, std::string_view why) {
  note_seam(why);
  const auto next = usable_form(form_at_ + 1);
  if (!next) {
    return give_up(own_error(502, "upstream_error", "upstream_error", "the answer can't be continued", 1),
                   {EndState::Failed, EndReason::UpstreamError});
  }
  form_at_ = *next;
  form_ = options_.continuation[*next];
  move(RelaySignal::Lose);
  send_attempt(now);
}

// No attempt has gone on with the answer, or somebody else than the upstream ends the stream.
void Relay::end_as_cut(Plan plan) {
  const bool failed = !lost_.empty() && lost_.back().attempt == attempt_;
  if (failed && (seams_.empty() || seams_.back().attempt != attempt_)) note_seam(name(lost_.back().loss));
  form_.reset();
  joining_.reset();
  drop_held();
  const bool by_upstream = plan.state != EndState::Truncated;
  if (by_upstream && said_at_cut_) {
    error_ = *said_at_cut_;
    append_error();
    return finish({EndState::Failed, EndReason::UpstreamError});
  }
  end_truncated(by_upstream ? reason_for(cut_) : plan.reason, by_upstream);
}

}  // namespace tidemark::session
