// The upstream leg's state machine: one stream, made of one or more attempts, from the request to its end.
//
// Contract § 4 and § 5: what is held back, when the client gets its 200, which attempts are repeated in silence, how a
// cut answer goes on, and how the stream ends. No I/O, no clock, no timer: the owner sends the attempts, hands in what
// comes of them, and carries out the actions, in order, after each input. Times are milliseconds of a clock that never
// runs backwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/time.hpp"
#include "core/dialect/ending.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/liveness/deadlines.hpp"
#include "core/seam/form.hpp"
#include "core/seam/joiner.hpp"
#include "core/seam/watermark.hpp"
#include "core/session/continuation.hpp"
#include "core/session/preamble.hpp"
#include "core/session/relay_actions.hpp"
#include "core/session/relay_options.hpp"
#include "core/session/relay_states.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::session {

/// A stream gets exactly one final action (PassThrough, Refuse, End); Refuse and PassThrough come without a Commit, End
/// after one. Events that were appended are never taken back; `seq` counts from 0 without holes. Every event is the
/// upstream's block with `id: EPOCH-SEQ` in front, its own id lines left out, or one made here (endings, errors). Of
/// blocks without an event only a reconnection time is handed on (`retry: MS`), as a line of the next event: an id of
/// the upstream's would be taken for one of the stream's.
///
/// Cost: an event is parsed, interpreted and copied once, into one buffer that is used again.
class Relay {
 public:
  explicit Relay(RelayOptions options);

  // Inputs. Each first forgets the actions of the one before. Those about an attempt that is not running are ignored,
  // and so are all after the final action but log_refused().
  void start(TimeMs now);
  /// What the upstream of the attempt just sent speaks; nullopt: told by its first event. Between SendAttempt and the
  /// attempt's first input; leaves the actions alone. Without it an attempt speaks what the one before did, at first
  /// RelayOptions::dialect. What the client has seen decides: an attempt in another dialect can't be joined on to it,
  /// and ends the stream where it succeeds.
  void set_dialect(std::optional<dialect::Dialect> spoken);
  /// How the attempt just sent with Form::Prefix or ContinueTurn goes on. Between SendAttempt and its first input;
  /// leaves the actions alone.
  void set_continuation(const seam::JoinOptions& options);
  void handle_head(TimeMs now, unsigned attempt, const UpstreamHead& head);
  /// `readable`: what the chunk says, where the body is compressed; as much of it as is looked at is enough, that is
  /// dialect::kMaxChallengeBytes in all. What is handed on are the chunks. An event stream must come uncompressed.
  void handle_bytes(TimeMs now, unsigned attempt, std::string_view chunk, std::string_view readable = {});
  /// All that came so far, as attempt 1, is what another process had delivered before it was gone: its log. The actions
  /// that it has become are those of then, from seq 0 on; what was held back then until more was known, has gone out
  /// since.
  void taken_over();
  /// The body is over, as its framing says or, without framing, because the connection was closed.
  void handle_eof(TimeMs now, unsigned attempt);
  /// `message`: a sentence that says what went wrong; clients read it, so no address and no credential.
  void handle_failure(TimeMs now, unsigned attempt, AttemptFailure failure, std::string_view message);
  /// The breaker does not let `attempt` out for another `retry_in_ms`.
  void handle_paused(TimeMs now, unsigned attempt, TimeMs retry_in_ms);
  /// `attempt` has not gone out, and does not count: its form can't be asked for. `why`, a constant, becomes a verdict.
  void handle_form_refused(TimeMs now, unsigned attempt, std::string_view why);
  void handle_timeout(TimeMs now);
  /// The client's stop (contract § 3.2).
  void stop(TimeMs now);
  /// The last reader has gone and nobody may come back. Before the commit error() has status 499.
  void abandon(TimeMs now);
  /// The proxy closes; before the commit: 503, code `shutdown`.
  void shutdown(TimeMs now);
  /// The log took no event from `seq` on. The actions still at hand are void; the ending is numbered from `seq`.
  void log_refused(TimeMs now, seam::Seq seq);

  // Outputs.
  const std::vector<RelayAction>& actions() const { return actions_; }
  /// Of Append, PassThrough, KeyVerdict and FormVerdict; valid until the next input.
  std::string_view bytes(const RelayAction& action) const;
  const RelayError& error() const { return error_; }
  TimeMs next_deadline() const { return deadlines_.next_deadline(); }

  RelayState state() const { return state_; }
  bool committed() const { return commit_cause_ != CommitCause::None; }
  CommitCause commit_cause() const { return commit_cause_; }
  /// In the order of the attempts, one each at most.
  const std::vector<LostAttempt>& lost() const { return lost_; }
  unsigned attempts() const { return attempt_; }
  /// Of every attempt that was to continue the answer, in their order.
  const std::vector<SeamRecord>& seams() const { return seams_; }
  /// All of the answer's text that has been delivered; kept where it may be continued.
  std::string_view text() const { return text_; }
  /// How many tokens it took, estimated.
  std::uint64_t tokens() const;
  /// What the upstream has said by its own ids and numbers, in the last attempt that was answered.
  const dialect::Answer& provider_answer() const;
  /// Whether the answer may still be continued, so that its request is needed.
  bool may_be_continued() const;
  seam::Seq next_seq() const { return next_seq_; }
  /// As configured, or as the first event told; Opaque until then.
  dialect::Dialect dialect() const;
  const dialect::Answer* answer() const { return interpreter_ ? &interpreter_->answer() : nullptr; }

