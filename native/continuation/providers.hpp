// What is known of the providers: how each takes an assistant message to go on with, and which refuse one.
#pragma once

#include <string>
#include <string_view>

#include "core/dialect/dialect.hpp"
#include "native/config/config.hpp"

namespace tidemark::continuation {

/// How an upstream takes a prefix for one of its models.
struct PrefixManner {
  bool refused = false;  // it is answered with an error, or read as a finished turn
  config::PrefixStyle style = config::PrefixStyle::Trailing;
  bool echo = false;                 // the answer begins with the prefix
  bool beta_path = false;            // only under /beta
  bool strips = false;               // it must not end in white space
  bool never_thinking = false;       // refused with a thinking mode that the request asks for
  bool never_after_thought = false;  // refused where the answer began with reasoning as well
};

/// By the table, with `prefix_style` and `prefix_echo` of the configuration put in its place.
PrefixManner prefix_manner(const config::Upstream& upstream, dialect::Dialect dialect, std::string_view model);

/// ASCII letters folded.
std::string lower_case(std::string_view text);

/// A Claude model, by any of its names: claude-opus-4-6, anthropic/claude-sonnet-4.6,
/// us.anthropic.claude-3-5-sonnet-20241022-v2:0, claude-sonnet-4@20250514.
enum class Claude : std::uint8_t {
  No,
  TakesPrefix,    // 4.5 and older
  RefusesPrefix,  // 4.6 and newer, and names without a number
};
Claude claude_of(std::string_view model);

/// A request's whole path with /beta in front of the API's own part, its version left out.
std::string under_beta(std::string_view path);

}  // namespace tidemark::continuation
