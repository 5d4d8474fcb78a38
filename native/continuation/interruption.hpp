// The user turn that asks a model to go on where its answer broke off.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::continuation {

/// The end of a text that is worth quoting: 60 to 100 code points, from the beginning of a word where there is one
/// among them, or all of a text that is not longer. White space at the end of the text comes on top, if it is short.
std::string_view quotable_tail(std::string_view text);

/// What the user turn says; quotes the tail between as many backticks as keep it apart from those inside.
std::string interruption_notice(std::string_view text);

}  // namespace tidemark::continuation
