// The overlap at a seam as the contract says it, by trying every length: quadratic, and plain to see.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/seam/overlap_trimmer.hpp"

namespace tidemark::seam::test {

inline bool begins_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

inline std::size_t slow_overlap(std::string_view delivered, std::string_view continuation) {
  for (std::size_t n = std::min(delivered.size(), continuation.size()); n > 0; --n) {
    const bool whole =
        begins_code_point(continuation[0]) && (n == continuation.size() || begins_code_point(continuation[n]));
    if (whole && delivered.substr(delivered.size() - n) == continuation.substr(0, n)) return n;
  }
  return 0;
}

/// A trimmer that looks at everything again at every event.
struct SlowTrimmer {
  std::string delivered;
  Continuer continuer;
  std::uint32_t overlap_min;

  bool counts(std::string_view overlap) const {
    return continuer == Continuer::SameGeneration || weight(overlap) >= overlap_min;
  }

  /// What is dropped from the front of `events`, joined. Only the first three with text are looked at.
  std::size_t trim(const std::vector<std::string>& events) const {
    std::string joined;
    int with_text = 0;
    for (const std::string& text : events) {
      if (!text.empty() && ++with_text <= OverlapTrimmer::kMaxEvents) joined += text;
    }
    const std::size_t bytes = slow_overlap(delivered, joined);
    return counts(std::string_view(joined).substr(0, bytes)) ? bytes : 0;
  }

  /// Whether some text after `offered` would make more of it be dropped than `offered` alone.
  bool may_trim_more(std::string_view offered) const {
    if (offered.empty()) return true;
    if (!begins_code_point(offered[0])) return false;
    for (std::size_t at = 0; at + offered.size() < delivered.size(); ++at) {
      const std::string_view suffix = std::string_view(delivered).substr(at);
      if (suffix.substr(0, offered.size()) == offered && counts(suffix)) return true;
    }
    return false;
  }
};

}  // namespace tidemark::seam::test
