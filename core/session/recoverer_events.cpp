// The client leg's state machine: where an event belongs, and what becomes of it.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/session/recoverer.hpp"

namespace tidemark::session {
namespace {

using dialect::Kind;

constexpr std::uint64_t kMaxNumber = (std::uint64_t{1} << 53) - 1;
constexpr std::string_view kEndComment = ": tidemark end=";

// Content and what closes it: after these nothing can be taken back.
bool commits(Kind kind) {
  switch (kind) {
    case Kind::Silence:
    case Kind::Progress:
    case Kind::Malformed:
      return false;
    case Kind::Text:
    case Kind::Reasoning:
    case Kind::Refusal:
    case Kind::ToolFragment:
    case Kind::Finish:
    case Kind::Terminal:
    case Kind::Error:
    case Kind::Challenge:
      return true;
  }
  return true;
}

}  // namespace

// `known`: the interpreter has recognised the event before it was parsed.
void Recoverer::take_event(TimeMs now, const sse::Event& event, const dialect::FrameGuess::Match* known) {
  if (!interpreter_) {
    if (event.data.empty()) return;
    interpreter_.emplace(dialect::from_first_event(event));
  }

  seam::Seq seq = seam::kNothing;
  if (mode_ == ResumeMode::Tidemark && place_by_id(now, event, seq) != Verdict::Take) return;
  const dialect::Meaning meaning = known != nullptr ? interpreter_->interpret(*known) : interpreter_->interpret(event);
  // What follows the answer's end is no part of it.
  if (deadlines_.is_set(Deadline::EndGrace) && dialect::is_content(meaning.kind)) return;
  learn_mode(event, meaning);
  if (mode_ != ResumeMode::Tidemark && place_by_meaning(now, event, meaning, seq) != Verdict::Take) return;
  const bool numbered = mode_ == ResumeMode::Tidemark || mode_ == ResumeMode::Seq;
  if (numbered && seq == seam::kNothing && !fits_unnumbered(meaning.kind)) {
    if (dialect::is_content(meaning.kind)) fail_mismatch("it is not known where these events belong");
    return;
  }
  if (meaning.kind == Kind::Silence && (event.data.empty() || (numbered && seq == seam::kNothing))) return;
  if (mode_ == ResumeMode::Tail) seq = number_of(meaning);

  const EventAction action{.kind = meaning.kind,
                           .finish = meaning.finish,
                           .seq = seq,
                           .name = event.name,
                           .data = event.data,
                           .block = event.block,
                           .line_end = event.line_end,
                           .text = meaning.text,
                           .reasoning = meaning.reasoning};
  if (joiner_) return join(now, action, meaning, commits(meaning.kind));
  if (!committed_ && !commits(meaning.kind) && held_bytes_ + event.block.size() <= kMaxHeldBytes) return hold(action);
  take(now, action, meaning);
}

void Recoverer::take(TimeMs now, const EventAction& action, const dialect::Meaning& meaning) {
  commit();
  deliver(action);
  if (mode_ == ResumeMode::Seq) tail_.append(meaning.text);
  if (meaning.kind == Kind::Error || meaning.kind == Kind::Challenge) return take_error(now, meaning);
  if (meaning.terminal) deadlines_.set(Deadline::EndGrace, now + kEndGraceMs);
}

// What a resumed leg may bring without a number: nothing that could be there twice.
bool Recoverer::fits_unnumbered(Kind kind) const { return !resumes_ || (commits(kind) && !dialect::is_content(kind)); }

Recoverer::Verdict Recoverer::place_by_id(TimeMs now, const sse::Event& event, seam::Seq& seq) {
  const auto id = event.has_id ? seam::parse_event_id(event.id) : std::nullopt;
  if (!id) return Verdict::Take;
  const Verdict verdict = place_by_number(now, id->seq, {});
  if (verdict != Verdict::Take) return verdict;
  seq = id->seq;
  // It changes within an answer, where another replica has taken it over.
  if (id->epoch != epoch_) epoch_ = id->epoch;
  return verdict;
}

Recoverer::Verdict Recoverer::place_by_meaning(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning,
                                               seam::Seq& seq) {
  if (mode_ == ResumeMode::LastEventId) {
    const Verdict verdict = place_by_upstream_id(event);
    // A preamble that every response begins with has no place within an answer.
    const bool preamble = state_ == RecovererState::Merging && resumes_ && !event.has_id && !commits(meaning.kind);
    return verdict == Verdict::Take && preamble ? Verdict::Drop : verdict;
  }
  if (mode_ != ResumeMode::Seq || !meaning.sequence || *meaning.sequence > kMaxNumber) return Verdict::Take;
  const auto number = static_cast<seam::Seq>(*meaning.sequence);
  if (!resumes_ && watermark_.value() == seam::kNothing) watermark_ = seam::Watermark(number - 1);
  const Verdict verdict = place_by_number(now, number, meaning.text);
  if (verdict == Verdict::Take) seq = number;
  // What the event says of the answer has not happened yet.
  if (verdict == Verdict::LegOver) interpreter_.emplace(interpreter_->dialect());
  return verdict;
}

Recoverer::Verdict Recoverer::place_by_upstream_id(const sse::Event& event) {
  if (!event.has_id) {
    if (skip_ > 0) {
      --skip_;
      ++duplicates_;
      return Verdict::Drop;
    }
    ++since_id_;
    return Verdict::Take;
  }
  if (resumes_ && state_ == RecovererState::Merging) {
    if (event.id == last_id_) {
      ++duplicates_;
      return Verdict::Drop;
    }
    if (event.id == first_id_) {
      fail_mismatch("the server began the answer again");
      return Verdict::LegOver;
    }
  }
  if (event.id == last_id_) ids_repeat_ = true;
  if (first_id_.empty()) first_id_ = event.id;
  last_id_ = event.id;
  since_id_ = skip_ = 0;
  return Verdict::Take;
}

Recoverer::Verdict Recoverer::place_by_number(TimeMs now, seam::Seq seq, std::string_view text) {
  switch (watermark_.offer(seq)) {
    case seam::Watermark::Verdict::Accept:
      if (replays_ &&
          (replayed_.fingerprint() != tail_.fingerprint() || replayed_.utf16_length() != tail_.utf16_length())) {
        fail_mismatch("the server sent a different answer");
        return Verdict::LegOver;
      }
      replays_ = false;
      return Verdict::Take;
    case seam::Watermark::Verdict::Duplicate:
      if (resumes_ && duplicates_ == 0 && seq == 0 && mode_ == ResumeMode::Seq) {
        replays_ = true;
        replayed_ = {};
      }
      if (replays_) replayed_.append(text);
      ++duplicates_;
      return Verdict::Drop;
    case seam::Watermark::Verdict::Hole:
      drop_leg();
      lose(now, LossCause::Hole, {});
      return Verdict::LegOver;
  }
  return Verdict::Drop;
}

void Recoverer::learn_mode(const sse::Event& event, const dialect::Meaning& meaning) {
  if (mode_ != ResumeMode::Auto) return;
  if (interpreter_->dialect() == dialect::Dialect::SeqDelta && meaning.sequence) {
    mode_ = ResumeMode::Seq;
  } else if (event.has_id && !event.id.empty()) {
    mode_ = ResumeMode::LastEventId;
  }
}

void Recoverer::deliver(EventAction action) {
  if (mode_ == ResumeMode::Tail) {
    if (!trim(action)) return;
    remember(action);
    action.seq = ++delivered_;
  } else if (mode_ != ResumeMode::Tidemark && mode_ != ResumeMode::Seq &&
             interpreter_->dialect() != dialect::Dialect::SeqDelta) {
    action.seq = ++delivered_;
  }
  if (state_ == RecovererState::Merging) {
    const seam::Seq before = action.seq == seam::kNothing ? watermark_.value() : action.seq - 1;
    if (resumes_) {
      sink_.seam({.attempt = attempt_,
                  .after_seq = before,
                  .duplicates = duplicates_,
                  .kind = seam_kind_,
                  .trimmed = trimmed_});
    }
    move(RecovererSignal::Joined);
  }
  sink_.event(action);
  if (action.kind == Kind::Silence) return;
  leg_progress_ = true;
  failures_ = backoffs_ = 0;
}

void Recoverer::take_error(TimeMs now, const dialect::Meaning& meaning) {
  const dialect::ErrorInfo& error = meaning.error;
  error_seen_ = true;
  error_code_ = !error.code.empty() ? error.code : error.type;
  if (meaning.kind == Kind::Challenge) error_code_ = "upstream_challenge";
  if (error_code_.empty()) error_code_ = "upstream_error";
  error_message_ = error.message;
  error_status_ = error.status;
  // A proxy still says whether the answer has failed or been cut.
  if (named_stream_) {
    deadlines_.set(Deadline::EndGrace, now + kEndGraceMs);
    return;
  }
  drop_leg();
  fail_by_event();
}

void Recoverer::hold(const EventAction& action) {
  static_assert(std::is_trivially_copyable_v<HeldEvent>);
  const std::string_view block = action.block;
  const auto place = [block](std::string_view part) { return static_cast<std::size_t>(part.data() - block.data()); };
  const bool joined = action.data.data() < block.data() || action.data.data() > block.data() + block.size();
  HeldEvent held{.action = action, .bytes = block.size() + action.text.size() + action.reasoning.size()};
  if (!action.name.empty()) held.name_at = place(action.name);
  held.data_at = joined ? block.size() : place(action.data);
  if (joined) held.bytes += action.data.size();
  held_bytes_ += block.size();
  held_.append(reinterpret_cast<const char*>(&held), sizeof held);
  held_ += block;
  if (joined) held_ += action.data;
  held_ += action.text;
  held_ += action.reasoning;
}

void Recoverer::commit() {
  committed_ = true;
  if (held_.empty()) return;
  const std::string all = std::exchange(held_, {});
  for (std::size_t at = 0; at != all.size();) {
    HeldEvent held;
    std::memcpy(&held, all.data() + at, sizeof held);
    const std::string_view bytes = std::string_view(all).substr(at + sizeof held, held.bytes);
    EventAction& action = held.action;
    action.name = bytes.substr(held.name_at, action.name.size());
    action.data = bytes.substr(held.data_at, action.data.size());
    action.block = bytes.substr(0, action.block.size());
    action.reasoning = bytes.substr(bytes.size() - action.reasoning.size());
    action.text = bytes.substr(bytes.size() - action.reasoning.size() - action.text.size(), action.text.size());
    if (resumes_) --duplicates_;
    deliver(action);
    at += sizeof held + held.bytes;
  }
}

// The proxy's last word: `: tidemark end=STATE reason=REASON` (contract § 3.3).
void Recoverer::take_comment(std::string_view block) {
  if (block.substr(0, kEndComment.size()) != kEndComment) return;
  std::string_view rest = block.substr(kEndComment.size());
  for (const char line_end : {'\r', '\n'}) rest = rest.substr(0, rest.find(line_end));
  const std::size_t space = rest.find(' ');
  constexpr std::string_view kReason = " reason=";
  std::string_view reason = rest.substr(std::min(space, rest.size()));
  reason = reason.substr(0, kReason.size()) == kReason ? reason.substr(kReason.size()) : std::string_view{};

  // In the order of RecoveredEnd.
  constexpr std::array<std::string_view, 4> kEnds{"complete", "stopped", "truncated", "failed"};
  std::size_t end = 0;
  while (end < kEnds.size() && kEnds[end] != rest.substr(0, space)) ++end;
  if (end == kEnds.size()) return;
  // Its last bytes: a connection that ends by itself serves the next request.
  leg_is_gone();
  if (end < kEnds.size() - 1) return finish(static_cast<RecoveredEnd>(end), reason);
  if (error_seen_) return fail_by_event();
  std::string code(reason.empty() ? "upstream_error" : reason);
  std::replace(code.begin(), code.end(), '-', '_');
  fail({.code = code, .message = "the answer failed", .status = status_});
}

// Whether an event that lacks its closing blank line is whole all the same.
bool Recoverer::ends_answer(dialect::Dialect dialect, const dialect::Meaning& meaning, bool line_ended) const {
  // An error may say anything; where the stream can be resumed it comes again.
  if (meaning.kind == Kind::Error) return line_ended && !(named_stream_ && resumable());
  if (dialect == dialect::Dialect::Opaque) return line_ended;
  return meaning.terminal || meaning.finish != dialect::Finish::None;
}

// At the end of the body: an event whose closing blank line was left out is taken where it ends the answer. Any other
// may be cut in the middle.
void Recoverer::take_unfinished_event(TimeMs now) {
  sse::Event event;
  switch (parser_.end(sse::Parser::Tail::Dispatch, event)) {
    case sse::Step::Event: {
      // What the question needs does not depend on the events before.
      dialect::Interpreter probe(interpreter_ ? interpreter_->dialect() : dialect::from_first_event(event));
      const dialect::Meaning meaning = probe.interpret(event);
      if (ends_answer(probe.dialect(), meaning, event.block.ends_with(event.line_end))) take_event(now, event, nullptr);
      break;
    }
    case sse::Step::Comment:
      take_comment(event.block);
      break;
    case sse::Step::NeedMore:
    case sse::Step::Failed:
      break;
  }
}

}  // namespace tidemark::session
