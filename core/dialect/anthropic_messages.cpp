// anthropic-messages: the Messages API's stream of blocks.
#include <algorithm>
#include <limits>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::anthropic_messages {
namespace {

struct Block {
  JsonString type;
  JsonString text;
  JsonString thinking;
};

struct Delta {
  JsonString type;
  JsonString text;
  JsonString thinking;
  JsonString partial_json;
  JsonString stop_reason;
};

struct Fields {
  JsonString type;
  std::optional<std::uint64_t> index;
  Block block;
  Delta delta;
};

Finish finish_from(std::string_view reason) {
  if (reason.empty()) return Finish::None;
  if (is(reason, "end_turn") || is(reason, "stop_sequence")) return Finish::Stop;
  if (is(reason, "max_tokens") || is(reason, "model_context_window_exceeded")) return Finish::Length;
  if (is(reason, "tool_use")) return Finish::ToolCalls;
  if (is(reason, "refusal")) return Finish::Refusal;
  return Finish::Other;  // pause_turn
}

// tool_use, server_tool_use, mcp_tool_use
Kind block_kind(std::string_view type) {
  if (is(type, "text")) return Kind::Text;
  if (is(type, "thinking") || is(type, "redacted_thinking")) return Kind::Reasoning;
  constexpr std::string_view kToolUse = "tool_use";
  if (type.size() >= kToolUse.size() && type.substr(type.size() - kToolUse.size()) == kToolUse)
    return Kind::ToolFragment;
  return Kind::Progress;
}

void read_message(Reading& reading) {
  JsonReader& json = reading.json;
  json.object([&](std::string_view key) {
    if (is(key, "id")) {
      reading.id = json.string();
    } else if (is(key, "model")) {
      reading.model = json.string();
    } else if (is(key, "usage")) {
      reading.take_usage();
    } else {
      json.skip();
    }
  });
}

Block read_block(JsonReader& json) {
  Block block;
  json.object([&](std::string_view key) {
    if (is(key, "type")) {
      block.type = json.string();
    } else if (is(key, "text")) {
      block.text = json.string();
    } else if (is(key, "thinking")) {
      block.thinking = json.string();
    } else {
      json.skip();
    }
  });
  return block;
}

Delta read_delta(JsonReader& json) {
  Delta delta;
  json.object([&](std::string_view key) {
    if (is(key, "type")) {
      delta.type = json.string();
    } else if (is(key, "text")) {
      delta.text = json.string();
    } else if (is(key, "thinking")) {
      delta.thinking = json.string();
    } else if (is(key, "partial_json")) {
      delta.partial_json = json.string();
    } else if (is(key, "stop_reason")) {
      delta.stop_reason = json.string();
    } else {
      json.skip();
    }
  });
  return delta;
}

int as_index(std::uint64_t index) { return static_cast<int>(std::min<std::uint64_t>(index, 1u << 20)); }

void open_block(Answer& answer, std::uint64_t index, Kind kind) {
  answer.open_index = as_index(index);
  answer.last_index = std::max(answer.last_index, answer.open_index);
  answer.open_kind = kind;
  answer.open_text_from = answer.text_bytes;
  if (kind == Kind::ToolFragment) open_tool(answer, index);
}

void start_block(Reading& reading, std::uint64_t index, const Block& block) {
  const Kind kind = block_kind(block.type.raw);
  open_block(reading.answer, index, kind);
  if (kind == Kind::ToolFragment) reading.tool_fragment = true;
  reading.take_text(block.text);
  reading.take_reasoning(block.thinking);
}

void apply_delta(Reading& reading, std::uint64_t index, const Delta& delta) {
  Kind kind = Kind::Progress;  // signature_delta, citations_delta
  if (is(delta.type.raw, "text_delta")) {
    kind = Kind::Text;
    reading.take_text(delta.text);
  } else if (is(delta.type.raw, "thinking_delta")) {
    kind = Kind::Reasoning;
    reading.take_reasoning(delta.thinking);
  } else if (is(delta.type.raw, "input_json_delta")) {
    kind = Kind::ToolFragment;
    reading.tool_fragment = true;
    if (delta.partial_json) reading.skip_varying(delta.partial_json);
  }
  if (reading.answer.open_index != as_index(index) && kind != Kind::Progress) open_block(reading.answer, index, kind);
}

void stop_block(Answer& answer, std::uint64_t index) {
  if (answer.open_kind == Kind::ToolFragment && answer.open_index == as_index(index)) finish_tool(answer, index);
  answer.open_index = -1;
  answer.open_kind = Kind::Silence;
}

void end_block(int index, OwnEvents& out) {
  std::string data;
  JsonWriter(data)
      .begin_object()
      .field("type", "content_block_stop")
      .number_field("index", static_cast<std::uint64_t>(index))
      .end_object();
  out.push_back({"content_block_stop", std::move(data)});
}

}  // namespace

