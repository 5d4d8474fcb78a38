// gemini: streamGenerateContent with alt=sse; a whole response object an event.
#include <algorithm>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::gemini {
namespace {

struct Part {
  JsonString text;
  bool thought = false;
  bool function_call = false;
  bool media = false;
};

struct Found {
  bool function_call = false;
  std::uint64_t last_index = 0;
};

Finish finish_from(std::string_view reason) {
  if (reason.empty() || is(reason, "FINISH_REASON_UNSPECIFIED")) return Finish::None;
  if (is(reason, "STOP")) return Finish::Stop;
  if (is(reason, "MAX_TOKENS")) return Finish::Length;
  for (const std::string_view filter :
       {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"}) {
    if (reason == filter) return Finish::ContentFilter;
  }
  return Finish::Other;
}

Part read_part(JsonReader& json) {
  Part part;
  json.object([&](std::string_view key) {
    if (is(key, "text")) {
      part.text = json.string();
    } else if (is(key, "thought")) {
      part.thought = json.is_true();
    } else {
      if (is(key, "functionCall")) part.function_call = true;
      if (is(key, "inlineData") || is(key, "fileData") || is(key, "executableCode") || is(key, "codeExecutionResult")) {
        part.media = true;
      }
      json.skip();
    }
  });
  return part;
}

void read_candidate(Reading& reading, Found& found) {
  JsonReader& json = reading.json;
  std::uint64_t index = 0;
  JsonString finish_reason;
  // The index may come after the parts; several candidates are rare and their text is not told apart.
  json.object([&](std::string_view key) {
    if (is(key, "content")) {
      json.object([&](std::string_view inner) {
        if (!is(inner, "parts")) return json.skip();
        json.array([&] {
          const Part part = read_part(json);
          part.thought ? reading.take_reasoning(part.text) : reading.take_text(part.text);
          if (part.function_call) reading.tool_fragment = found.function_call = true;
          if (part.media) reading.wordless = true;
        });
      });
    } else if (is(key, "finishReason")) {
      finish_reason = json.string();
    } else if (is(key, "index")) {
      index = json.whole_number().value_or(0);
    } else {
      json.skip();
    }
  });
  const Finish finish = finish_from(finish_reason.raw);
  if (finish != Finish::None) {
    reading.finish = finish;
    reading.terminal = true;
  }
  found.last_index = std::max(found.last_index, index);
}

void read_prompt_feedback(Reading& reading) {
  JsonReader& json = reading.json;
  json.object([&](std::string_view key) {
    if (!is(key, "blockReason")) return json.skip();
    if (json.string().raw.empty()) return;
    reading.finish = Finish::ContentFilter;
    reading.terminal = true;
  });
}

// A chunk with one candidate of one text part; `finish` empty: none.
OwnEvent chunk(const Answer& answer, std::string_view text, std::string_view finish) {
  OwnEvent event;
  JsonWriter json(event.data);
  json.begin_object().key("candidates").begin_array().begin_object();
  json.key("content").begin_object().key("parts").begin_array();
  json.begin_object().field("text", text).end_object();
  json.end_array().field("role", "model").end_object();
  if (!finish.empty()) json.field("finishReason", finish);
  json.number_field("index", 0).end_object().end_array();
  if (!answer.usage_json.empty()) json.raw_field("usageMetadata", answer.usage_json);
  if (!answer.model.empty()) json.field("modelVersion", answer.model);
  if (!answer.id.empty()) json.field("responseId", answer.id);
  json.end_object();
  return event;
}

std::string_view status_name(int status) {
  switch (status) {
    case 408:
    case 504:
      return "DEADLINE_EXCEEDED";
    case 429:
      return "RESOURCE_EXHAUSTED";
    case 502:
    case 503:
    case 529:
      return "UNAVAILABLE";
    default:
      return "INTERNAL";
  }
}

}  // namespace

bool read(Reading& reading) {
  if (is_done_marker(reading.event.data)) {
    reading.silent = true;
    return true;
  }
  JsonReader& json = reading.json;
  Found found;
  const bool is_object = json.object([&](std::string_view key) {
    if (is(key, "candidates")) {
      json.array([&] { read_candidate(reading, found); });
    } else if (is(key, "usageMetadata")) {
      reading.take_usage();
    } else if (is(key, "modelVersion")) {
      reading.model = json.string();
    } else if (is(key, "responseId")) {
      reading.id = json.string();
    } else if (is(key, "promptFeedback")) {
      read_prompt_feedback(reading);
    } else {
      reading.take_other(key);
    }
  });
  if (!is_object || !json.at_end()) return false;
  if (reading.is_error || reading.challenge) return true;
  reading.answer.progress = true;
  if (found.function_call) reading.answer.tool_finished = true;
  if (found.last_index > 0) reading.answer.several_choices = true;
  return true;
}

void end(const Answer& answer, FinishStyle style, OwnEvents& out) {
  out.push_back(chunk(answer, "", style == FinishStyle::Length ? "MAX_TOKENS" : "STOP"));
}

void promote(const Answer& answer, std::string_view text, OwnEvents& out) { out.push_back(chunk(answer, text, "")); }

OwnEvent error(const ErrorFacts& facts) {
  OwnEvent event;
  JsonWriter json(event.data);
  json.begin_object().key("error").begin_object();
  json.number_field("code", static_cast<std::uint64_t>(facts.status)).field("message", facts.message);
  json.field("status", status_name(facts.status)).end_object().end_object();
  return event;
}

}  // namespace tidemark::dialect::gemini
