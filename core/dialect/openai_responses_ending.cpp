// openai-responses: what Tidemark says in it. Every event carries the next sequence_number; the response object that
// ends the stream carries all of the output, which clients read instead of the deltas.
#include <algorithm>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::openai_responses {
namespace {

// Events numbered on from the answer's last.
class Speaker {
 public:
  Speaker(const Answer& answer, OwnEvents& out) : next_(answer.sequence ? *answer.sequence + 1 : 0), out_(out) {}

  /// The next event, to which `members` adds what follows type and number.
  template <class Members>
  void say(std::string_view type, Members members) {
    OwnEvent event;
    event.name = type;
    JsonWriter json(event.data);
    json.begin_object().field("type", type).number_field("sequence_number", next_++);
    members(json);
    json.end_object();
    out_.push_back(std::move(event));
  }

 private:
  std::uint64_t next_;
  OwnEvents& out_;
};

// The text part of a message, open or done.
struct Part {
  bool refusal = false;
  std::string_view text;
};

void write_part(JsonWriter& json, const Part& part) {
  json.begin_object();
  if (part.refusal) {
    json.field("type", "refusal").field("refusal", part.text);
  } else {
    json.field("type", "output_text")
        .raw_field("annotations", "[]")
        .raw_field("logprobs", "[]")
        .field("text", part.text);
  }
  json.end_object();
}

// `parts`: finished ones, which `part` follows.
std::string message_item(std::string_view id, std::string_view status, const Part* part, std::string_view parts = {}) {
  std::string item;
  JsonWriter json(item);
  json.begin_object().field("id", id).field("type", "message").field("status", status).field("role", "assistant");
  json.key("content").begin_array();
  if (!parts.empty()) json.raw(parts);
  if (part != nullptr) write_part(json, *part);
  json.end_array().end_object();
  return item;
}

std::string reasoning_item(std::string_view id) {
  std::string item;
  JsonWriter(item).begin_object().field("id", id).field("type", "reasoning").raw_field("summary", "[]").end_object();
  return item;
}

std::uint64_t index_of(int index) { return index < 0 ? 0 : static_cast<std::uint64_t>(index); }

void say_item(Speaker& speaker, std::string_view type, std::uint64_t index, std::string_view item) {
  speaker.say(type, [&](JsonWriter& json) { json.number_field("output_index", index).raw_field("item", item); });
}

struct Place {
  std::string_view item_id;
  std::uint64_t output_index = 0;
  std::uint64_t content_index = 0;

  void write(JsonWriter& json) const {
    json.field("item_id", item_id)
        .number_field("output_index", output_index)
        .number_field("content_index", content_index);
  }
};

void say_text_done(Speaker& speaker, const Place& place, const Part& part) {
  speaker.say(part.refusal ? "response.refusal.done" : "response.output_text.done", [&](JsonWriter& json) {
    place.write(json);
    json.field(part.refusal ? "refusal" : "text", part.text);
    if (!part.refusal) json.raw_field("logprobs", "[]");
  });
}

void say_part_done(Speaker& speaker, const Place& place, const Part& part) {
  speaker.say("response.content_part.done", [&](JsonWriter& json) {
    place.write(json);
    json.key("part");
    write_part(json, part);
  });
}

// Closes the item that is open and returns it; empty where none is, or one that can't be told.
std::string close_item(Speaker& speaker, const Answer& answer, std::string_view status, std::string_view answer_text) {
  if (answer.open_index < 0) return {};
  const std::uint64_t index = index_of(answer.open_index);
  std::string item;
  if (answer.open_kind == Kind::Text || answer.open_kind == Kind::Refusal) {
    const std::size_t from = std::min(static_cast<std::size_t>(answer.open_text_from), answer_text.size());
    const Part part{answer.open_kind == Kind::Refusal, answer_text.substr(from)};
    const bool is_open = answer.open_content_index >= 0;
    if (is_open) {
      const Place place{answer.open_id, index, index_of(answer.open_content_index)};
      if (!answer.open_text_done) say_text_done(speaker, place, part);
      say_part_done(speaker, place, part);
    }
    const bool is_told = part.text.empty() || (!is_open && !answer.open_parts_json.empty());
    item = message_item(answer.open_id, status, is_told ? nullptr : &part, answer.open_parts_json);
  } else if (answer.open_kind == Kind::Reasoning) {
    item = reasoning_item(answer.open_id);
  } else {
    return {};
  }
  say_item(speaker, "response.output_item.done", index, item);
  return item;
}

void write_response(JsonWriter& json, const Answer& answer, std::string_view status, std::string_view output) {
  json.field("id", answer.id).field("object", "response").number_field("created_at", answer.created);
  json.field("status", status).field("model", answer.model);
  json.key("output").begin_array();
  if (!output.empty()) json.raw(output);
  json.end_array();
  json.raw_field("parallel_tool_calls", "true").raw_field("tool_choice", "\"auto\"").raw_field("tools", "[]");
  json.raw_field("instructions", "null").raw_field("metadata", "{}");
  json.raw_field("usage", answer.usage_json.empty() ? "null" : answer.usage_json);
}

}  // namespace

