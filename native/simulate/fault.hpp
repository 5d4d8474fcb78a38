// The faults that the simulated upstream shows on cue (contract § 7), and whose turn it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"

namespace tidemark::simulate {

enum class FaultKind : std::uint8_t {
  None,              // answers well
  Status,            // an error status with the dialect's error body
  ConnectReset,      // the connection is reset before a byte of the response
  ResetAfter,        // the connection is reset after `events` events
  EofAfter,          // the body ends properly after `events` events, without a terminal marker
  StallAfter,        // nothing more after `events` events, the connection stays open
  Empty,             // 200 and an empty body
  PreambleOnly,      // 200, the events before content, end of body
  ReasoningOnly,     // 200, reasoning and nothing else, end of body
  ErrorEvent,        // 200, the dialect's error event before content, end of body
  ChallengeJson,     // 200 and a challenge's JSON frame
  ChallengeHtml,     // 200 and a captcha page
  ChallengeHtmlCut,  // the same, cut in the middle
  Silence,           // 200 and nothing, the connection stays open
  PingsOnly,         // 200 and keepalives for ever
  Crlf,              // answers well, lines ended by CRLF
  Split,             // answers well, every byte its own write
};

/// What is wrong with a continuation, before anything else happens to it; a request that continues nothing shows none
/// of it.
enum class SeamFault : std::uint8_t {
  None,                // goes on exactly where the text so far ends
  Overlap,             // begins `overlap` code points earlier
  Echo,                // sends all of the text so far again first, in one piece
  Restart,             // gives the whole answer again
  RestartParaphrased,  // gives it again, in other words
  LeadIn,              // says that it goes on, and then does
  Different,           // gives another answer
  RefusePrefix,        // refuses a request whose last message is the assistant's
};

/// One turn's fault: how the response ends, and what its seam is like.
struct Fault {
  FaultKind kind = FaultKind::None;
  std::size_t events = 0;  // ResetAfter, EofAfter, StallAfter
  int status = 0;          // Status: 400 to 599
  SeamFault seam = SeamFault::None;
  std::size_t overlap = 0;                          // Overlap: code points
  std::optional<int> retry_after_s = std::nullopt;  // Status: what its Retry-After says
};

/// All of them, in words.
std::string_view allowed_faults();

/// One line that names the fault and what is allowed.
using FaultError = std::string;

/// `status=CODE`, `reset-after=N`, `none`, …; one of these and one of the seam's may be joined by a plus:
/// `overlap=20+reset-after=10`. So may a status and its Retry-After: `status=429+retry-after=2`.
Result<Fault, FaultError> parse_fault(std::string_view spec);
/// Comma-separated; spaces around a fault are allowed; an empty list is an error.
Result<std::vector<Fault>, FaultError> parse_faults(std::string_view list);

/// Whose turn it is. A request without a list of its own takes the next of the program's list. A request with one walks
/// through its own list: requests are taken for repetitions of each other when they agree in `identity`; once such a
/// list is used up and one further request was answered well, it is forgotten and would start anew.
class FaultSchedule {
 public:
  explicit FaultSchedule(std::vector<Fault> program);

  Fault next();
  Fault next(const std::string& identity, const std::vector<Fault>& own);
  bool knows(const std::string& identity) const { return by_identity_.count(identity) > 0; }
  /// The identity that begins with `subject` and was used last.
  std::optional<std::string> latest(std::string_view subject) const;

  /// More identities than this are not remembered; the one that was used longest ago is forgotten.
  static constexpr std::size_t kMaxIdentities = 4096;

 private:
  struct Turn {
    std::string identity;
    std::size_t taken = 0;
  };

  std::vector<Fault> program_;
  std::size_t program_taken_ = 0;
  std::list<Turn> turns_;  // most recently used first
  std::unordered_map<std::string, std::list<Turn>::iterator> by_identity_;
};

}  // namespace tidemark::simulate
