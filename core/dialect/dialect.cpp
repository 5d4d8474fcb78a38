// Names, and which dialect a path or a first event belongs to.
#include "core/dialect/dialect.hpp"

#include <array>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_reader.hpp"
#include "core/dialect/words.hpp"

namespace tidemark::dialect {
namespace {

constexpr std::array<Dialect, kDialectCount> kAll = {
    Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::AnthropicMessages, Dialect::Gemini, Dialect::SeqDelta,
    Dialect::AiSdkUi,    Dialect::Opaque};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// What tells the dialects apart, at the top of an event's JSON.
struct Signs {
  JsonString type;
  bool choices = false;
  bool chat_object = false;
  bool candidates = false;
  bool seq = false;
  bool seq_content = false;
  bool error_text = false;
  bool error = false;
  bool sequence_number = false;
};

bool read_signs(std::string_view data, Signs& signs) {
  JsonReader json(data);
  const bool is_object = json.type() == JsonType::Object;
  for (const Word word : json.members()) {
    switch (word) {
      case Word::Type:
        json.string(signs.type);
        continue;
      case Word::Object: {
        const std::string_view object = json.string().raw;
        const Word named = word_of(object);
        signs.chat_object =
            starts_with(object, "chat.completion") || named == Word::TextCompletion || named == Word::Error;
        continue;
      }
      case Word::Seq:
        signs.seq = json.whole_number().has_value();
        continue;
      case Word::Choices:
        signs.choices = true;
        break;
      case Word::Candidates:
      case Word::PromptFeedback:
      case Word::UsageMetadata:
        signs.candidates = true;
        break;
      case Word::Delta:
      case Word::Text:
      case Word::Content:
      case Word::Reasoning:
      case Word::Done:
      case Word::FinishReason:
        signs.seq_content = true;
        break;
      case Word::ErrorText:
        signs.error_text = true;
        break;
      case Word::SequenceNumber:
        signs.sequence_number = true;
        break;
      default:
        break;
    }
    const bool is_null = json.raw() == "null";
    if (word == Word::Error) signs.error = !is_null;
  }
  return is_object && json.at_end();
}

bool is_ui_type(std::string_view type) {
  switch (word_of(type)) {
    case Word::Start:
    case Word::Finish:
    case Word::StartStep:
    case Word::FinishStep:
    case Word::Abort:
    case Word::SourceUrl:
    case Word::SourceDocument:
    case Word::File:
    case Word::MessageMetadata:
      return true;
    default:
      return starts_with(type, "text-") || starts_with(type, "reasoning-") || starts_with(type, "tool-") ||
             starts_with(type, "data-");
  }
}

}  // namespace

std::string_view name(Dialect dialect) {
  switch (dialect) {
    case Dialect::OpenaiChat:
      return "openai-chat";
    case Dialect::OpenaiResponses:
      return "openai-responses";
    case Dialect::AnthropicMessages:
      return "anthropic-messages";
    case Dialect::Gemini:
      return "gemini";
    case Dialect::SeqDelta:
      return "seq-delta";
    case Dialect::AiSdkUi:
      return "ai-sdk-ui";
    case Dialect::Opaque:
      return "opaque";
  }
  return {};
}

std::optional<Dialect> from_name(std::string_view name) {
  for (const Dialect dialect : kAll) {
    if (dialect::name(dialect) == name) return dialect;
  }
  return std::nullopt;
}

std::optional<Dialect> from_path(std::string_view path) {
  path = path.substr(0, path.find_first_of("?#"));
  if (ends_with(path, "/completions")) return Dialect::OpenaiChat;  // /chat/completions, and the older one
  if (ends_with(path, "/responses")) return Dialect::OpenaiResponses;
  if (ends_with(path, "/messages")) return Dialect::AnthropicMessages;
  if (ends_with(path, ":streamGenerateContent")) return Dialect::Gemini;
  return std::nullopt;
}

Dialect from_first_event(const sse::Event& event) {
  if (is_done_marker(event.data)) return Dialect::OpenaiChat;
  Signs signs;
  if (!read_signs(event.data, signs)) return Dialect::Opaque;
  const std::string_view type = signs.type ? signs.type.raw : event.name;
  const Word word = word_of(type);
  if (starts_with(type, "response.") || word == Word::Keepalive) return Dialect::OpenaiResponses;
  if (signs.choices || signs.chat_object) return Dialect::OpenaiChat;
  if (starts_with(type, "message_") || starts_with(type, "content_block_") || word == Word::Ping) {
    return Dialect::AnthropicMessages;
  }
  if (signs.candidates) return Dialect::Gemini;
  if (word == Word::Error) {
    if (signs.error_text) return Dialect::AiSdkUi;
    if (signs.sequence_number) return Dialect::OpenaiResponses;
    if (signs.type && signs.error) return Dialect::AnthropicMessages;
  }
  if (signs.seq && (signs.seq_content || signs.error)) return Dialect::SeqDelta;
  if (signs.type && is_ui_type(type)) return Dialect::AiSdkUi;
  return signs.error ? Dialect::OpenaiChat : Dialect::Opaque;
}

}  // namespace tidemark::dialect
