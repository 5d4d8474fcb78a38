// The dialects of the model APIs: their names, and how a request or a first event tells which one is spoken.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/sse/parser.hpp"

namespace tidemark::dialect {

enum class Dialect : std::uint8_t {
  OpenaiChat,         // POST …/chat/completions
  OpenaiResponses,    // POST …/responses
  AnthropicMessages,  // POST …/messages
  Gemini,             // POST …:streamGenerateContent
  SeqDelta,           // Tidemark's own plain form: numbered deltas, resumable (docs/dialects.md)
  AiSdkUi,            // the AI SDK's UI message stream
  Opaque,             // any other event stream: every event with data is content, EOF is its end
};
inline constexpr int kDialectCount = 7;

/// "openai-chat", … as in the contract's § 2.1.
std::string_view name(Dialect dialect);
std::optional<Dialect> from_name(std::string_view name);

/// By a request's path (a query is ignored). nullopt where only the first events can tell.
std::optional<Dialect> from_path(std::string_view path);

/// By the first event of a response that has data; Opaque where nothing is recognised. A bare error object or [DONE] is
/// taken for openai-chat, a challenge for opaque (whose interpreter knows it too).
Dialect from_first_event(const sse::Event& event);

}  // namespace tidemark::dialect
