// White space at the end of a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace tidemark::continuation {

/// How many bytes at the end of the text are white space (Unicode's White_Space).
std::size_t space_at_end(std::string_view text);

}  // namespace tidemark::continuation
