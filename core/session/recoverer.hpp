// The client leg's state machine: keeps one stream unbroken over any number of requests. No I/O, no clock, no timer.
//
// The owner connects when told to, hands in what the network and the page say, and carries out what the sink is told.
// Times are milliseconds of a clock that never runs backwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/random.hpp"
#include "core/base/time.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/liveness/deadlines.hpp"
#include "core/liveness/heartbeat.hpp"
#include "core/retry/backoff.hpp"
#include "core/seam/tail_fingerprint.hpp"
#include "core/seam/tail_joiner.hpp"
#include "core/seam/watermark.hpp"
#include "core/session/recoverer_states.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::session {

/// By what a lost leg is resumed once content has been delivered (contract § 8, `resume`).
enum class ResumeMode : std::uint8_t {
  Auto,         // the first of the next three that the response showed
  Tidemark,     // the response named a stream; events carry `id: EPOCH-SEQ`
  Seq,          // numbered deltas: X-Resume-Seq and the body fields
  LastEventId,  // the upstream's own event ids
  Tail,         // the request repeated, and what comes back joined on by its text
  None,         // nothing: only a request that has brought no content is repeated
};
/// "auto", "tidemark", "seq", "last-event-id", "tail", "none".
std::string_view name(ResumeMode mode);
std::optional<ResumeMode> resume_mode_from_name(std::string_view name);

struct RecovererOptions {
  unsigned max_retries = 4;  // consecutive attempts without progress
  TimeMs first_retry_delay_ms = 100;
  retry::BackoffOptions backoff;
  TimeMs heartbeat_timeout_ms = 20000;  // from the request on; 0: never judged
  TimeMs max_retry_after_ms = 10000;
  std::optional<dialect::Dialect> dialect;  // nullopt: auto, by the first event
  ResumeMode resume = ResumeMode::Auto;
  std::size_t max_event_bytes = 4u << 20;
  std::uint64_t seed = 0;
};

/// What of a response's head matters here. Empty view: header absent.
struct ResponseFacts {
  int status = 0;
  std::string_view content_type;
  std::string_view tidemark_stream;
  std::string_view tidemark_epoch;
  std::optional<TimeMs> retry_after_ms = std::nullopt;  // what it asks to wait: a date's wall clock is the owner's
  bool should_not_retry = false;                        // `x-should-retry: false`
};

/// Why a leg is lost.
enum class LossCause : std::uint8_t {
  Network,         // a reset, a failed connection, an abort that the page did not ask for
  Status,          // 429, 502, 503, 504, 529
  Heartbeat,       // no byte for heartbeat_timeout_ms
  EndOfStream,     // EOF without a terminal marker
  Hole,            // event numbers are missing
  NotEventStream,  // a retry was answered 2xx with something else
};
/// As `code` of a final error: "network_error", "http_status", "heartbeat_timeout", "stream_interrupted",
/// "sequence_hole", "not_event_stream".
std::string_view code(LossCause cause);

/// How a stream ends that does not fail.
enum class RecoveredEnd : std::uint8_t { Complete, Stopped, Truncated };
std::string_view name(RecoveredEnd end);

/// Send the request (again). Absent resume fields: the request as the page made it.
struct ConnectAction {
  unsigned attempt = 1;                                // counts from 1; every input about this leg names it
  std::optional<seam::Seq> resume_seq = std::nullopt;  // X-Resume-Seq
  std::string_view epoch = {};                         // Tidemark-Epoch; empty: do not send
  std::string_view last_event_id = {};                 // Last-Event-ID; empty: do not send
  bool tail_header = false;                            // X-Tail-Fingerprint
  bool body_fields = false;           // resumeSeq (if there), receivedLength and tailFingerprint go into the JSON body
  std::uint64_t received_length = 0;  // UTF-16 code units
  std::uint64_t tail_fingerprint = 0;
};

/// An event taken, exactly once and in order. Views are valid during the call.
struct EventAction {
  dialect::Kind kind = dialect::Kind::Silence;
  dialect::Finish finish = dialect::Finish::None;
  seam::Seq seq = seam::kNothing;  // the stream's number: EPOCH-SEQ's, the delta's, or counted here; -1: has none
  std::string_view name = {};
  std::string_view data = {};
  std::string_view block = {};     // the bytes as they came, without the closing blank line
  std::string_view line_end = {};  // what closes the block after its last line
  std::string_view text = {};      // answer text
  std::string_view reasoning = {};
  // So much of the text (or of the reasoning, where that is what is joined on), in UTF-16 code units, was delivered
  // before and is left out above; data and block still have it.
  std::uint32_t trimmed = 0;
};

/// How a new leg has been joined on.
enum class SeamKind : std::uint8_t {
  Resumed,   // it went on behind what was delivered
  Trimmed,   // it repeated some of the end
  Replayed,  // it began again, and said the same
};

