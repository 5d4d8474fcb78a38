// One seam, from a continuation's first content event until it is decided: what of its beginning is not delivered
// again, and whether it is a continuation at all (contract § 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/seam/continuer.hpp"
#include "core/seam/evidence.hpp"
#include "core/seam/overlap_trimmer.hpp"
#include "core/seam/replay.hpp"

namespace tidemark::seam {

struct JoinOptions {
  Continuer continuer = Continuer::Model;
  std::uint32_t overlap_min = 12;
  /// White space at the end of what was delivered that the continuing model was not shown, in bytes.
  std::size_t stripped_bytes = 0;
};

/// Content is offered event by event until a decision: Join or Refuse. Where a model continues, an overlap may come in
/// more than three events: as long as all of it stands in what was delivered it is waited for (a provider's tokens are
/// a few letters each); but where it turns out to be all that was delivered, the answer has been started again. What is
/// held never exceeds OverlapTrimmer::kWindowBytes, or Evidence::kMostBytes beyond three events, and one event more.
class Joiner {
 public:
  /// `delivered`: all of the answer's text that the reader has; it must outlive the joiner.
  Joiner(std::string_view delivered, const JoinOptions& options);

  enum class Step : std::uint8_t {
    Hold,    // keep this event
    Drop,    // this event and all that are held were delivered before: drop them
    Join,    // decided: of all text offered since the last Drop, joined, trim_bytes go, and the rest is delivered
    Refuse,  // decided: no continuation
  };
  struct Decision {
    Step step = Step::Hold;
    std::size_t trim_bytes = 0;
    Refusal why = Refusal::None;
  };
  /// A content event's text. Empty text is held and changes nothing. Once joined: {Join, 0}, pass it on.
  Decision offer(std::string_view text);
  /// The attempt ended before a decision: decides with what there is.
  Decision finish();
  bool decided() const { return phase_ == Phase::Joined || phase_ == Phase::Refused; }

 private:
  enum class Phase : std::uint8_t {
    Replay,   // an echo of all that the model was shown is expected
    White,    // the echo is over; white space that the model was not shown may follow
    Overlap,  // the first events of a continuation
    Judge,    // no overlap: is it a continuation?
    Joined,
    Refused,
  };
  Decision replay(std::string_view text);
  Decision overlap(bool complete);
  Decision white();
  Decision judge(bool complete);
  bool is_habit(std::size_t bytes) const;
  enum class Repeats : std::uint8_t { No, SoFar, AllOfIt };
  Repeats repeats_short_answer(std::string_view body) const;
  void keep(std::string_view text);
  void match_white(std::string_view text);
  Decision drop();
  Decision join(std::size_t trim_bytes);
  Decision refuse(Refusal why);

  std::string_view delivered_;
  std::string_view stripped_;  // the end of it that the model was not shown
  JoinOptions options_;
  Phase phase_;
  Replay replay_;
  OverlapTrimmer trimmer_;
  std::optional<Evidence> evidence_;
  Evidence::Overlap overlap_ = Evidence::Overlap::None;
  // Since the last Drop:
  std::string head_;             // the continuation (after an echo), up to Evidence::kMostBytes
  std::size_t offered_ = 0;      // bytes
  std::size_t echo_bytes_ = 0;   // of these, the echo's
  std::size_t white_bytes_ = 0;  // after that, those of stripped_ that come again
  // Since the beginning:
  std::size_t white_at_ = 0;    // how much of stripped_ has come again
  bool white_open_ = true;      // nothing else has
  std::size_t trim_bytes_ = 0;  // of the overlap, once the trimmer has decided
  std::size_t early_trim_ = 0;  // of the overlap of three events
  int events_ = 0;              // with text, that the trimmer has been offered
  bool echoes_ = false;         // more has been repeated than chance would
  Refusal why_ = Refusal::None;
};

}  // namespace tidemark::seam
