// The seven dialects' own parts, one source file each; interpreter.cpp and ending.cpp choose among them.
//
// read():    what an event holds, and whether it is valid; brings blocks and tool calls of the answer up to date.
// end():     appends the events of a proper ending. Precondition: answer.progress, no open tool call, style not Error.
// promote(): appends the events that carry `text` as answer text after reasoning.
// error():   the error event.
#pragma once

#include <string_view>
#include <vector>

#include "core/dialect/ending.hpp"
#include "core/dialect/reading.hpp"

namespace tidemark::dialect {

using OwnEvents = std::vector<OwnEvent>;

namespace openai_chat {
bool read(Reading& reading);
void end(const Answer& answer, FinishStyle style, OwnEvents& out);
void promote(const Answer& answer, std::string_view text, OwnEvents& out);
}  // namespace openai_chat

namespace openai_responses {
bool read(Reading& reading);
void end(const Answer& answer, FinishStyle style, std::string_view answer_text, OwnEvents& out);
void promote(const Answer& answer, std::string_view text, OwnEvents& out);
OwnEvent error(const Answer& answer, const ErrorFacts& facts);
/// Closes the item that is open, if it is a message or reasoning, as completed. Brings the answer up to date.
void close_item(Answer& answer, std::string_view answer_text, OwnEvents& out);
/// `items`, finished and joined by commas; where some were too large to keep, or none was told, a message with all of
/// the text instead.
std::string output_or_text(std::string items, const Answer& answer, std::string_view status, std::string_view text);
}  // namespace openai_responses

namespace anthropic_messages {
bool read(Reading& reading);
void end(const Answer& answer, FinishStyle style, OwnEvents& out);
void promote(const Answer& answer, std::string_view text, OwnEvents& out);
}  // namespace anthropic_messages

namespace gemini {
bool read(Reading& reading);
void end(const Answer& answer, FinishStyle style, OwnEvents& out);
void promote(const Answer& answer, std::string_view text, OwnEvents& out);
OwnEvent error(const ErrorFacts& facts);
}  // namespace gemini

namespace seq_delta {
bool read(Reading& reading);
void end(const Answer& answer, FinishStyle style, OwnEvents& out);
void promote(const Answer& answer, std::string_view text, OwnEvents& out);
}  // namespace seq_delta

namespace ai_sdk_ui {
bool read(Reading& reading);
void end(const Answer& answer, OwnEvents& out);
void promote(const Answer& answer, std::string_view text, OwnEvents& out);
OwnEvent error(const ErrorFacts& facts);
}  // namespace ai_sdk_ui

namespace opaque {
bool read(Reading& reading);
}  // namespace opaque

/// Data that is the terminal marker of several dialects; what follows it is not looked at, as in OpenAI's Python SDK.
inline bool is_done_marker(std::string_view data) { return starts_with(data, "[DONE]"); }

/// "stop" or "length". Precondition: style is not Error.
constexpr std::string_view chat_finish_name(FinishStyle style) {
  return style == FinishStyle::Length ? "length" : "stop";
}

}  // namespace tidemark::dialect
