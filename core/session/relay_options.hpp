// What the upstream leg's state machine is told once: how long it waits, how often it tries, and its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "core/dialect/ending.hpp"
#include "core/retry/backoff.hpp"
#include "core/seam/form.hpp"

namespace tidemark::session {

struct RelayOptions {
  std::optional<dialect::Dialect> dialect;  // nullopt: by the first event; until then errors have the OpenAI shape
  /// The request asks for a stream (contract § 2.2). Where it does not, hold_max_ms and first_byte_timeout_ms run from
  /// the head of an event stream on, and until then only what the upstream cannot have acted upon is repeated: no
  /// connection, a refused key.
  bool expects_stream = true;
  /// With expects_stream, or where the client has named its request: an event stream of no known dialect may be asked
  /// for again too.
  bool repeatable = true;
  std::string epoch;                     // as in `id: EPOCH-SEQ`
  unsigned stream_empty_retry_max = 1;   // further attempts after an empty, error-only or silent one
  TimeMs first_byte_timeout_ms = 30000;  // 0: never
  TimeMs commit_hold_ms = 2000;          // from an attempt's first progress to the commit
  TimeMs hold_max_ms = 25000;            // from start() to the commit
  TimeMs idle_timeout_ms = 60000;        // between events other than pings; 0: never
  /// How long the client waits for a head (X-Stainless-Timeout); 0: not known. Shortens hold_max_ms to four fifths of
  /// it, and before the commit no retry is waited for that would go out later.
  TimeMs client_timeout_ms = 0;
  unsigned attempts = 3;  // `retry.attempts`: how many attempts may fail to connect or with a passing status, in all
  retry::BackoffOptions backoff{250, 1.8, 400, 8000};
  dialect::FinishStyle truncated_finish = dialect::FinishStyle::Stop;
  std::size_t max_event_bytes = 4u << 20;  // a larger event fails the attempt
  /// Framed bytes of all events but the ending's, for which the log needs some room more; 0: no limit.
  std::uint64_t max_stream_bytes = 16777216;
  /// How an answer that breaks off after content may be continued, in order of preference (contract § 5).
  std::vector<seam::Form> continuation;
  /// Texts that give a challenge away beside those known, in a body that is looked at or the data of an event before
  /// content; nullptr: none. Outlives the relay.
  const std::vector<std::string>* challenge_patterns = nullptr;
  std::uint64_t seed = 0;  // for the jitter
};

/// As much progress as is held before the commit; more of it commits. What opens a block, an item or a part of the
/// answer is held within the same bounds until content comes, so that another attempt may begin with another one.
inline constexpr std::size_t kMaxHeldBytes = 64u << 10;
inline constexpr unsigned kMaxHeldEvents = 16;
/// The longest wait that an upstream may ask for and still be waited for; a response that asks for more is handed on.
inline constexpr TimeMs kMaxRetryAfterMs = 59000;
/// After the terminal marker: how long EOF is waited for.
inline constexpr TimeMs kDrainMs = 250;
/// So many seams at most: each time the answer's beginning is paid for again.
inline constexpr unsigned kMaxSeams = 16;

}  // namespace tidemark::session