std::string output_or_text(std::string items, const Answer& answer, std::string_view status, std::string_view text) {
  if ((!items.empty() && !answer.output_left_out) || text.empty()) return items;
  const Part part{answer.refusal && !answer.text, text};
  return message_item("msg_" + answer.id, status, &part);
}

void close_item(Answer& answer, std::string_view answer_text, OwnEvents& out) {
  Speaker speaker(answer, out);
  const std::size_t before = out.size();
  close_item(speaker, answer, "completed", answer_text);
  Interpreter reader(Dialect::OpenaiResponses, std::move(answer));
  for (std::size_t i = before; i < out.size(); ++i) {
    sse::Event event;
    event.name = out[i].name;
    event.data = out[i].data;
    reader.interpret(event);
  }
  answer = reader.answer();
}

void end(const Answer& answer, FinishStyle style, std::string_view answer_text, OwnEvents& out) {
  const bool length = style == FinishStyle::Length;
  const std::string_view status = length ? "incomplete" : "completed";
  Speaker speaker(answer, out);
  std::string output = answer.output_json;
  const std::string closed = close_item(speaker, answer, status, answer_text);
  if (!output.empty() && !closed.empty()) output += ',';
  output += closed;
  output = output_or_text(std::move(output), answer, status, answer_text);
  speaker.say(length ? "response.incomplete" : "response.completed", [&](JsonWriter& json) {
    json.key("response").begin_object();
    write_response(json, answer, status, output);
    json.raw_field("error", "null");
    json.raw_field("incomplete_details", length ? R"({"reason":"max_output_tokens"})" : "null");
    json.end_object();
  });
}

void promote(const Answer& answer, std::string_view text, OwnEvents& out) {
  Speaker speaker(answer, out);
  close_item(speaker, answer, "completed", {});
  const std::uint64_t index = index_of(answer.last_index + 1);
  const std::string id = "msg_" + answer.id;
  const Place place{id, index, 0};
  say_item(speaker, "response.output_item.added", index, message_item(id, "in_progress", nullptr));
  speaker.say("response.content_part.added", [&](JsonWriter& json) {
    place.write(json);
    json.key("part");
    write_part(json, {});
  });
  speaker.say("response.output_text.delta", [&](JsonWriter& json) {
    place.write(json);
    json.field("delta", text).raw_field("logprobs", "[]");
  });
}

OwnEvent error(const Answer& answer, const ErrorFacts& facts) {
  OwnEvents out;
  Speaker speaker(answer, out);
  speaker.say("response.failed", [&](JsonWriter& json) {
    json.key("response").begin_object();
    write_response(json, answer, "failed", answer.output_json);
    json.key("error").begin_object();
    json.field("code", facts.code.empty() ? facts.type : facts.code).field("message", facts.message);
    if (facts.retry_after_s) json.number_field("retry_after", static_cast<std::uint64_t>(*facts.retry_after_s));
    json.end_object().raw_field("incomplete_details", "null").end_object();
  });
  return std::move(out.front());
}

}  // namespace tidemark::dialect::openai_responses
