// openai-chat: chat completions, chunk by chunk, with what compatible servers make of them; the older completions too.
#include <algorithm>
#include <limits>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::openai_chat {
namespace {

using Choices = decltype(Answer::finished_choices);

struct Delta {
  JsonString content;
  JsonString reasoning_content;  // DeepSeek, vLLM, Qwen, Kimi
  JsonString reasoning;          // OpenRouter; where both stand they say the same
  JsonString refusal;
  bool tool_fragment = false;
};

struct Choice {
  std::uint64_t index = 0;
  Delta delta;
  JsonString text;  // the older completions
  JsonString finish_reason;
};

// Mistral: [{"type":"text","text":…},{"type":"thinking","thinking":[{"type":"text","text":…}]}]
void read_content_parts(Reading& reading) {
  for (JsonReader& part : reading.json.elements()) {
    for (const Word key : part.members()) {
      if (key == Word::Text) {
        reading.take_text();
      } else if (key == Word::Thinking) {
        for (JsonReader& thought : part.elements()) {
          for (const Word inner : thought.members()) inner == Word::Text ? reading.take_reasoning() : thought.skip();
        }
      } else {
        part.skip();
      }
    }
  }
}

// The arguments of a call change from fragment to fragment and mean nothing here.
void read_function(Reading& reading) {
  for (const Word word : reading.json.members()) {
    word == Word::Arguments || word == Word::Input ? reading.skip_varying() : reading.json.skip();
  }
}

void read_delta(Reading& reading, Delta& delta) {
  JsonReader& json = reading.json;
  delta = {};
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Content:
        if (json.type() == JsonType::Array) {
          read_content_parts(reading);
        } else {
          json.string(delta.content);
        }
        break;
      case Word::ReasoningContent:
        json.string(delta.reasoning_content);
        break;
      case Word::Reasoning:
        json.string(delta.reasoning);
        break;
      case Word::Refusal:
        json.string(delta.refusal);
        break;
      case Word::ToolCalls:
        for (JsonReader& call : json.elements()) {
          delta.tool_fragment = true;
          for (const Word word : call.members()) {
            word == Word::Function || word == Word::Custom ? read_function(reading) : call.skip();
          }
        }
        break;
      case Word::FunctionCall:
        if (json.type() == JsonType::Object) delta.tool_fragment = true;
        read_function(reading);
        break;
      default:
        json.skip();
        break;
    }
  }
}

// What a chunk's choices say of the answer.
struct ChoicesRead {
  std::size_t count = 0;
  std::size_t last_index = 0;
  bool legacy = false;
  Choices finished;
};

void read_choice(Reading& reading, ChoicesRead& read) {
  JsonReader& json = reading.json;
  Choice choice;
  for (const Word key : json.members()) {
    switch (key) {
      case Word::Delta:
        read_delta(reading, choice.delta);
        break;
      case Word::FinishReason:
        json.string(choice.finish_reason);
        break;
      case Word::Index:
        choice.index = json.count();
        break;
      case Word::Text:
        json.string(choice.text);
        break;
      default:
        json.skip();
        break;
    }
  }

  const Delta& delta = choice.delta;
  const JsonString& reasoning = delta.reasoning_content.raw.empty() ? delta.reasoning : delta.reasoning_content;
  if (choice.text) read.legacy = true;
  if (choice.index == 0) {
    reading.take_text(delta.content);
    reading.take_text(choice.text);
    reading.take_reasoning(reasoning);
    reading.take_refusal(delta.refusal);
  } else if (!delta.content.raw.empty() || !choice.text.raw.empty() || !reasoning.raw.empty()) {
    reading.wordless = true;  // of another answer than the one that is told
  }
  reading.tool_fragment = reading.tool_fragment || delta.tool_fragment;
  const Finish finish = chat_finish(choice.finish_reason);
  if (finish != Finish::None) reading.finish = finish;
  if (finish == Finish::Error) {
    reading.is_error = true;
    if (!reading.error.code) reading.error.code = choice.finish_reason;
  }
  const auto index = static_cast<std::size_t>(std::min<std::uint64_t>(choice.index, read.finished.size() - 1));
  if (kKeepsForEnding && finish != Finish::None) read.finished.set(index);
  read.last_index = std::max(read.last_index, index);
  ++read.count;
}

void keep_choices(Answer& answer, const ChoicesRead& read) {
  if (read.last_index > 0) answer.several_choices = true;
  if constexpr (!kKeepsForEnding) return;
  answer.last_index = std::max(answer.last_index, static_cast<int>(read.last_index));
  answer.finished_choices |= read.finished;
  if (read.legacy) answer.legacy_completion = true;
}

