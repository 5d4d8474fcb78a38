// The forms in which a cut answer is continued (contract § 5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::seam {

enum class Form : std::uint8_t {
  Reattach,      // the provider's own resume
  Prefix,        // the text so far as the last assistant message
  ContinueTurn,  // a user turn that quotes the tail and asks to go on
};
inline constexpr std::array<std::string_view, 3> kFormNames{"reattach", "prefix", "continue-turn"};

/// "reattach", "prefix", "continue-turn".
constexpr std::string_view name(Form form) { return kFormNames[static_cast<std::size_t>(form)]; }

constexpr std::optional<Form> form_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kFormNames.size(); ++i) {
    if (kFormNames[i] == name) return static_cast<Form>(i);
  }
  return std::nullopt;
}

}  // namespace tidemark::seam
