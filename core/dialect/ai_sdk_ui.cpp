// ai-sdk-ui: the AI SDK's UI message stream (x-vercel-ai-ui-message-stream: v1).
#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::ai_sdk_ui {
namespace {

struct Fields {
  JsonString type;
  JsonString id;  // of a text or reasoning block
  JsonString delta;
  JsonString message_id;
  JsonString tool_call_id;
  JsonString finish_reason;
};

void open_block(Answer& answer, Kind kind, const JsonString& id) {
  if constexpr (!kKeepsForEnding) return;
  answer.open_kind = kind;
  answer.open_index = ++answer.last_index;
  answer.open_text_from = answer.text_bytes;
  answer.open_id.clear();
  append_decoded(answer.open_id, id);
}

void close_block(Answer& answer) {
  if constexpr (!kKeepsForEnding) return;
  answer.open_kind = Kind::Silence;
  answer.open_index = -1;
  answer.open_id.clear();
}

// A delta whose block's start was not seen opens it.
void continue_block(Answer& answer, Kind kind, const JsonString& id) {
  if constexpr (!kKeepsForEnding) return;
  if (answer.open_kind != kind || (!id.escaped && answer.open_id != id.raw)) open_block(answer, kind, id);
}

void read_fields(Reading& reading, Fields& fields) {
  JsonReader& json = reading.json;
  for (const Word word : json.members()) {
    switch (word) {
      case Word::Type:
        json.string(fields.type);
        break;
      case Word::Id:
        json.string(fields.id);
        break;
      case Word::Delta:
        json.string(fields.delta);
        break;
      case Word::InputTextDelta:
        reading.skip_varying();
        break;
      case Word::ToolCallId:
        json.string(fields.tool_call_id);
        break;
      case Word::MessageId:
        json.string(fields.message_id);
        break;
      case Word::FinishReasonCamel:
        json.string(fields.finish_reason);
        break;
      case Word::ErrorText:
        json.string(reading.error.message);
        break;
      default:
        reading.take_other(word);
        break;
    }
  }
}

void apply(Reading& reading, Word type, const Fields& fields) {
  Answer& answer = reading.answer;
  if (starts_with(fields.type.raw, "tool-")) reading.tool_fragment = true;
  switch (type) {
    case Word::TextDeltaDashed:
      continue_block(answer, Kind::Text, fields.id);
      return reading.take_text(fields.delta);
    case Word::ReasoningDelta:
      continue_block(answer, Kind::Reasoning, fields.id);
      return reading.take_reasoning(fields.delta);
    case Word::TextStart:
      return open_block(answer, Kind::Text, fields.id);
    case Word::ReasoningStart:
      return open_block(answer, Kind::Reasoning, fields.id);
    case Word::TextEnd:
    case Word::ReasoningEnd:
      return close_block(answer);
    case Word::ToolInputStart:
    case Word::ToolInputDelta:
      return open_tool(answer, tool_key(fields.tool_call_id.raw));
    case Word::ToolInputAvailable:
    case Word::ToolInputError:
      return finish_tool(answer, tool_key(fields.tool_call_id.raw));
    case Word::StartStep:
      answer.step_open = true;
      return;
    case Word::FinishStep:
      answer.step_open = false;
      return;
    case Word::Finish:
      reading.finish = fields.finish_reason ? chat_finish(fields.finish_reason) : Finish::Stop;
      if (reading.finish == Finish::None || reading.finish == Finish::Error) reading.finish = Finish::Other;
      return;
    case Word::Abort:
      reading.finish = Finish::Other;
      return;
    case Word::File:
      reading.wordless = true;
      return;
    default:
      return;
  }
}

OwnEvent typed(std::string_view type) {
  OwnEvent event;
  JsonWriter(event.data).begin_object().field("type", type).end_object();
  return event;
}

OwnEvent for_block(std::string_view type, std::string_view id) {
  OwnEvent event;
  JsonWriter(event.data).begin_object().field("type", type).field("id", id).end_object();
  return event;
}

void end_block(const Answer& answer, OwnEvents& out) {
  if (answer.open_index < 0) return;
  out.push_back(for_block(answer.open_kind == Kind::Reasoning ? "reasoning-end" : "text-end", answer.open_id));
}

}  // namespace

bool read(Reading& reading) {
  if (is_done_marker(reading.event.data)) {
    reading.marker = true;
    return true;
  }
  if (reading.json.type() != JsonType::Object) return false;
  Fields fields;
  read_fields(reading, fields);
  if (!reading.json.at_end()) return false;
  const Word type = word_of(fields.type.raw);
  if (type == Word::Error || word_of(reading.event.name) == Word::Error) reading.is_error = true;
  if (reading.is_error || reading.challenge) return true;
  reading.answer.progress = true;
  if (type == Word::Start) reading.id = fields.message_id;
  apply(reading, type, fields);
  return true;
}

// The older client's schemas are strict: no finishReason, so that a length can't be told.
void end(const Answer& answer, OwnEvents& out) {
  end_block(answer, out);
  if (answer.step_open) out.push_back(typed("finish-step"));
  if (answer.finish == Finish::None) out.push_back(typed("finish"));
  out.push_back({"", "[DONE]"});
}

void promote(const Answer& answer, std::string_view text, OwnEvents& out) {
  end_block(answer, out);
  const std::string id = "text-" + std::to_string(answer.last_index + 1);
  out.push_back(for_block("text-start", id));
  OwnEvent delta;
  JsonWriter(delta.data).begin_object().field("type", "text-delta").field("id", id).field("delta", text).end_object();
  out.push_back(std::move(delta));
}

OwnEvent error(const ErrorFacts& facts) {
  OwnEvent event;
  JsonWriter(event.data).begin_object().field("type", "error").field("errorText", facts.message).end_object();
  return event;
}

}  // namespace tidemark::dialect::ai_sdk_ui