void keep_tool_call(Answer& answer, const Reading& reading) {
  if constexpr (!kKeepsForEnding) return;
  if (reading.tool_fragment) answer.tool_open = true;
  const bool closes = reading.finish == Finish::ToolCalls || reading.finish == Finish::Stop;
  if (closes && answer.tool_open) {
    answer.tool_open = false;
    answer.tool_finished = true;
  }
}

// Gateways keep the line alive with events of their own, named so or of this type.
bool is_keepalive(Word word) { return word == Word::Ping || word == Word::Keepalive; }

// {"id":…,"object":…,"created":…,"model":…,"choices":[ — what every chunk begins with.
JsonWriter& begin_chunk(JsonWriter& json, const Answer& answer) {
  return json.begin_object()
      .field("id", answer.id)
      .field("object", answer.legacy_completion ? "text_completion" : "chat.completion.chunk")
      .number_field("created", answer.created)
      .field("model", answer.model)
      .key("choices")
      .begin_array();
}

}  // namespace

bool read(Reading& reading) {
  if (is_done_marker(reading.event.data)) {
    reading.marker = true;
    return true;
  }
  if (is_keepalive(word_of(reading.event.name))) {
    reading.silent = true;
    return true;
  }
  JsonReader& json = reading.json;
  ChoicesRead choices;
  bool has_choices = false;
  bool flat_error = word_of(reading.event.name) == Word::Error;
  ErrorFields flat;
  const bool is_object = json.type() == JsonType::Object;
  for (const Word word : json.members()) {
    switch (word) {
      case Word::Choices:
        has_choices = json.type() == JsonType::Array;
        for ([[maybe_unused]] JsonReader& choice : json.elements()) read_choice(reading, choices);
        break;
      case Word::Id:
        json.string(reading.id);
        break;
      case Word::Created:
        reading.created = json.count();
        break;
      case Word::Model:
        json.string(reading.model);
        break;
      case Word::SystemFingerprint:
        json.string(reading.system_fingerprint);
        break;
      case Word::Usage:
        reading.take_usage();
        break;
      case Word::Object:
        if (word_of(json.string().raw) == Word::Error) flat_error = true;  // vLLM
        break;
      case Word::Message:
      case Word::Type:
      case Word::Code:
        reading.take_flat_error_member(word, flat);
        break;
      default:
        reading.take_other(word);
        break;
    }
  }
  if (!is_object || !json.at_end()) return false;

  if (!reading.is_error && !has_choices && (flat_error || (flat.message && flat.code))) {
    reading.is_error = true;
    reading.error = flat;
  }
  if (reading.is_error || reading.challenge) return true;
  if (!has_choices && is_keepalive(word_of(flat.type.raw))) {
    reading.silent = true;
    return true;
  }
  Answer& answer = reading.answer;
  answer.progress = true;
  if (kKeepsForEnding && !reading.usage.empty()) answer.usage_alone = choices.count == 0;
  keep_choices(answer, choices);
  keep_tool_call(answer, reading);
  return true;
}

void end(const Answer& answer, FinishStyle style, OwnEvents& out) {
  Choices open;
  for (int index = 0; index <= std::max(answer.last_index, 0); ++index) open.set(static_cast<std::size_t>(index));
  open &= ~answer.finished_choices;
  if (open.any()) {
    std::string data;
    JsonWriter json(data);
    begin_chunk(json, answer);
    for (std::size_t index = 0; index < open.size(); ++index) {
      if (!open[index]) continue;
      json.begin_object().number_field("index", index);
      if (answer.legacy_completion) {
        json.field("text", "");
      } else {
        json.key("delta").begin_object().end_object();
      }
      json.raw_field("logprobs", "null").field("finish_reason", chat_finish_name(style)).end_object();
    }
    json.end_array().end_object();
    out.push_back({"", std::move(data)});
  }
  if (!answer.usage_json.empty() && !answer.usage_alone) {
    std::string data;
    JsonWriter json(data);
    begin_chunk(json, answer).end_array().raw_field("usage", answer.usage_json).end_object();
    out.push_back({"", std::move(data)});
  }
  out.push_back({"", "[DONE]"});
}

void promote(const Answer& answer, std::string_view text, OwnEvents& out) {
  std::string data;
  JsonWriter json(data);
  begin_chunk(json, answer).begin_object().number_field("index", 0);
  if (answer.legacy_completion) {
    json.field("text", text);
  } else {
    json.key("delta").begin_object().field("content", text).end_object();
  }
  json.raw_field("logprobs", "null").raw_field("finish_reason", "null").end_object().end_array().end_object();
  out.push_back({"", std::move(data)});
}

}  // namespace tidemark::dialect::openai_chat
