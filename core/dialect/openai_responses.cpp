// openai-responses: reading the Responses API's typed, numbered events. What is said in it:
// openai_responses_ending.cpp.
#include <algorithm>
#include <array>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::openai_responses {
namespace {

enum class Type {
  Other,  // progress: created, in_progress, *.done of text, annotations, the searching of hosted tools
  TextDelta,
  RefusalDelta,
  ReasoningDelta,
  ToolDelta,
  ToolDone,
  ItemAdded,
  ItemDone,
  PartAdded,
  PartDone,
  Completed,
  Incomplete,
  Cancelled,
  Failed,
  Error,
  Keepalive,
};

struct TypeName {
  std::string_view name;
  Type type;
};

constexpr std::array kTypes = {
    TypeName{"response.output_text.delta", Type::TextDelta},
    TypeName{"response.reasoning_summary_text.delta", Type::ReasoningDelta},
    TypeName{"response.reasoning_text.delta", Type::ReasoningDelta},
    TypeName{"response.reasoning.delta", Type::ReasoningDelta},
    TypeName{"response.function_call_arguments.delta", Type::ToolDelta},
    TypeName{"response.custom_tool_call_input.delta", Type::ToolDelta},
    TypeName{"response.mcp_call_arguments.delta", Type::ToolDelta},
    TypeName{"response.code_interpreter_call_code.delta", Type::ToolDelta},
    TypeName{"response.function_call_arguments.done", Type::ToolDone},
    TypeName{"response.custom_tool_call_input.done", Type::ToolDone},
    TypeName{"response.refusal.delta", Type::RefusalDelta},
    TypeName{"response.output_item.added", Type::ItemAdded},
    TypeName{"response.output_item.done", Type::ItemDone},
    TypeName{"response.content_part.added", Type::PartAdded},
    TypeName{"response.content_part.done", Type::PartDone},
    TypeName{"response.completed", Type::Completed},
    TypeName{"response.done", Type::Completed},
    TypeName{"response.incomplete", Type::Incomplete},
    TypeName{"response.cancelled", Type::Cancelled},
    TypeName{"response.failed", Type::Failed},
    TypeName{"error", Type::Error},
    TypeName{"keepalive", Type::Keepalive},
    TypeName{"ping", Type::Keepalive},
};

Type type_from(std::string_view name) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& entry) { return entry.name == name; });
  return found == kTypes.end() ? Type::Other : found->type;
}

struct Item {
  std::string_view json;
  JsonString id;
  JsonString type;
};

struct Fields {
  JsonString type;
  JsonString delta;
  JsonString part_type;
  JsonString incomplete_reason;
  std::uint64_t output_index = 0;
  std::uint64_t content_index = 0;
  Item item;
  ErrorFields flat_error;
};

// function_call, custom_tool_call, mcp_call, web_search_call, …
Kind item_kind(std::string_view type) {
  if (is(type, "message")) return Kind::Text;
  if (is(type, "reasoning")) return Kind::Reasoning;
  constexpr std::string_view kCall = "_call";
  if (type.size() > kCall.size() && type.substr(type.size() - kCall.size()) == kCall) return Kind::ToolFragment;
  return Kind::Progress;
}

Item read_item(JsonReader& json) {
  Item item;
  JsonReader inside = json;
  inside.object([&](std::string_view key) {
    if (is(key, "id")) {
      item.id = inside.string();
    } else if (is(key, "type")) {
      item.type = inside.string();
    } else {
      inside.skip();
    }
  });
  item.json = json.raw();
  return item;
}

void read_response(Reading& reading, Fields& fields) {
  JsonReader& json = reading.json;
  json.object([&](std::string_view key) {
    if (is(key, "id")) {
      reading.id = json.string();
    } else if (is(key, "model")) {
      reading.model = json.string();
    } else if (is(key, "created_at")) {
      reading.created = json.whole_number().value_or(0);
    } else if (is(key, "usage")) {
      reading.take_usage();
    } else if (is(key, "error")) {
      reading.take_error();
    } else if (is(key, "incomplete_details")) {
      json.object([&](std::string_view inner) {
        if (!is(inner, "reason")) return json.skip();
        fields.incomplete_reason = json.string();
      });
    } else {
      json.skip();
    }
  });
}

bool read_fields(Reading& reading, Fields& fields) {
  JsonReader& json = reading.json;
  const bool is_object = json.object([&](std::string_view key) {
    if (is(key, "type")) {
      fields.type = json.string();
    } else if (is(key, "sequence_number")) {
      reading.take_sequence();
    } else if (is(key, "delta")) {
      fields.delta = json.string();
    } else if (is(key, "output_index")) {
      fields.output_index = json.whole_number().value_or(0);
    } else if (is(key, "content_index")) {
      fields.content_index = json.whole_number().value_or(0);
    } else if (is(key, "item_id")) {
      reading.skip_varying();  // GitHub Copilot gives another one with each event
    } else if (is(key, "item")) {
      fields.item = read_item(json);
    } else if (is(key, "part")) {
      json.object([&](std::string_view inner) {
        if (!is(inner, "type")) return json.skip();
        fields.part_type = json.string();
      });
    } else if (is(key, "response")) {
      read_response(reading, fields);
    } else if (is(key, "message") || is(key, "code")) {
      std::swap(fields.flat_error, reading.error);
      reading.take_error_member(key);
      std::swap(fields.flat_error, reading.error);
    } else {
      reading.take_other(key);
    }
  });
  return is_object && json.at_end();
}

