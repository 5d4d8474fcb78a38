// anthropic-messages: the Messages API's stream of blocks.
#include <algorithm>
#include <limits>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::anthropic_messages {
namespace {

struct Part {
  JsonString type;
  JsonString text;
  JsonString thinking;
  JsonString partial_json;
  JsonString stop_reason;
};

struct Fields {
  JsonString type;
  std::uint64_t index = 0;
  Part block;
  Part delta;
};

Finish finish_from(std::string_view reason) {
  if (reason.empty()) return Finish::None;
  switch (word_of(reason)) {
    case Word::EndTurn:
    case Word::StopSequence:
      return Finish::Stop;
    case Word::MaxTokens:
    case Word::ModelContextWindowExceeded:
      return Finish::Length;
    case Word::ToolUse:
      return Finish::ToolCalls;
    case Word::Refusal:
      return Finish::Refusal;
    default:
      return Finish::Other;  // pause_turn
  }
}

// tool_use, server_tool_use, mcp_tool_use
Kind block_kind(std::string_view type) {
  const Word word = word_of(type);
  if (word == Word::Text) return Kind::Text;
  if (word == Word::Thinking || word == Word::RedactedThinking) return Kind::Reasoning;
  constexpr std::string_view kToolUse = "tool_use";
  if (type.size() >= kToolUse.size() && type.substr(type.size() - kToolUse.size()) == kToolUse)
    return Kind::ToolFragment;
  return Kind::Progress;
}

void read_message(Reading& reading) {
  JsonReader& json = reading.json;
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Id:
        json.string(reading.id);
        break;
      case Word::Model:
        json.string(reading.model);
        break;
      case Word::Usage:
        reading.take_usage();
        break;
      default:
        json.skip();
        break;
    }
  }
}

// A delta, or a block at its beginning.
void read_part(JsonReader& json, Part& part) {
  part = {};
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Type:
        json.string(part.type);
        break;
      case Word::Text:
        json.string(part.text);
        break;
      case Word::Thinking:
        json.string(part.thinking);
        break;
      case Word::PartialJson:
        json.string(part.partial_json);
        break;
      case Word::StopReason:
        json.string(part.stop_reason);
        break;
      default:
        json.skip();
        break;
    }
  }
}

int as_index(std::uint64_t index) { return static_cast<int>(std::min<std::uint64_t>(index, 1u << 20)); }

void open_block(Answer& answer, std::uint64_t index, Kind kind) {
  if constexpr (!kKeepsForEnding) return;
  answer.open_index = as_index(index);
  answer.last_index = std::max(answer.last_index, answer.open_index);
  answer.open_kind = kind;
  answer.open_text_from = answer.text_bytes;
  if (kind == Kind::ToolFragment) open_tool(answer, index);
}

void start_block(Reading& reading, std::uint64_t index, const Part& block) {
  const Kind kind = block_kind(block.type.raw);
  open_block(reading.answer, index, kind);
  if (kind == Kind::ToolFragment) reading.tool_fragment = true;
  reading.take_text(block.text);
  reading.take_reasoning(block.thinking);
}

void apply_delta(Reading& reading, std::uint64_t index, const Part& delta) {
  Kind kind = Kind::Progress;  // signature_delta, citations_delta
  const Word type = word_of(delta.type.raw);
  if (type == Word::TextDelta) {
    kind = Kind::Text;
    reading.take_text(delta.text);
  } else if (type == Word::ThinkingDelta) {
    kind = Kind::Reasoning;
    reading.take_reasoning(delta.thinking);
  } else if (type == Word::InputJsonDelta) {
    kind = Kind::ToolFragment;
    reading.tool_fragment = true;
    if (delta.partial_json) reading.skip_varying(delta.partial_json);
  }
  const bool unseen = kKeepsForEnding && reading.answer.open_index != as_index(index);
  if (unseen && kind != Kind::Progress) open_block(reading.answer, index, kind);
}

void stop_block(Answer& answer, std::uint64_t index) {
  if constexpr (!kKeepsForEnding) return;
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
  const bool is_object = json.type() == JsonType::Object;
  for (const Word word : json.members()) {
    switch (word) {
      case Word::Type:
        json.string(fields.type);
        break;
      case Word::Index:
        kKeepsForEnding ? void(fields.index = json.count()) : json.skip();
        break;
      case Word::Delta:
        read_part(json, fields.delta);
        break;
      case Word::ContentBlock:
        read_part(json, fields.block);
        break;
      case Word::Message:
        json.type() == JsonType::String ? reading.take_error_member(word) : read_message(reading);
        break;
      case Word::Usage:
        reading.take_usage();
        break;
      default:
        reading.take_other(word);
        break;
    }
  }
  if (!is_object || !json.at_end()) return false;

  const Word type = word_of(fields.type ? fields.type.raw : reading.event.name);
  if (type == Word::Error) reading.is_error = true;
  if (reading.is_error || reading.challenge) return true;
  switch (type) {
    case Word::ContentBlockDelta:
      apply_delta(reading, fields.index, fields.delta);
      break;
    case Word::ContentBlockStart:
      start_block(reading, fields.index, fields.block);
      break;
    case Word::ContentBlockStop:
      stop_block(reading.answer, fields.index);
      break;
    case Word::MessageStart:
      reading.answer.progress = true;
      break;
    case Word::MessageDelta:
      reading.finish = finish_from(fields.delta.stop_reason.raw);
      break;
    case Word::MessageStop:
      reading.marker = true;
      break;
    case Word::Ping:
      reading.silent = true;
      break;
    default:
      break;
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
