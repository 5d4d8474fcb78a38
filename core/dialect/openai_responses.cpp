// openai-responses: reading the Responses API's typed, numbered events. What is said in it:
// openai_responses_ending.cpp.
#include <algorithm>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::openai_responses {
namespace {

struct Item {
  std::string_view json;
  JsonString id;
  JsonString type;
};

struct Fields {
  JsonString type;
  JsonString delta;
  JsonString part_type;
  std::string_view part;  // as it stands
  JsonString incomplete_reason;
  std::uint64_t output_index = 0;
  std::uint64_t content_index = 0;
  Item item;
  ErrorFields flat_error;
};

// function_call, custom_tool_call, mcp_call, web_search_call, …
Kind item_kind(std::string_view type) {
  const Word word = word_of(type);
  if (word == Word::Message) return Kind::Text;
  if (word == Word::Reasoning) return Kind::Reasoning;
  constexpr std::string_view kCall = "_call";
  if (type.size() > kCall.size() && type.substr(type.size() - kCall.size()) == kCall) return Kind::ToolFragment;
  return Kind::Progress;
}

void read_item(JsonReader& json, Item& item) {
  item = {};
  JsonReader inside = json;
  for (const Word key : inside.members()) {
    switch (key) {
      case Word::Id:
        inside.string(item.id);
        break;
      case Word::Type:
        inside.string(item.type);
        break;
      default:
        inside.skip();
        break;
    }
  }
  item.json = json.raw();
}

void read_part(JsonReader& json, Fields& fields) {
  if constexpr (!kKeepsForEnding) return json.skip();
  JsonReader whole = json;
  for (const Word inner : json.members()) inner == Word::Type ? json.string(fields.part_type) : json.skip();
  fields.part = whole.raw();
}

void read_response(Reading& reading, Fields& fields) {
  JsonReader& json = reading.json;
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Id:
        json.string(reading.id);
        break;
      case Word::Model:
        json.string(reading.model);
        break;
      case Word::CreatedAt:
        reading.created = json.count();
        break;
      case Word::Usage:
        reading.take_usage();
        break;
      case Word::Error:
        reading.take_error();
        break;
      case Word::IncompleteDetails:
        for (const Word inner : json.members()) {
          inner == Word::Reason ? json.string(fields.incomplete_reason) : json.skip();
        }
        break;
      default:
        json.skip();
        break;
    }
  }
}

bool read_fields(Reading& reading, Fields& fields) {
  JsonReader& json = reading.json;
  const bool is_object = json.type() == JsonType::Object;
  for (const Word word : json.members()) {
    switch (word) {
      case Word::Type:
        json.string(fields.type);
        break;
      case Word::SequenceNumber:
        reading.take_sequence();
        break;
      case Word::Delta:
        json.string(fields.delta);
        break;
      case Word::OutputIndex:
        kKeepsForEnding ? void(fields.output_index = json.count()) : json.skip();
        break;
      case Word::ContentIndex:
        kKeepsForEnding ? void(fields.content_index = json.count()) : json.skip();
        break;
      case Word::ItemId:
        reading.skip_varying();
        break;  // GitHub Copilot gives another one with each event
      case Word::Item:
        read_item(json, fields.item);
        break;
      case Word::Part:
        read_part(json, fields);
        break;
      case Word::Response:
        read_response(reading, fields);
        break;
      case Word::Message:
      case Word::Code:
        reading.take_flat_error_member(word, fields.flat_error);
        break;
      default:
        reading.take_other(word);
        break;
    }
  }
  return is_object && json.at_end();
}

int as_index(std::uint64_t index) { return static_cast<int>(std::min<std::uint64_t>(index, 1u << 20)); }

void open_item(Answer& answer, std::uint64_t index, Kind kind) {
  if constexpr (!kKeepsForEnding) return;
  answer.open_index = as_index(index);
  answer.last_index = std::max(answer.last_index, answer.open_index);
  answer.open_content_index = -1;
  answer.open_kind = kind;
  answer.open_text_from = answer.text_bytes;
  answer.open_text_done = false;
  answer.open_parts_json.clear();
}

void add_item(Reading& reading, const Fields& fields) {
  const Kind kind = item_kind(fields.item.type.raw);
  open_item(reading.answer, fields.output_index, kind);
  if constexpr (kKeepsForEnding) {
    reading.answer.open_id.clear();
    append_decoded(reading.answer.open_id, fields.item.id);
  }
  if (kind != Kind::ToolFragment) return;
  reading.tool_fragment = true;
  open_tool(reading.answer, fields.output_index);
}

void keep_item(Answer& answer, std::string_view item) {
  if constexpr (!kKeepsForEnding) return;
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
  if constexpr (!kKeepsForEnding) return;
  if (answer.open_index == as_index(fields.output_index)) {
    answer.open_index = answer.open_content_index = -1;
    answer.open_kind = Kind::Silence;
    answer.open_id.clear();
    answer.open_parts_json.clear();
  }
  answer.last_index = std::max(answer.last_index, as_index(fields.output_index));
  keep_item(answer, fields.item.json);
}

