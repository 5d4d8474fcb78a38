// Taking values out of an event, and drawing the conclusion.
#include "core/dialect/reading.hpp"

#include <utility>

#include "core/dialect/challenge.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect {
namespace {

[[maybe_unused]] void keep(std::string& kept, const JsonString& value) {
  if (!value || value.raw.empty()) return;
  if (!value.escaped && value.raw == kept) return;
  kept.clear();
  append_decoded(kept, value);
}

Kind strongest(const Reading& reading) {
  if (!reading.reasoning.empty() && reading.text.empty() && !reading.wordless) return Kind::Reasoning;
  if (!reading.text.empty()) return reading.refusal ? Kind::Refusal : Kind::Text;
  if (reading.wordless) return Kind::Text;
  if (reading.tool_fragment) return Kind::ToolFragment;
  if (reading.marker) return Kind::Terminal;
  if (reading.finish != Finish::None) return Kind::Finish;
  return reading.silent ? Kind::Silence : Kind::Progress;
}

void tell_error(const Reading& reading, Meaning& meaning) {
  Scratch& scratch = reading.scratch;
  meaning.kind = Kind::Error;
  meaning.terminal = false;
  meaning.finish = Finish::Error;
  meaning.error.message = decoded(reading.error.message, scratch.message);
  meaning.error.type = decoded(reading.error.type, scratch.type);
  meaning.error.code = decoded(reading.error.code, scratch.code);
  meaning.error.status = reading.error.status;
}

void tell_challenge(const JsonString& challenge, Scratch& scratch, Meaning& meaning) {
  meaning = {};
  meaning.kind = Kind::Challenge;
  meaning.error.message = decoded(challenge, scratch.message);
}

Meaning what_is_invalid(const Reading& reading) {
  Meaning meaning;
  const std::string_view data = reading.event.data;
  if (const JsonString challenge = challenge_in(data)) {
    tell_challenge(challenge, reading.scratch, meaning);
  } else if (word_of(reading.event.name) == Word::Error) {
    meaning.kind = Kind::Error;
    meaning.finish = Finish::Error;
    meaning.error.message = decoded({data, true, false}, reading.scratch.message);
  } else {
    meaning.kind = Kind::Malformed;
  }
  return meaning;
}

}  // namespace

void JoinedText::add(const JsonString& piece) {
  if (view_.empty()) {
    view_ = decoded(piece, scratch_);
    return;
  }
  if (view_.data() != scratch_.data()) scratch_.assign(view_);
  append_decoded(scratch_, piece);
  view_ = scratch_;
}

Reading::Reading(const sse::Event& read_event, Answer& read_answer, Scratch& read_scratch)
    : event(read_event),
      answer(read_answer),
      scratch(read_scratch),
      json(read_event.data),
      text(read_scratch.text),
      reasoning(read_scratch.reasoning) {}

void Reading::take_text(const JsonString& piece) {
  if (piece.raw.empty()) return;
  text.add(piece);
  holes.add(Hole::Role::Text, piece.raw);
}

void Reading::take_reasoning(const JsonString& piece) {
  if (piece.raw.empty()) return;
  reasoning.add(piece);
  holes.add(Hole::Role::Reasoning, piece.raw);
}

void Reading::take_refusal(const JsonString& piece) {
  if (piece.raw.empty()) return;
  text.add(piece);
  refusal = true;
}

void Reading::take_sequence() {
  if (json.type() != JsonType::Number) return json.skip();
  JsonReader before = json;
  const std::string_view token = before.raw();
  sequence = json.whole_number();
  if (sequence && token.find('.') == std::string_view::npos) holes.add(Hole::Role::Sequence, token);
}

void Reading::take_usage() {
  if constexpr (!kKeepsForEnding) return json.skip();
  const bool is_object = json.type() == JsonType::Object;
  const std::string_view value = json.raw();
  if (is_object) usage = value;
}

void Reading::skip_varying() {
  if (const JsonString string = json.string()) skip_varying(string);
}

void Reading::take_other(Word key) {
  switch (key) {
    case Word::Error:
      return take_error();
    case Word::Ret:
      challenge = challenge_in_ret(json);
      return;
    case Word::Obfuscation:
      return skip_varying();
    default:
      return json.skip();
  }
}

void Reading::take_error() {
  switch (json.type()) {
    case JsonType::Object:
      is_error = true;
      for (const Word key : json.members()) {
        take_error_member(key);
      }
      return;
    case JsonType::String:
      is_error = true;
      return json.string(error.message);
    case JsonType::Literal:
      if (json.is_true()) is_error = true;
      return;
    case JsonType::Array:
    case JsonType::Number:
    case JsonType::Broken:
      return json.skip();
  }
}