/// The new leg has been joined on.
struct SeamAction {
  unsigned attempt = 0;
  seam::Seq after_seq = seam::kNothing;  // last event before the seam
  std::uint64_t duplicates = 0;          // events that the new leg sent again, and that were dropped
  SeamKind kind = SeamKind::Resumed;
  std::uint64_t trimmed = 0;  // UTF-16 code units of text that came again and were left out
};

struct RetryAction {
  unsigned attempt = 0;  // of the coming leg
  TimeMs delay_ms = 0;
  LossCause cause = LossCause::Network;
};

struct FinishedAction {
  RecoveredEnd end = RecoveredEnd::Complete;
  std::string_view reason =
      {};  // the proxy's REASON (contract § 3.3), else terminal-marker, end-of-body or client-stop
};

/// The final error. `status` is the last response's, 0 where there was none.
struct FailedAction {
  std::string_view code = {};  // code(LossCause), or: http_status (a final status), stream_interrupted (lost after
                               // content with nothing to resume by), resume_mismatch, seam_refused, event_too_large,
                               // not_event_stream, the code or type of an error event, the proxy's REASON
  std::string_view message = {};
  int status = 0;
  std::optional<TimeMs> retry_after_ms = std::nullopt;
  unsigned attempts = 0;
  bool in_band = false;  // an error event said so, and has been delivered
};

/// Where the machine's orders go, in order. It only records: calling the machine from here is forbidden. A stream ends
/// with exactly one finished() or failed(), or with neither after abort().
class RecovererSink {
 public:
  virtual void connect(const ConnectAction& action) = 0;
  /// Give up the leg `attempt`; what it still says is not listened to.
  virtual void disconnect(unsigned attempt) = 0;
  virtual void state(RecovererState state) = 0;
  virtual void event(const EventAction& action) = 0;
  virtual void seam(const SeamAction& action) = 0;
  virtual void retry(const RetryAction& action) = 0;
  virtual void finished(const FinishedAction& action) = 0;
  virtual void failed(const FailedAction& action) = 0;

 protected:
  ~RecovererSink() = default;
};

/// Usage: start(), then inputs in any order. Inputs about a leg name its attempt; those about another leg than the
/// present one are ignored, as is everything after the end. Call handle_timeout() when next_deadline() has come;
/// earlier or later does no harm.
///
/// Until content (or a finish, a terminal marker, an error) arrives, events are held back, at most kMaxHeldBytes of
/// them: a leg lost till then is repeated from the start, so that a reader sees one preamble, of the answer that it
/// gets. After that nothing is taken back, and a leg is resumed by what the response showed or the stream fails.
class Recoverer {
 public:
  static constexpr std::size_t kMaxHeldBytes = 256u << 10;
  /// Tail: an answer that is longer is not resumed.
  static constexpr std::size_t kMaxTailBytes = 4u << 20;
  /// After the terminal marker the leg may stay open for this long (the proxy's end comment, a trailing [DONE]).
  static constexpr TimeMs kEndGraceMs = 1000;

  Recoverer(const RecovererOptions& options, RecovererSink& sink);

  void start(TimeMs now);
  void handle_response(TimeMs now, unsigned attempt, const ResponseFacts& facts);
  void handle_bytes(TimeMs now, unsigned attempt, std::string_view chunk);
  void handle_end(TimeMs now, unsigned attempt);
  /// A network error, `TypeError: Load failed`, an abort that the page did not ask for.
  void handle_failure(TimeMs now, unsigned attempt, std::string_view message);
  void handle_timeout(TimeMs now);
  /// online, visibilitychange to visible, pageshow: a waiting retry goes out now (a Retry-After is still waited for).
  void wake(TimeMs now);
  void set_hidden(TimeMs now, bool hidden);
  /// The page leaves: no finished() follows.
  void abort(TimeMs now);
  /// The page has stopped the answer: finished(Stopped, client-stop).
  void stop(TimeMs now);

  TimeMs next_deadline() const;
  RecovererState state() const { return state_; }
  unsigned attempts() const { return attempt_; }
  /// What the stream is resumed by, as far as known.
  ResumeMode mode() const { return mode_; }

 private:
  enum class Deadline : std::uint8_t { Retry, EndGrace, Count };
  enum class Leg : std::uint8_t { None, Connecting, Open };
  enum class Verdict : std::uint8_t { Take, Drop, LegOver };

  // Followed by its bytes: the block, then the data where it is joined from several lines, then text and reasoning.
  struct HeldEvent {
    EventAction action;  // of its views only line_end, a constant, lives as long
    std::size_t bytes = 0;
    std::size_t name_at = 0;  // in the bytes
    std::size_t data_at = 0;
  };