  /// The buffers that actions lie in. An open stream is idle most of the time: many can do with one set, which each is
  /// lent before an input and gives back when the actions have been carried out; they are void afterwards.
  struct Buffers {
    std::vector<RelayAction> actions;
    std::string arena;
  };
  void lend_buffers(Buffers buffers);
  Buffers take_buffers();

 private:
  enum class Deadline : std::uint8_t { CommitHold, HoldMax, FirstByte, Idle, Drain, Retry, Count };

  // What ends an answer before its last word.
  enum class Cut : std::uint8_t { EndOfBody, Broken, Silent, TooLarge, ErrorEvent, Shutdown, LogLimit, ClientGone };

  static constexpr std::string_view kNoAnswer = "the stream ended without an answer";
  static constexpr std::string_view kSilent = "the upstream sent nothing in time";

  struct Plan {
    EndState state = EndState::Complete;
    EndReason reason = EndReason::TerminalMarker;
  };

  struct Held {
    std::size_t size = 0;
    dialect::Kind meaning = dialect::Kind::Silence;
  };

  // relay.cpp: inputs
  void begin();
  bool running(unsigned attempt) const { return attempt == attempt_ && attempt_running_; }
  bool over() const { return state_ == RelayState::Over || state_ == RelayState::Passing; }
  void move(RelaySignal signal);
  void send_attempt(TimeMs now);
  void await_first_event(TimeMs now);
  void parse(TimeMs now, std::string_view chunk);
  void take_tail(TimeMs now);
  void end_of_events(TimeMs now, Cut cut, std::string_view message);
  void due(TimeMs now, Deadline deadline);
  void end_by_order(Cut cut, const RelayError& error);

  // relay_peek.cpp: bodies that are no event stream
  void take_other_head(TimeMs now);
  void peek(TimeMs now, std::string_view chunk, std::string_view readable);
  std::string_view body_text() const { return coding_ == BodyCoding::None ? peeked_ : readable_; }
  void judge_body(TimeMs now, bool whole);
  bool take_no_answer(TimeMs now);
  void judge_silence(TimeMs now);
  void lose_body(TimeMs now, std::string_view message);
  bool try_another_key(TimeMs now);
  void pass_through(bool whole);
  RelayAction& push_peeked(RelayAction::Kind kind);
  bool is_challenge() const;
  bool matches_pattern(std::string_view text) const;
  bool misses_stream() const;
  bool begins_stream_unnamed() const;
  bool is_worth_a_look() const;
  static bool is_no_event_stream(std::string_view beginning);
  dialect::Interpreter error_reader() const;
  RelayError upstream_said() const;

  // relay_events.cpp: what events mean for the stream
  void take_event(TimeMs now, const sse::Event& event, const dialect::FrameGuess::Match* known = nullptr);
  void take_while_holding(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning);
  void take_while_flowing(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning);
  void take_while_draining(const sse::Event& event, const dialect::Meaning& meaning);
  void take_silence(const sse::Event& event);
  void take_progress(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning);
  void take_finish_without_content(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning);
  void take_error_without_content(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning);
  void hand_on_empty_answer();
  void take_error_after_content(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning);
  void end_with_error(const sse::Event& event, const dialect::Meaning& meaning);
  bool start_answer(TimeMs now);
  void refuse_to_join();
  void take_last_word(TimeMs now, Plan plan, bool nothing_follows);
  bool nothing_follows(const sse::Event& event, const dialect::Meaning& meaning) const;
  void beat(TimeMs now);
  void remember_text(const dialect::Meaning& meaning);
  bool has_content() const;

  // relay_delivery.cpp: holding, committing, appending
  void commit(unsigned head_of_attempt, CommitCause cause);
  void commit_without_content(CommitCause cause);
  void let_all_go();
  void release(std::size_t count);
  void hold(const sse::Event& event, dialect::Kind meaning);
  bool too_much_held() const;
  void flush(std::size_t count);
  void drop_held();
  void append(const sse::Event& event, dialect::Kind meaning);
  void append_own(const dialect::OwnEvent& event, dialect::Kind meaning);
  void note_retry_line(bool of_an_event);
  void frame(std::string& out, const sse::Event& event, seam::Seq seq);
  void push_append(std::size_t at, std::size_t size, dialect::Kind meaning);
  bool fits(std::size_t block_bytes) const;

