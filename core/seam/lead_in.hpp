// Continuations that talk about continuing ("Sure, here is the rest:"), greet, or refuse, where the answer should go
// on.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/seam/boundary.hpp"

namespace tidemark::seam {

enum class LeadIn : std::uint8_t {
  None,
  Open,     // it may become one
  Talk,     // it talks about going on
  Another,  // it begins another conversation: a greeting, an apology, a refusal
};

/// `continuation`: from its beginning, as much as there is. Once None, Talk or Another, it stays so.
///
/// Only set phrases count, at the very start and up to their end: what is quoted, begins with white space or in lower
/// case is none. A phrase that may well stand in an answer counts only where `place` lets nothing begin.
LeadIn lead_in_of(std::string_view continuation, Place place);

}  // namespace tidemark::seam
