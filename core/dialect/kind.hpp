// What an event can be, in any dialect.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::dialect {

/// The strongest thing that an event says. Contract § 4: Text to Finish are content, Progress is progress, Silence is
/// silence.
enum class Kind : std::uint8_t {
  Silence,       // ping, keepalive, empty data
  Progress,      // a valid event of the dialect without content
  Text,          // answer text
  Reasoning,     // reasoning (thinking) text
  Refusal,       // refusal text
  ToolFragment,  // a piece of a tool call
  Finish,        // a finish reason and no text
  Terminal,      // the provider's terminal marker ([DONE], response.completed, message_stop, …) and nothing else
  Error,         // the dialect's error event, also flat and malformed shapes seen in the wild
  Challenge,     // an upstream's refusal dressed as an answer (contract § 4.1)
  Malformed,     // data that is not what the dialect allows (broken JSON); handed on, counts as progress
};
std::string_view name(Kind kind);
constexpr bool is_content(Kind k) {
  return k == Kind::Text || k == Kind::Reasoning || k == Kind::Refusal || k == Kind::ToolFragment;
}

enum class Finish : std::uint8_t { None, Stop, Length, ToolCalls, ContentFilter, Refusal, Error, Other };
std::string_view name(Finish finish);

}  // namespace tidemark::dialect
