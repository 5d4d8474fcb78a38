// Choosing what is said by dialect, and the error shapes that several share.
#include "core/dialect/ending.hpp"

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect {
namespace {

// {"error":{"message","type","code","param":null,"retry_after":N}}
std::string openai_error(const ErrorFacts& facts) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("error").begin_object().field("message", facts.message).field("type", facts.type);
  facts.code.empty() ? json.raw_field("code", "null") : json.field("code", facts.code);
  json.raw_field("param", "null");
  if (facts.retry_after_s) json.number_field("retry_after", static_cast<std::uint64_t>(*facts.retry_after_s));
  json.end_object().end_object();
  return body;
}

// {"type":"error","error":{"type","message","retry_after":N},"request_id"}
std::string anthropic_error(const ErrorFacts& facts) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().field("type", "error").key("error").begin_object();
  json.field("type", facts.type).field("message", facts.message);
  if (facts.retry_after_s) json.number_field("retry_after", static_cast<std::uint64_t>(*facts.retry_after_s));
  json.end_object();
  facts.request_id.empty() ? json.raw_field("request_id", "null") : json.field("request_id", facts.request_id);
  json.end_object();
  return body;
}

// What makes an error event, wherever it stands.
struct ErrorShape {
  JsonString type;
  JsonString error_text;  // ai-sdk-ui
  JsonString error_type;
  JsonString error_message;
  JsonString response_id;
  JsonString response_error_message;
  std::optional<std::uint64_t> sequence;
};

// The next value is an error, or none.
void read_error(JsonReader& json, JsonString& message, JsonString& type) {
  for (const Word key : json.members()) {
    if (key == Word::Message) {
      json.string(message);
    } else if (key == Word::Type) {
      json.string(type);
    } else {
      json.skip();
    }
  }
}

void read_response(JsonReader& json, ErrorShape& shape) {
  JsonString type;
  for (const Word key : json.members()) {
    if (key == Word::Id) {
      json.string(shape.response_id);
    } else if (key == Word::Error) {
      read_error(json, shape.response_error_message, type);
    } else {
      json.skip();
    }
  }
}

bool read_error_shape(std::string_view data, ErrorShape& shape) {
  JsonReader json(data);
  if (json.type() != JsonType::Object) return false;
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Type:
        json.string(shape.type);
        break;
      case Word::ErrorText:
        json.string(shape.error_text);
        break;
      case Word::Error:
        read_error(json, shape.error_message, shape.error_type);
        break;
      case Word::Response:
        read_response(json, shape);
        break;
      case Word::SequenceNumber:
        shape.sequence = json.whole_number();
        break;
      default:
        json.skip();
        break;
    }
  }
  return json.at_end();
}

bool goes_on_from(const Answer& answer, const ErrorShape& shape) {
  if (answer.sequence && shape.sequence != *answer.sequence + 1) return false;
  return answer.id.empty() || shape.response_id.raw == answer.id;
}

ErrorFacts broken_off(Dialect dialect) {
  ErrorFacts facts;
  facts.type = dialect == Dialect::AnthropicMessages ? "api_error" : "upstream_error";
  facts.code = "upstream_truncated";
  facts.message = "The upstream's answer broke off before its end.";
  return facts;
}

}  // namespace

std::vector<OwnEvent> ending(Dialect dialect, const Answer& answer, FinishStyle style, std::string_view answer_text) {
  OwnEvents out;
  if (style == FinishStyle::Error || (dialect != Dialect::Opaque && (!answer.progress || answer.tool_open))) {
    out.push_back(error_event(dialect, answer, broken_off(dialect)));
    return out;
  }
  switch (dialect) {
    case Dialect::OpenaiChat:
      openai_chat::end(answer, style, out);
      break;
    case Dialect::OpenaiResponses:
      openai_responses::end(answer, style, answer_text, out);
      break;
    case Dialect::AnthropicMessages:
      anthropic_messages::end(answer, style, out);
      break;
    case Dialect::Gemini:
      gemini::end(answer, style, out);
      break;
    case Dialect::SeqDelta:
      seq_delta::end(answer, style, out);
      break;
    case Dialect::AiSdkUi:
      ai_sdk_ui::end(answer, out);
      break;
    case Dialect::Opaque:
      break;
  }
  return out;
}

std::vector<OwnEvent> promote_reasoning(Dialect dialect, Answer& answer, std::string_view text) {
  OwnEvents out;
  switch (dialect) {
    case Dialect::OpenaiChat:
      openai_chat::promote(answer, text, out);
      break;
    case Dialect::OpenaiResponses:
      openai_responses::promote(answer, text, out);
      break;
    case Dialect::AnthropicMessages:
      anthropic_messages::promote(answer, text, out);
      break;
    case Dialect::Gemini:
      gemini::promote(answer, text, out);
      break;
    case Dialect::SeqDelta:
      seq_delta::promote(answer, text, out);
      break;
    case Dialect::AiSdkUi:
      ai_sdk_ui::promote(answer, text, out);
      break;
    case Dialect::Opaque:
      break;
  }
  Interpreter reader(dialect, std::move(answer));
  for (const OwnEvent& own : out) {
    sse::Event event;
    event.name = own.name;
    event.data = own.data;
    reader.interpret(event);
  }
  answer = reader.answer();
  return out;
}

OwnEvent error_event(Dialect dialect, const Answer& answer, const ErrorFacts& facts) {
  switch (dialect) {
    case Dialect::OpenaiResponses:
      return openai_responses::error(answer, facts);
    case Dialect::AnthropicMessages:
      return {"error", anthropic_error(facts)};
    case Dialect::Gemini:
      return gemini::error(facts);
    case Dialect::AiSdkUi:
      return ai_sdk_ui::error(facts);
    case Dialect::OpenaiChat:
    case Dialect::SeqDelta:
      return {"", openai_error(facts)};
    case Dialect::Opaque:
      break;
  }
  return {"error", openai_error(facts)};
}

bool is_error_event(Dialect dialect, const Answer& answer, const sse::Event& event) {
  ErrorShape shape;
  if (dialect == Dialect::Opaque || !read_error_shape(event.data, shape)) return false;
  const Word type = word_of(shape.type.raw);
  switch (dialect) {
    case Dialect::OpenaiResponses:
      return type == Word::ResponseFailed && (event.name.empty() || event.name == shape.type.raw) &&
             !shape.response_error_message.raw.empty() && goes_on_from(answer, shape);
    case Dialect::AnthropicMessages:
      return word_of(event.name) == Word::Error && type == Word::Error && !shape.error_type.raw.empty() &&
             !shape.error_message.raw.empty();
    case Dialect::AiSdkUi:
      return type == Word::Error && !shape.error_text.raw.empty();
    case Dialect::OpenaiChat:
    case Dialect::Gemini:
    case Dialect::SeqDelta:
      return !shape.error_message.raw.empty();
    case Dialect::Opaque:
      break;
  }
  return false;
}

std::string error_body(Dialect dialect, const ErrorFacts& facts) {
  return dialect == Dialect::AnthropicMessages ? anthropic_error(facts) : openai_error(facts);
}

std::string_view keepalive(Dialect dialect) {
  if (dialect == Dialect::AnthropicMessages) return "event: ping\ndata: {\"type\":\"ping\"}\n\n";
  return ": keepalive\n\n";
}

}  // namespace tidemark::dialect