bool read(Reading& reading) {
  if (is_done_marker(reading.event.data)) {  // added by some proxies; says nothing here
    reading.silent = true;
    return true;
  }
  JsonReader& json = reading.json;
  Fields fields;
  const bool is_object = json.object([&](std::string_view key) {
    if (is(key, "type")) {
      fields.type = json.string();
    } else if (is(key, "index")) {
      fields.index = json.whole_number();
    } else if (is(key, "delta")) {
      fields.delta = read_delta(json);
    } else if (is(key, "content_block")) {
      fields.block = read_block(json);
    } else if (is(key, "message")) {
      json.type() == JsonType::String ? reading.take_error_member(key) : read_message(reading);
    } else if (is(key, "usage")) {
      reading.take_usage();
    } else {
      reading.take_other(key);
    }
  });
  if (!is_object || !json.at_end()) return false;

  const std::string_view type = fields.type ? fields.type.raw : reading.event.name;
  const std::uint64_t index = fields.index.value_or(0);
  if (is(type, "error")) reading.is_error = true;
  if (reading.is_error || reading.challenge) return true;
  if (is(type, "content_block_delta")) {
    apply_delta(reading, index, fields.delta);
  } else if (is(type, "content_block_start")) {
    start_block(reading, index, fields.block);
  } else if (is(type, "content_block_stop")) {
    stop_block(reading.answer, index);
  } else if (is(type, "message_start")) {
    reading.answer.progress = true;
  } else if (is(type, "message_delta")) {
    reading.finish = finish_from(fields.delta.stop_reason.raw);
  } else if (is(type, "message_stop")) {
    reading.marker = true;
  } else if (is(type, "ping")) {
    reading.silent = true;
  }
  return true;
}

void end(const Answer& answer, FinishStyle style, OwnEvents& out) {
  if (answer.open_index >= 0) end_block(answer.open_index, out);
  if (answer.finish == Finish::None) {
    std::string data;
    JsonWriter json(data);
    json.begin_object()
        .field("type", "message_delta")
        .key("delta")
        .begin_object()
        .field("stop_reason", style == FinishStyle::Length ? "max_tokens" : "end_turn")
        .raw_field("stop_sequence", "null")
        .end_object()
        .raw_field("usage", answer.usage_json.empty() ? R"({"output_tokens":0})" : answer.usage_json)
        .end_object();
    out.push_back({"message_delta", std::move(data)});
  }
  out.push_back({"message_stop", R"({"type":"message_stop"})"});
}

void promote(const Answer& answer, std::string_view text, OwnEvents& out) {
  if (answer.open_index >= 0) end_block(answer.open_index, out);
  const std::uint64_t index = static_cast<std::uint64_t>(answer.last_index) + 1;
  std::string start;
  JsonWriter(start)
      .begin_object()
      .field("type", "content_block_start")
      .number_field("index", index)
      .key("content_block")
      .begin_object()
      .field("type", "text")
      .field("text", "")
      .end_object()
      .end_object();
  out.push_back({"content_block_start", std::move(start)});
  std::string delta;
  JsonWriter(delta)
      .begin_object()
      .field("type", "content_block_delta")
      .number_field("index", index)
      .key("delta")
      .begin_object()
      .field("type", "text_delta")
      .field("text", text)
      .end_object()
      .end_object();
  out.push_back({"content_block_delta", std::move(delta)});
}

}  // namespace tidemark::dialect::anthropic_messages
