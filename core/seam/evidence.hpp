// Whether a model's text goes on with an answer, by the text alone: what speaks for a restart, a lead-in or another
// answer (docs/seams.md). Where nothing does, it is a continuation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/seam/boundary.hpp"
#include "core/seam/opening.hpp"

namespace tidemark::seam {

/// Why a continuation is refused.
enum class Refusal : std::uint8_t {
  None,
  Restart,     // it says again what was said
  LeadIn,      // it talks about continuing
  Different,   // it begins another answer
  Divergence,  // it was to repeat what was delivered, and does not
};
std::string_view name(Refusal refusal);

class Evidence {
 public:
  /// What a continuation begins with that was delivered last.
  enum class Overlap : std::uint8_t {
    None,
    Light,    // may be chance: the continuation may well stand where it does
    Trimmed,  // it goes on with the answer, or begins it again where that repeats its beginning
  };

  static constexpr std::size_t kMostBytes = 1024;  // more of a continuation is not looked at

  /// `delivered` must outlive this.
  explicit Evidence(std::string_view delivered);

  /// The verdict over a continuation, of which all is given that there is so far; nullopt while it is open. Once there
  /// is one, more text doesn't change whether it is None. `complete`: no more follows.
  std::optional<Refusal> judge(std::string_view continuation, Overlap overlap, bool complete);

  /// What one kind of evidence says.
  enum class Finding : std::uint8_t { Nothing, Open, Against };

 private:
  Finding restart(std::string_view continuation, const Beginning& beginning, bool complete);
  Finding other_words(std::string_view continuation, const Beginning& beginning, Overlap overlap, bool complete);
  Finding impossible_joint(std::string_view continuation, const Beginning& beginning);
  Finding in_other_words(std::string_view continuation, bool complete, bool in_word);

  bool prose();
  bool in_code_block();

  std::string_view delivered_;
  Place place_;
  Opening opening_;
  std::optional<bool> prose_, in_code_block_;  // once asked for
};

}  // namespace tidemark::seam