int as_index(std::uint64_t index) { return static_cast<int>(std::min<std::uint64_t>(index, 1u << 20)); }

void open_item(Answer& answer, std::uint64_t index, Kind kind) {
  answer.open_index = as_index(index);
  answer.last_index = std::max(answer.last_index, answer.open_index);
  answer.open_content_index = -1;
  answer.open_kind = kind;
  answer.open_text_from = answer.text_bytes;
}

void add_item(Reading& reading, const Fields& fields) {
  const Kind kind = item_kind(fields.item.type.raw);
  open_item(reading.answer, fields.output_index, kind);
  reading.answer.open_id.clear();
  append_decoded(reading.answer.open_id, fields.item.id);
  if (kind != Kind::ToolFragment) return;
  reading.tool_fragment = true;
  open_tool(reading.answer, fields.output_index);
}

void keep_item(Answer& answer, std::string_view item) {
  if (item.empty() || answer.output_left_out) return;
  if (answer.output_json.size() + 1 + item.size() > Answer::kMaxOutput) {
    answer.output_json.clear();
    answer.output_left_out = true;
    return;
  }
  if (!answer.output_json.empty()) answer.output_json += ',';
  answer.output_json += item;
}

void finish_item(Reading& reading, const Fields& fields) {
  Answer& answer = reading.answer;
  if (item_kind(fields.item.type.raw) == Kind::ToolFragment) {
    reading.tool_fragment = true;
    finish_tool(answer, fields.output_index);
  }
  if (answer.open_index == as_index(fields.output_index)) {
    answer.open_index = answer.open_content_index = -1;
    answer.open_kind = Kind::Silence;
    answer.open_id.clear();
  }
  answer.last_index = std::max(answer.last_index, as_index(fields.output_index));
  keep_item(answer, fields.item.json);
}

void open_part(Answer& answer, const Fields& fields, Kind kind) {
  if (answer.open_index != as_index(fields.output_index)) open_item(answer, fields.output_index, kind);
  answer.open_content_index = as_index(fields.content_index);
  answer.open_kind = kind;
  answer.open_text_from = answer.text_bytes;
}

void add_text(Reading& reading, const Fields& fields, Kind kind) {
  Answer& answer = reading.answer;
  const bool known = answer.open_index == as_index(fields.output_index) &&
                     answer.open_content_index == as_index(fields.content_index) && answer.open_kind == kind;
  if (!known) open_part(answer, fields, kind);
  kind == Kind::Refusal ? reading.take_refusal(fields.delta) : reading.take_text(fields.delta);
}

Finish incomplete_finish(std::string_view reason) {
  if (is(reason, "max_output_tokens")) return Finish::Length;
  if (is(reason, "content_filter")) return Finish::ContentFilter;
  return Finish::Other;
}

void apply(Reading& reading, Type type, const Fields& fields) {
  Answer& answer = reading.answer;
  switch (type) {
    case Type::TextDelta:
      add_text(reading, fields, Kind::Text);
      break;
    case Type::RefusalDelta:
      add_text(reading, fields, Kind::Refusal);
      break;
    case Type::ReasoningDelta:
      answer.last_index = std::max(answer.last_index, as_index(fields.output_index));
      reading.take_reasoning(fields.delta);
      break;
    case Type::ToolDelta:
      reading.tool_fragment = true;
      if (fields.delta) reading.skip_varying(fields.delta);
      open_tool(answer, fields.output_index);
      break;
    case Type::ToolDone:
      reading.tool_fragment = true;
      finish_tool(answer, fields.output_index);
      break;
    case Type::ItemAdded:
      add_item(reading, fields);
      break;
    case Type::ItemDone:
      finish_item(reading, fields);
      break;
    case Type::PartAdded:
      if (is(fields.part_type.raw, "output_text")) open_part(answer, fields, Kind::Text);
      if (is(fields.part_type.raw, "refusal")) open_part(answer, fields, Kind::Refusal);
      break;
    case Type::PartDone:
      answer.open_content_index = -1;
      break;
    case Type::Completed:
      reading.marker = true;
      reading.finish = answer.refusal && !answer.text ? Finish::Refusal : Finish::Stop;
      break;
    case Type::Incomplete:
      reading.marker = true;
      reading.finish = incomplete_finish(fields.incomplete_reason.raw);
      break;
    case Type::Cancelled:
      reading.marker = true;
      reading.finish = Finish::Other;
      break;
    case Type::Keepalive:
      reading.silent = true;
      break;
    case Type::Other:
    case Type::Failed:
    case Type::Error:
      break;
  }
}

}  // namespace

bool read(Reading& reading) {
  if (is_done_marker(reading.event.data)) {  // not the API's own, but some servers'
    reading.marker = true;
    return true;
  }
  Fields fields;
  if (!read_fields(reading, fields)) return false;
  const Type type = type_from(fields.type ? fields.type.raw : reading.event.name);
  if (type == Type::Error && !reading.is_error) reading.error = fields.flat_error;
  if (type == Type::Error || type == Type::Failed) reading.is_error = true;
  if (reading.is_error || reading.challenge) return true;
  if (type != Type::Keepalive) reading.answer.progress = true;
  apply(reading, type, fields);
  return true;
}

}  // namespace tidemark::dialect::openai_responses
