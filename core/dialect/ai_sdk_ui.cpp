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
  answer.open_kind = kind;
  answer.open_index = ++answer.last_index;
  answer.open_text_from = answer.text_bytes;
  answer.open_id.clear();
  append_decoded(answer.open_id, id);
}

void close_block(Answer& answer) {
  answer.open_kind = Kind::Silence;
  answer.open_index = -1;
  answer.open_id.clear();
}

// A delta whose block's start was not seen opens it.
void continue_block(Answer& answer, Kind kind, const JsonString& id) {
  if (answer.open_kind != kind || (!id.escaped && answer.open_id != id.raw)) open_block(answer, kind, id);
}

void apply_tool(Reading& reading, std::string_view type, const JsonString& call) {
  reading.tool_fragment = true;
  const std::uint64_t key = tool_key(call.raw);
  if (is(type, "tool-input-start") || is(type, "tool-input-delta")) {
    open_tool(reading.answer, key);
  } else if (is(type, "tool-input-available") || is(type, "tool-input-error")) {
    finish_tool(reading.answer, key);
  }
}

Fields read_fields(Reading& reading) {
  JsonReader& json = reading.json;
  Fields fields;
  json.object([&](std::string_view key) {
    if (is(key, "type")) {
      fields.type = json.string();
    } else if (is(key, "id")) {
      fields.id = json.string();
    } else if (is(key, "delta")) {
      fields.delta = json.string();
    } else if (is(key, "inputTextDelta")) {
      reading.skip_varying();
    } else if (is(key, "toolCallId")) {
      fields.tool_call_id = json.string();
    } else if (is(key, "messageId")) {
      fields.message_id = json.string();
    } else if (is(key, "finishReason")) {
      fields.finish_reason = json.string();
    } else if (is(key, "errorText")) {
      reading.error.message = json.string();
    } else {
      reading.take_other(key);
    }
  });
  return fields;
}

void apply(Reading& reading, const Fields& fields) {
  Answer& answer = reading.answer;
  const std::string_view type = fields.type.raw;
  if (is(type, "text-delta")) {
    continue_block(answer, Kind::Text, fields.id);
    reading.take_text(fields.delta);
  } else if (is(type, "reasoning-delta")) {
    continue_block(answer, Kind::Reasoning, fields.id);
    reading.take_reasoning(fields.delta);
  } else if (is(type, "text-start")) {
    open_block(answer, Kind::Text, fields.id);
  } else if (is(type, "reasoning-start")) {
    open_block(answer, Kind::Reasoning, fields.id);
  } else if (is(type, "text-end") || is(type, "reasoning-end")) {
    close_block(answer);
  } else if (starts_with(type, "tool-")) {
    apply_tool(reading, type, fields.tool_call_id);
  } else if (is(type, "start-step")) {
    answer.step_open = true;
  } else if (is(type, "finish-step")) {
    answer.step_open = false;
  } else if (is(type, "finish")) {
    reading.finish = fields.finish_reason ? chat_finish(fields.finish_reason) : Finish::Stop;
    if (reading.finish == Finish::None || reading.finish == Finish::Error) reading.finish = Finish::Other;
  } else if (is(type, "abort")) {
    reading.finish = Finish::Other;
  } else if (is(type, "file")) {
    reading.wordless = true;
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
  const Fields fields = read_fields(reading);
  if (!reading.json.at_end()) return false;
  if (is(fields.type.raw, "error") || is(reading.event.name, "error")) reading.is_error = true;
  if (reading.is_error || reading.challenge) return true;
  reading.answer.progress = true;
  if (is(fields.type.raw, "start")) reading.id = fields.message_id;
  apply(reading, fields);
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
