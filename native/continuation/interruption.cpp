// Quoting the tail of an answer, and asking for the rest.
#include "native/continuation/interruption.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"
#include "native/continuation/white_space.hpp"

namespace tidemark::continuation {
namespace {

constexpr std::size_t kLeast = 60;
constexpr std::size_t kUsual = 80;
constexpr std::size_t kMost = 100;
constexpr std::size_t kMaxSpaceAfter = 32;

/// Where the last `count` code points of the text begin; 0 where there are not as many.
std::size_t back(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  while (at > 0 && count > 0) {
    --at;
    if (!is_continuation(text[at])) --count;
  }
  return at;
}

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string_view quotable_tail(std::string_view text) {
  const std::size_t space = space_at_end(text);
  const std::string_view words = text.substr(0, text.size() - space);
  if (space > kMaxSpaceAfter) text = words;
  const std::size_t first = back(words, kMost);
  if (first == 0) return text;
  const std::size_t last = back(words, kLeast);
  const std::size_t gap = words.find_first_of(" \t\r\n", first);
  if (gap < last) return text.substr(words.find_first_not_of(" \t\r\n", gap));
  return text.substr(back(words, kUsual));
}

std::string interruption_notice(std::string_view text) {
  const std::string_view tail = quotable_tail(text);
  const bool whole = tail.data() == text.data();
  const std::string fence(longest_run_of_backticks(tail) + 1, '`');
  // Between fences, a backtick at the edge is set off by a space (CommonMark § 6.1).
  const bool set_off = (whole && !tail.empty() && tail.front() == '`') || (!tail.empty() && tail.back() == '`');
  const std::string_view edge = set_off ? " " : "";
  std::string notice = "Your previous response was interrupted and ended with ";
  notice.append(fence).append(edge).append(whole ? "" : "…").append(tail).append(edge).append(fence);
  notice.append(
      ". Continue from where you left off. Write only what comes after the quoted text, from its very next character "
      "on: no introduction, no remark about the interruption, nothing that you have already written, and no new "
      "beginning. Keep to the same language and format; if it broke off inside a sentence, list, table or code block, "
      "go straight on inside it.");
  return notice;
}

}  // namespace tidemark::continuation