void open_part(Answer& answer, const Fields& fields, Kind kind) {
  if constexpr (!kKeepsForEnding) return;
  if (answer.open_index != as_index(fields.output_index)) open_item(answer, fields.output_index, kind);
  answer.open_content_index = as_index(fields.content_index);
  answer.open_kind = kind;
  answer.open_text_from = answer.text_bytes;
  answer.open_text_done = false;
}

void finish_part(Answer& answer, const Fields& fields) {
  if constexpr (!kKeepsForEnding) return;
  answer.open_content_index = -1;
  answer.open_text_done = false;
  std::string& parts = answer.open_parts_json;
  if (answer.open_index != as_index(fields.output_index) || fields.part.empty()) return;
  if (parts.size() + 1 + fields.part.size() > Answer::kMaxOutput) return parts.clear();
  if (!parts.empty()) parts += ',';
  parts += fields.part;
}

// Told by no word of its own: only an ending asks.
void finish_text(Answer& answer, const Fields& fields) {
  if constexpr (!kKeepsForEnding) return;
  const std::string_view type = fields.type.raw;
  if (type != "response.output_text.done" && type != "response.refusal.done") return;
  if (answer.open_index == as_index(fields.output_index) && answer.open_content_index >= 0) {
    answer.open_text_done = true;
  }
}

void add_text(Reading& reading, const Fields& fields, Kind kind) {
  if constexpr (kKeepsForEnding) {
    Answer& answer = reading.answer;
    const bool known = answer.open_index == as_index(fields.output_index) &&
                       answer.open_content_index == as_index(fields.content_index) && answer.open_kind == kind;
    if (!known) open_part(answer, fields, kind);
  }
  kind == Kind::Refusal ? reading.take_refusal(fields.delta) : reading.take_text(fields.delta);
}

Finish incomplete_finish(std::string_view reason) {
  const Word word = word_of(reason);
  if (word == Word::MaxOutputTokens) return Finish::Length;
  return word == Word::ContentFilter ? Finish::ContentFilter : Finish::Other;
}

// Of what is not named here only the progress counts: created, in_progress, *.done of text, annotations, the searching
// of hosted tools.
void apply(Reading& reading, Word type, const Fields& fields) {
  Answer& answer = reading.answer;
  switch (type) {
    case Word::ResponseOutputTextDelta:
      return add_text(reading, fields, Kind::Text);
    case Word::ResponseRefusalDelta:
      return add_text(reading, fields, Kind::Refusal);
    case Word::ResponseReasoningSummaryTextDelta:
    case Word::ResponseReasoningTextDelta:
    case Word::ResponseReasoningDelta:
      if constexpr (kKeepsForEnding) {
        answer.last_index = std::max(answer.last_index, as_index(fields.output_index));
      }
      return reading.take_reasoning(fields.delta);
    case Word::ResponseFunctionCallArgumentsDelta:
    case Word::ResponseCustomToolCallInputDelta:
    case Word::ResponseMcpCallArgumentsDelta:
    case Word::ResponseCodeInterpreterCallCodeDelta:
      reading.tool_fragment = true;
      if (fields.delta) reading.skip_varying(fields.delta);
      return open_tool(answer, fields.output_index);
    case Word::ResponseFunctionCallArgumentsDone:
    case Word::ResponseCustomToolCallInputDone:
      reading.tool_fragment = true;
      return finish_tool(answer, fields.output_index);
    case Word::ResponseOutputItemAdded:
      return add_item(reading, fields);
    case Word::ResponseOutputItemDone:
      return finish_item(reading, fields);
    case Word::ResponseContentPartAdded: {
      if constexpr (!kKeepsForEnding) return;
      const Word part = word_of(fields.part_type.raw);
      if (part == Word::OutputText) open_part(answer, fields, Kind::Text);
      if (part == Word::Refusal) open_part(answer, fields, Kind::Refusal);
      return;
    }
    case Word::ResponseContentPartDone:
      return finish_part(answer, fields);
    case Word::ResponseCompleted:
    case Word::ResponseDone:
      reading.marker = true;
      reading.finish = answer.refusal && !answer.text ? Finish::Refusal : Finish::Stop;
      return;
    case Word::ResponseIncomplete:
      reading.marker = true;
      reading.finish = incomplete_finish(fields.incomplete_reason.raw);
      return;
    case Word::ResponseCancelled:
      reading.marker = true;
      reading.finish = Finish::Other;
      return;
    default:
      return finish_text(answer, fields);
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
  const Word type = word_of(fields.type ? fields.type.raw : reading.event.name);
  if (type == Word::Error && !reading.is_error) reading.error = fields.flat_error;
  if (type == Word::Error || type == Word::ResponseFailed) reading.is_error = true;
  if (reading.is_error || reading.challenge) return true;
  reading.silent = type == Word::Keepalive || type == Word::Ping;
  if (!reading.silent) reading.answer.progress = true;
  apply(reading, type, fields);
  return true;
}

}  // namespace tidemark::dialect::openai_responses