  // relay_ending.cpp: failing, repeating, ending
  bool repeat(TimeMs now, Loss loss);
  bool may_repeat(Loss loss) const;
  void note(Loss loss);
  bool repeat_after_error(TimeMs now, const dialect::ErrorInfo& info);
  void fail(Loss loss, std::string_view message);
  void fail_with(const dialect::ErrorInfo& info);
  void challenged();
  void give_up(const RelayError& error, Plan plan);
  void append_error();
  void cut_answer(Cut cut);
  void end_truncated(EndReason own_reason, bool by_upstream);
  void append_endings(const std::vector<dialect::OwnEvent>& events);
  void finish(Plan plan);
  void leave_attempt(retry::Outcome outcome);
  void report(retry::Outcome outcome);
  dialect::Answer answer_so_far() const;
  RelayError own_error(int status, std::string_view type, std::string_view code, std::string_view message,
                       int retry_after_s) const;
  RelayError in_upstreams_words(const dialect::ErrorInfo& info) const;
  static EndReason reason_for(Cut cut);

  // relay_seam.cpp: going on with a cut answer
  bool continue_answer(TimeMs now, Cut cut);
  bool is_continuable() const;
  std::optional<std::size_t> usable_form(std::size_t from) const;
  dialect::Answer as_client_knows() const;
  std::size_t first_model_form() const;
  enum class Reattached : std::uint8_t { Old, New, Foreign };
  Reattached reattached(const sse::Event& event) const;
  void take_continued(TimeMs now, const sse::Event& event);
  void note_seam(std::string_view verdict);
  void note_join();
  void deliver(TimeMs now, const std::vector<dialect::OwnEvent>& events);
  void refuse_seam();
  void try_next_form(TimeMs now, std::string_view why);
  void end_as_cut(Plan plan);

  RelayAction& push(RelayAction::Kind kind);

  RelayOptions options_;
  Random random_;
  liveness::Deadlines<Deadline> deadlines_;
  RelayState state_ = RelayState::Idle;
  CommitCause commit_cause_ = CommitCause::None;
  bool hold_over_ = false;  // hold_max_ms is over
  TimeMs client_deadline_ = kNever;
  unsigned failures_ = 0;  // attempts that were repeated after Unreachable or Status
  unsigned empties_ = 0;   // attempts that were repeated after anything else but a key's refusal
  std::vector<LostAttempt> lost_;

  // The attempt.
  unsigned attempt_ = 0;
  bool attempt_running_ = false;
  bool outcome_given_ = true;
  bool stream_head_ = false;  // its head announces an event stream
  bool challenge_header_ = false;
  bool unsent_ = false;  // it never reached the upstream
  bool own_key_ = false;
  bool another_key_ = false;
  bool foreign_ = false;          // it speaks another dialect than what the client has seen
  bool first_byte_seen_ = false;  // of an event stream, white space left out
  int status_ = 0;
  std::optional<TimeMs> retry_after_;
  std::string content_type_;
  BodyCoding coding_ = BodyCoding::None;
  std::string peeked_;
  std::string readable_;  // what peeked_ says, where it is compressed
  std::size_t next_look_ = 0;
  sse::Parser parser_;
  std::optional<dialect::Interpreter> interpreter_;
  bool dialect_guessed_ = false;  // options_.dialect is what a first event told
  std::string text_;              // of the answer, for the dialect whose ending repeats it, and for a continuation
  std::string reasoning_;         // as long as there is no text
  std::uint64_t text_events_ = 0;
  dialect::Kind last_content_ = dialect::Kind::Silence;

  // A cut answer. interpreter_ reads what the client gets.
  std::optional<seam::Form> form_;  // the attempt is to go on with it, and nothing of the attempt has been delivered
  std::size_t form_at_ = 0;         // of options_.continuation
  Cut cut_ = Cut::EndOfBody;        // the last one
  std::optional<RelayError> said_at_cut_;       // the error event that was one
  std::unique_ptr<Continuation> joining_;       // the attempt's events, as long as the seam is undecided
  std::unique_ptr<Continuation> continuation_;  // the events behind the last seam; none where they come unchanged
  std::vector<SeamRecord> seams_;
  unsigned joins_ = 0;
  seam::Seq cut_at_ = -1;   // next_seq_ at the last cut
  unsigned fruitless_ = 0;  // cuts since anything came

  // Events that are held back, framed.
  std::string held_bytes_;
  std::vector<Held> held_;
  unsigned held_progress_ = 0;
  std::optional<std::size_t> undecided_;  // from this one on: a finish without content, and what came after it
  std::optional<std::size_t> shaping_;    // from this one on: what shapes the answer, and what came after it
  bool all_goes_ = false;                 // there has been too much of that in this attempt

  Preamble preamble_;
  std::optional<std::uint64_t> retry_told_;     // the attempt's reconnection time, as far as the client knows of it
  std::optional<std::uint64_t> retry_pending_;  // came in a block without an event, for the next event to carry
  std::optional<dialect::Answer> delivered_;    // what the client has of a lost attempt
  seam::Seq next_seq_ = 0;
  std::uint64_t appended_bytes_ = 0;
  Plan plan_;  // while draining

  std::vector<RelayAction> actions_;
  std::string arena_;                   // what they point to
  std::string id_, rewritten_, block_;  // scratch
  RelayError error_;
};

}  // namespace tidemark::session
