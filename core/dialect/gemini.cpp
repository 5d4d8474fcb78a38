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
  if (reason.empty()) return Finish::None;
  switch (word_of(reason)) {
    case Word::FinishReasonUnspecified:
      return Finish::None;
    case Word::StopUpper:
      return Finish::Stop;
    case Word::MaxTokensUpper:
      return Finish::Length;
    case Word::Safety:
    case Word::Recitation:
    case Word::Blocklist:
    case Word::ProhibitedContent:
    case Word::Spii:
    case Word::ImageSafety:
    case Word::Language:
      return Finish::ContentFilter;
    default:
      return Finish::Other;
  }
}

Part read_part(JsonReader& json) {
  Part part;
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Text:
        json.string(part.text);
        break;
      case Word::Thought:
        part.thought = json.is_true();
        break;
      case Word::FunctionCallCamel:
        part.function_call = true;
        json.skip();
        break;
      case Word::InlineData:
      case Word::FileData:
      case Word::ExecutableCode:
      case Word::CodeExecutionResult:
        part.media = true;
        json.skip();
        break;
      default:
        json.skip();
        break;
    }
  }
  return part;
}

void read_parts(Reading& reading, Found& found) {
  for (JsonReader& json : reading.json.elements()) {
    const Part part = read_part(json);
    part.thought ? reading.take_reasoning(part.text) : reading.take_text(part.text);
    if (part.function_call) reading.tool_fragment = found.function_call = true;
    if (part.media) reading.wordless = true;
  }
}

void read_candidate(Reading& reading, Found& found) {
  JsonReader& json = reading.json;
  std::uint64_t index = 0;
  JsonString finish_reason;
  // The index may come after the parts; several candidates are rare and their text is not told apart.
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Content:
        for (const Word inner : json.members()) inner == Word::Parts ? read_parts(reading, found) : json.skip();
        break;
      case Word::FinishReasonCamel:
        json.string(finish_reason);
        break;
      case Word::Index:
        index = json.count();
        break;
      default:
        json.skip();
        break;
    }
  }
  const Finish finish = finish_from(finish_reason.raw);
  if (finish != Finish::None) {
    reading.finish = finish;
    reading.terminal = true;
  }
  found.last_index = std::max(found.last_index, index);
}

void read_prompt_feedback(Reading& reading) {
  JsonReader& json = reading.json;
  for (const Word key : json.members()) {
    const JsonString reason = json.string();
    if (key != Word::BlockReason || reason.raw.empty()) continue;
    reading.finish = Finish::ContentFilter;
    reading.terminal = true;
  }
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
  const bool is_object = json.type() == JsonType::Object;
  for (const Word word : json.members()) {
    switch (word) {
      case Word::Candidates:
        for ([[maybe_unused]] JsonReader& candidate : json.elements()) read_candidate(reading, found);
        break;
      case Word::UsageMetadata:
        reading.take_usage();
        break;
      case Word::ModelVersion:
        json.string(reading.model);
        break;
      case Word::ResponseId:
        json.string(reading.id);
        break;
      case Word::PromptFeedback:
        read_prompt_feedback(reading);
        break;
      default:
        reading.take_other(word);
        break;
    }
  }
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
