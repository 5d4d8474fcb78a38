// What Tidemark itself says in a dialect: proper endings, error events and error bodies (contract § 4.2, § 4.5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/dialect.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect {

/// An event made here, not yet framed.
struct OwnEvent {
  std::string name;  // empty: no event line
  std::string data;
};

/// How a cut answer that could not be continued is ended (`truncated_finish`).
enum class FinishStyle : std::uint8_t { Stop, Length, Error };

/// The dialect's own ending for an answer that broke off: every open block closed, usage kept, the terminal marker
/// last; legal for the official SDK of the dialect. With FinishStyle::Error the error event instead of an ending, and
/// so too where no ending would be legal: without answer.progress, and for a tool call that is open (a caller has an
/// error of its own to tell then). A finish reason that has been given is not given again, nor is
/// usage. `answer_text`: all of the
/// answer's text, refusal text included (answer.text_bytes bytes); openai-responses repeats it, the others ignore it.
/// Opaque streams have no ending: the list is empty.
std::vector<OwnEvent> ending(Dialect dialect, const Answer& answer, FinishStyle style, std::string_view answer_text);

/// Reasoning delivered as text (contract § 4.5): the events that carry `text` as answer text after a reasoning-only
/// answer; open reasoning blocks are closed first and the text block is left open for ending(). Updates `answer` as
/// interpreting these events would. Empty for opaque, which knows no reasoning.
/// Precondition: answer.progress, `text` not empty.
std::vector<OwnEvent> promote_reasoning(Dialect dialect, Answer& answer, std::string_view text);

/// An error as Tidemark tells it.
struct ErrorFacts {
  int status = 502;       // for a body; an event has none
  std::string_view type;  // OpenAI shape: "upstream_error", …; Anthropic shape: "api_error", …
  std::string_view code;  // OpenAI shape only
  std::string_view message;
  std::optional<int> retry_after_s;  // 1 to 59
  std::string_view request_id;       // Anthropic shape only
};

/// The error event that goes out after the commit. Legal as the next event after `answer`, also after none.
OwnEvent error_event(Dialect dialect, const Answer& answer, const ErrorFacts& facts);

/// Whether an error that an upstream sent is the dialect's own error event already: one that the official SDKs take for
/// an error and that tells what went wrong, legal as the next event after `answer` (openai-responses: with its id and
/// the next number). Other shapes are silently passed over by them, or taken for an answer. Opaque streams know none.
bool is_error_event(Dialect dialect, const Answer& answer, const sse::Event& event);

/// The JSON body of an error response (contract § 4.2).
std::string error_body(Dialect dialect, const ErrorFacts& facts);

/// The keepalive that the dialect's clients ignore: a comment, or `event: ping` for anthropic-messages; framed bytes.
std::string_view keepalive(Dialect dialect);

}  // namespace tidemark::dialect