void Reading::take_error_member(Word key) {
  // A number from 400 to 599 is a status, wherever it stands; Gemini's "status" is a word.
  const auto word_or_status = [&](JsonString& word) {
    if (json.type() == JsonType::String) {
      const JsonString value = json.string();
      if (!word || word.raw.empty()) word = value;
      return;
    }
    const std::string_view value = json.raw();
    JsonReader number(value);
    const std::uint64_t status = number.whole_number().value_or(0);
    if (status >= 400 && status <= 599) error.status = static_cast<int>(status);
    if (status != 0 && !word) word = {value, true, false};
  };
  switch (key) {
    case Word::Message:
      return json.string(error.message);
    case Word::Type:
      return json.string(error.type);
    case Word::Code:
      return word_or_status(error.code);
    case Word::Status:
    case Word::StatusCode: {
      JsonString word;
      word_or_status(word);
      if (word && !error.type && word.raw.find_first_not_of("0123456789") != std::string_view::npos) error.type = word;
      return;
    }
    case Word::Details:
      // Anthropic: {"error_code": "enforced_spend_limit_reached"}. Gemini has an array here.
      for (const Word detail : json.members()) {
        detail == Word::ErrorCode ? word_or_status(error.code) : json.skip();
      }
      return;
    default:
      return json.skip();
  }
}

void Reading::take_flat_error_member(Word key, ErrorFields& flat) {
  std::swap(flat, error);
  take_error_member(key);
  std::swap(flat, error);
}

Meaning conclude(Reading& reading, bool valid) {
  if (!valid) return what_is_invalid(reading);
  Answer& answer = reading.answer;
  Meaning meaning;
  if (reading.challenge) {
    tell_challenge(reading.challenge, reading.scratch, meaning);
    return meaning;
  }
  meaning.kind = strongest(reading);
  meaning.text = reading.text.view();
  meaning.reasoning = reading.reasoning.view();
  meaning.sequence = reading.sequence;
  answer.text_bytes += meaning.text.size();
  if (reading.wordless || (!meaning.text.empty() && !reading.refusal)) answer.text = true;
  if (!meaning.text.empty() && reading.refusal) answer.refusal = true;
  if (!meaning.reasoning.empty()) answer.reasoning = true;
  if (reading.is_error) {
    tell_error(reading, meaning);
    return meaning;
  }
  if (reading.sequence) answer.sequence = reading.sequence;
  if constexpr (kKeepsForEnding) {
    keep(answer.id, reading.id);
    keep(answer.model, reading.model);
    keep(answer.system_fingerprint, reading.system_fingerprint);
    if (reading.created != 0) answer.created = reading.created;
    if (!reading.usage.empty()) {
      answer.usage_json.assign(reading.usage.size() <= Answer::kMaxUsage ? reading.usage : "");
    }
  }
  meaning.finish = reading.finish;
  meaning.terminal = reading.terminal || reading.marker;
  if (meaning.finish != Finish::None) answer.finish = meaning.finish;
  if (meaning.terminal) answer.terminal = true;
  return meaning;
}

Finish chat_finish(const JsonString& reason) {
  if (reason.raw.empty()) return Finish::None;
  switch (word_of(reason.raw)) {
    case Word::Null:
      return Finish::None;
    case Word::Stop:
    case Word::EndTurn:
    case Word::StopSequence:
    case Word::Eos:
      return Finish::Stop;
    case Word::Length:
    case Word::MaxTokens:
      return Finish::Length;
    case Word::ToolCalls:
    case Word::FunctionCall:
    case Word::ToolCallsDashed:
      return Finish::ToolCalls;
    case Word::ContentFilter:
    case Word::ContentFilterDashed:
      return Finish::ContentFilter;
    case Word::Refusal:
      return Finish::Refusal;
    case Word::Error:
    case Word::NetworkError:
      return Finish::Error;
    default:
      return Finish::Other;
  }
}

std::uint64_t tool_key(std::string_view id) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

void open_tool(Answer& answer, std::uint64_t key) {
  if constexpr (!kKeepsForEnding) return;
  answer.tool_open = true;
  for (const std::uint64_t open : answer.open_tools) {
    if (open == key) return;
  }
  if (answer.open_tools.size() < Answer::kMaxOpenTools) answer.open_tools.push_back(key);
}

void finish_tool(Answer& answer, std::uint64_t key) {
  if constexpr (!kKeepsForEnding) return;
  std::erase(answer.open_tools, key);
  answer.tool_open = !answer.open_tools.empty();
  answer.tool_finished = true;
}

}  // namespace tidemark::dialect
