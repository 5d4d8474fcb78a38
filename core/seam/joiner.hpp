// One seam, from a continuation's first content event until it is decided: what of its beginning is not delivered
// again, and whether it is a continuation at all (contract § 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/seam/continuer.hpp"
#include "core/seam/overlap_trimmer.hpp"

namespace tidemark::seam {

struct JoinOptions {
  Continuer continuer = Continuer::Model;
  std::uint32_t overlap_min = 12;
  /// White space at the end of what was delivered that the continuing model was not shown, in bytes.
  std::size_t stripped_bytes = 0;
};

/// Why a continuation is refused.
enum class Refusal : std::uint8_t {
  None,
  Restart,     // it says again what was said
  LeadIn,      // it talks about continuing
  Different,   // it begins another answer
  Divergence,  // it was to repeat what was delivered, and does not
};
std::string_view name(Refusal refusal);

/// Content is offered event by event until a decision: Join or Refuse.
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
  bool decided() const { return decided_; }

 private:
  Decision decide();
  std::size_t stripped_again() const;

  std::string_view stripped_;
  OverlapTrimmer trimmer_;
  std::string offered_;
  std::size_t trim_bytes_ = 0;
  bool decided_ = false;
};

}  // namespace tidemark::seam
