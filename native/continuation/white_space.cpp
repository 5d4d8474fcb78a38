// White space, code point by code point from the end.
#include "native/continuation/white_space.hpp"

#include "core/base/utf8.hpp"
#include "core/seam/letters.hpp"

namespace tidemark::continuation {
std::size_t space_at_end(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && end - begin < 4 && is_continuation(text[begin])) --begin;
    std::size_t length = 0;
    if (!seam::is_white(decode_at(text.substr(0, end), begin, length)) || begin + length != end) break;
    end = begin;
  }
  return text.size() - end;
}

}  // namespace tidemark::continuation