  bool concerns(unsigned attempt) const { return leg_ != Leg::None && attempt == attempt_; }
  void move(RecovererSignal signal);
  void connect(TimeMs now);
  void forget_answer();
  void watch_leg(TimeMs now);
  void drop_leg();
  void leg_is_gone();

  void take_event(TimeMs now, const sse::Event& event, const dialect::FrameGuess::Match* known);
  void take_unfinished_event(TimeMs now);
  bool ends_answer(dialect::Dialect dialect, const dialect::Meaning& meaning, bool line_ended) const;
  void take_comment(std::string_view block);
  Verdict place_by_id(TimeMs now, const sse::Event& event, seam::Seq& seq);
  Verdict place_by_meaning(TimeMs now, const sse::Event& event, const dialect::Meaning& meaning, seam::Seq& seq);
  Verdict place_by_upstream_id(const sse::Event& event);
  Verdict place_by_number(TimeMs now, seam::Seq seq, std::string_view text);
  bool fits_unnumbered(dialect::Kind kind) const;
  void learn_mode(const sse::Event& event, const dialect::Meaning& meaning);
  void join(TimeMs now, EventAction action, const dialect::Meaning& meaning, bool commits);
  void take(TimeMs now, const EventAction& action, const dialect::Meaning& meaning);
  void deliver(EventAction action);
  seam::Seq number_of(const dialect::Meaning& meaning) const;
  bool trim(EventAction& action);
  void remember(const EventAction& action);
  void take_error(TimeMs now, const dialect::Meaning& meaning);
  void hold(const EventAction& action);
  void commit();

  bool resumable() const;
  void lose(TimeMs now, LossCause cause, std::string_view message, std::optional<TimeMs> retry_after = std::nullopt);
  TimeMs retry_delay(LossCause cause);
  bool finish_after_answer(bool clean_end);
  void finish(RecoveredEnd end, std::string_view reason);
  void fail(FailedAction action);
  void fail_by_event();
  void fail_mismatch(std::string_view message, std::string_view code = "resume_mismatch");

  RecovererOptions options_;
  RecovererSink& sink_;
  Random random_;
  RecovererState state_ = RecovererState::Handshaking;
  bool hidden_ = false;

  // The leg.
  Leg leg_ = Leg::None;
  unsigned attempt_ = 0;
  int status_ = 0;
  bool resumes_ = false;       // it continues an answer of which something has been delivered
  bool leg_progress_ = false;  // it has brought something new
  std::uint64_t duplicates_ = 0;
  bool replays_ = false;                    // Seq: it began at number 0 again
  seam::Tail replayed_;                     // then: the text of its duplicates
  std::uint64_t skip_ = 0;                  // LastEventId: events without an id that come again after the last id
  std::optional<seam::TailJoiner> joiner_;  // Tail: not joined on yet. Of the text, or of the reasoning if that is all
  std::size_t trim_ = 0;                    // then: bytes that are still to go
  bool joins_reasoning_ = false;
  SeamKind seam_kind_ = SeamKind::Resumed;
  std::uint64_t trimmed_ = 0;
  sse::Parser parser_;
  liveness::Heartbeat heartbeat_;
  liveness::Deadlines<Deadline> deadlines_;
  TimeMs not_before_ = 0;  // a Retry-After
  unsigned failures_ = 0;  // consecutive attempts without progress
  unsigned backoffs_ = 0;  // of them, those that were waited for by backoff

  // The answer so far.
  ResumeMode mode_;  // Auto: not known yet
  std::optional<dialect::Interpreter> interpreter_;
  bool named_stream_ = false;  // by a proxy, which says at the end how it ended
  bool committed_ = false;     // something has been delivered
  std::string held_;           // HeldEvents, one after the other
  std::size_t held_bytes_ = 0;
  seam::Watermark watermark_;             // Tidemark and Seq
  seam::Seq delivered_ = seam::kNothing;  // the last number that was given out
  std::string epoch_;
  std::string first_id_, last_id_;  // LastEventId
  std::uint64_t since_id_ = 0;      // events after last_id_ that had none of their own
  bool ids_repeat_ = false;         // two events in a row had the same id: it names no position
  seam::Tail tail_;                 // Seq and Tail
  std::string text_;                // Tail: what has been delivered
  std::string reasoning_;           // Tail: and before any text
  bool unjoinable_ = false;         // Tail: something has been that is not told by its text, or too much
  bool thinks_ = false;             // Tail: reasoning has followed the text, and no other text that
  bool ends_only_ = false;          // Tail: the finish has been delivered, and only the terminal marker is missing
  bool error_seen_ = false;
  std::string error_code_, error_message_;
  int error_status_ = 0;
};

}  // namespace tidemark::session
