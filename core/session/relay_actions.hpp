// What goes into the upstream leg's state machine and what comes out: heads and failures; losses, seams, ends, actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "core/dialect/ending.hpp"
#include "core/dialect/kind.hpp"
#include "core/retry/breaker.hpp"
#include "core/seam/form.hpp"
#include "core/seam/watermark.hpp"

namespace tidemark::session {

/// What the bytes of a body are, as handle_bytes() gets them.
enum class BodyCoding : std::uint8_t {
  None,        // what they say
  Readable,    // compressed; what they say comes beside them
  Unreadable,  // compressed, and what they say is not known
};

/// What of an attempt's head matters here. Empty view: header absent. Views need to live during the call only.
struct UpstreamHead {
  int status = 0;
  std::string_view content_type;
  std::string_view retry_after;
  std::string_view retry_after_ms;
  BodyCoding coding = BodyCoding::None;
  std::int64_t unix_now_ms = 0;   // wall clock, for a Retry-After that is a date
  bool challenge_header = false;  // dialect::is_challenge_header() held for one of the headers
  bool own_key = false;           // the attempt went out with one of the upstream's `api_keys`
  bool another_key = false;       // another one of them is usable that no attempt of this stream has gone out with
};

enum class AttemptFailure : std::uint8_t {
  Unreachable,  // no connection: name, TCP or TLS
  Broken,       // the connection was lost, or what came is no HTTP
};

/// Why an attempt did not become the answer, or not all of it.
enum class Loss : std::uint8_t {
  Unreachable,  // no connection, or lost before the head
  Status,       // a status other than 2xx
  Key,          // a status that is the key's fault, while there was another key
  Empty,        // the stream ended without content, holds an event that is too large, or is none at all
  ErrorEvent,   // an error event before content
  Silent,       // no progress in time
  Challenge,
  Cut,  // it broke off after content
};
/// "unreachable", …
std::string_view name(Loss loss);

struct LostAttempt {
  unsigned attempt = 0;
  Loss loss = Loss::Unreachable;
  int status = 0;  // of its head; 0 where there was none
};

inline constexpr std::string_view kJoined = "joined";

/// What became of an attempt that was to go on with a cut answer.
struct SeamRecord {
  unsigned attempt = 0;
  seam::Form form = seam::Form::Prefix;
  seam::Seq at = 0;          // the first event behind the seam, where it was joined
  std::size_t trimmed = 0;   // code points that the client had already
  std::string_view verdict;  // kJoined, "form-refused" by the upstream, name(seam::Refusal), name(Loss), or the owner's
};

/// What let the client's 200 go out.
enum class CommitCause : std::uint8_t {
  None,      // there was no commit
  Content,   // or an empty answer that is the provider's last word
  Progress,  // was held for commit_hold_ms, or filled the hold
  HoldMax,   // hold_max_ms was over
  Stop,      // the client's stop
};
/// "none", "content", …
std::string_view name(CommitCause cause);

enum class EndState : std::uint8_t { Complete, Stopped, Truncated, Failed };
/// "complete", …
std::string_view name(EndState state);

/// Contract § 3.3.
enum class EndReason : std::uint8_t {
  TerminalMarker,
  EndOfBody,
  ClientStop,
  SynthesizedStop,
  PromotedReasoning,
  UpstreamError,
  UpstreamEmpty,
  UpstreamTimeout,
  UpstreamChallenge,
  OpenToolCall,
  SeamRefused,
  LogLimit,
  Shutdown,
};
/// "terminal-marker", …
std::string_view name(EndReason reason);
std::optional<EndState> end_state_from_name(std::string_view name);
std::optional<EndReason> end_reason_from_name(std::string_view name);

/// The answer to the client where there is no commit: status, and what dialect::error_body() needs.
struct RelayError {
  int status = 502;
  std::string type;
  std::string code;
  std::string message;
  std::optional<int> retry_after_s;  // 1 to 59; goes out as Retry-After and retry-after-ms

  dialect::ErrorFacts facts() const {
    return {.status = status,
            .type = type,
            .code = code,
            .message = message,
            .retry_after_s = retry_after_s,
            .request_id = {}};
  }
};

struct RelayAction {
  enum class Kind : std::uint8_t {
    SendAttempt,  // send the request (again) as `attempt`, or with a `form` one for the rest of the answer: say
                  // set_continuation() or handle_form_refused(); if the breaker forbids it, handle_paused()
    CutAttempt,   // drop `attempt`, which is still running; inputs about it are ignored from now on
    KeyVerdict,   // the status of `attempt` is the upstream's word on the key; `bytes`: what is there of the body
    FormVerdict,  // the upstream has refused `attempt`, perhaps for its `form`; `bytes`: what is there of the body
    Outcome,      // `outcome` of `attempt` for the breaker; exactly once for every attempt sent
    Commit,       // the client's 200 goes out; with the headers of `attempt`, or of none where it is 0
    Append,       // one event, `bytes`, as `seq`; only after Commit
    PassThrough,  // final: hand on the head of `attempt`, then `bytes`, then, unless `whole`, the rest of its body
    Refuse,       // final: answer with error()
    End,          // final: `state` and `reason`; the attempt, if still running, has only its EOF left to come
  };
  Kind kind = Kind::SendAttempt;
  unsigned attempt = 0;            // counts from 1
  std::optional<seam::Form> form;  // SendAttempt, FormVerdict
  seam::Seq seq = 0;
  std::size_t at = 0;  // bytes: see Relay::bytes()
  std::size_t size = 0;
  bool whole = false;
  dialect::Kind meaning = dialect::Kind::Silence;  // Append: what the event says
  std::optional<TimeMs> retry_after;               // KeyVerdict: how long the head asks to wait
  retry::Outcome outcome = retry::Outcome::Neutral;
  EndState state = EndState::Complete;
  EndReason reason = EndReason::TerminalMarker;
};

}  // namespace tidemark::session
