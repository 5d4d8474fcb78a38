// What reaches the client: the commit, events held back and handed on, numbers and ids.
#include <algorithm>
#include <string>

#include "core/session/relay.hpp"
#include "core/sse/encoder.hpp"

namespace tidemark::session {

void Relay::commit(unsigned head_of_attempt, CommitCause cause) {
  commit_cause_ = cause;
  deadlines_.clear(Deadline::CommitHold);
  deadlines_.clear(Deadline::HoldMax);
  push(RelayAction::Kind::Commit).attempt = head_of_attempt;
}

// The hold is over: the client gets its 200 and what is about the answer as a whole. What may still turn out to be no
// answer at all stays, and so does what another attempt may open differently. From here on contract § 4, rule 2,
// applies.
void Relay::commit_without_content(CommitCause cause) {
  if (committed() || over()) return;
  commit(state_ == RelayState::Holding ? attempt_ : 0, cause);
  release(std::min(undecided_.value_or(held_.size()), shaping_.value_or(held_.size())));
}

// More is held than may be.
void Relay::let_all_go() {
  if (!committed()) commit(attempt_, CommitCause::Progress);
  all_goes_ = true;
  shaping_.reset();
  release(held_.size());
}

// The first `count` of the held events reach the client, without content.
void Relay::release(std::size_t count) {
  sse::Parser parser({.max_line_bytes = held_bytes_.size(), .max_event_bytes = held_bytes_.size()});
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += held_[i].size;
  parser.feed(std::string_view(held_bytes_).substr(0, bytes));
  for (sse::Event event; parser.next(event) == sse::Step::Event;) {
    preamble_.delivered(event, Preamble::Numbers::Rewritten);
  }
  flush(count);
}

void Relay::hold(const sse::Event& event, dialect::Kind meaning) {
  const std::size_t before = held_bytes_.size();
  frame(held_bytes_, event, next_seq_ + static_cast<seam::Seq>(held_.size()));
  held_.push_back({held_bytes_.size() - before, meaning});
}

bool Relay::too_much_held() const { return held_progress_ > kMaxHeldEvents || held_bytes_.size() > kMaxHeldBytes; }

void Relay::flush(std::size_t count) {
  std::size_t from = 0;
  const std::size_t base = arena_.size();
  for (std::size_t i = 0; i < count; ++i) {
    push_append(base + from, held_[i].size, held_[i].meaning);
    from += held_[i].size;
  }
  arena_.append(held_bytes_, 0, from);
  held_bytes_.erase(0, from);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  held_progress_ = static_cast<unsigned>(std::count_if(
      held_.begin(), held_.end(), [](const Held& held) { return held.meaning != dialect::Kind::Silence; }));
  for (std::optional<std::size_t>* from_here : {&undecided_, &shaping_}) {
    if (*from_here) **from_here -= std::min(count, **from_here);
  }
}

void Relay::drop_held() {
  if (!held_.empty()) preamble_.restart_numbers();
  std::string().swap(held_bytes_);
  std::vector<Held>().swap(held_);
  held_progress_ = 0;
  undecided_.reset();
  shaping_.reset();
}

void Relay::append(const sse::Event& event, dialect::Kind meaning) {
  const std::size_t at = arena_.size();
  frame(arena_, event, next_seq_);
  push_append(at, arena_.size() - at, meaning);
}

void Relay::append_own(const dialect::OwnEvent& event, dialect::Kind meaning) {
  id_.assign(options_.epoch).append("-").append(std::to_string(next_seq_));
  const std::size_t at = arena_.size();
  if (preamble_.active()) {
    rewritten_ = event.data;
    preamble_.rewrite(rewritten_);
    sse::append_event(arena_, event.name, rewritten_, id_);
  } else {
    sse::append_event(arena_, event.name, event.data, id_);
  }
  push_append(at, arena_.size() - at, meaning);
}

// After each block: a line of its own is the event's, another's waits for the next event.
void Relay::note_retry_line(bool of_an_event) {
  if (parser_.retry_ms() == retry_told_) return;
  retry_told_ = parser_.retry_ms();
  retry_pending_ = of_an_event ? std::nullopt : retry_told_;
}

void Relay::frame(std::string& out, const sse::Event& event, seam::Seq seq) {
  id_.assign(options_.epoch).append("-").append(std::to_string(seq));
  sse::Event framed = preamble_.active() ? preamble_.rewritten(event, rewritten_) : event;
  if (retry_pending_) {
    block_.assign("retry: ").append(std::to_string(*retry_pending_)).append(framed.line_end).append(framed.block);
    framed.block = block_;
    retry_pending_.reset();
  }
  sse::append_with_id(out, framed, id_);
}

void Relay::push_append(std::size_t at, std::size_t size, dialect::Kind meaning) {
  RelayAction& action = push(RelayAction::Kind::Append);
  action.seq = next_seq_++;
  action.at = at;
  action.size = size;
  action.meaning = meaning;
  appended_bytes_ += size;
}

bool Relay::fits(std::size_t block_bytes) const {
  constexpr std::size_t kIdLine = 32;     // `id: `, the dash, a number and the line ends, at most
  constexpr std::size_t kRetryLine = 32;  // `retry: `, a number and the line end
  if (options_.max_stream_bytes == 0) return true;
  const std::uint64_t own = options_.epoch.size() + kIdLine + (retry_pending_ ? kRetryLine : 0);
  const std::uint64_t size = block_bytes + own;
  return appended_bytes_ + held_bytes_.size() + size <= options_.max_stream_bytes;
}

}  // namespace tidemark::session
