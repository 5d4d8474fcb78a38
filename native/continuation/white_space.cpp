// White space, code point by code point from the end.
#include "native/continuation/white_space.hpp"

#include "core/base/utf8.hpp"

namespace tidemark::continuation {
namespace {

bool is_white_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace

std::size_t space_at_end(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && end - begin < 4 && is_continuation(text[begin])) --begin;
    std::size_t length = 0;
    if (!is_white_space(decode_at(text.substr(0, end), begin, length)) || begin + length != end) break;
    end = begin;
  }
  return text.size() - end;
}

}  // namespace tidemark::continuation
