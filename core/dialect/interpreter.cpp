// Choosing the dialect's reader, the shortcut past it, and the verdict at the end.
#include "core/dialect/interpreter.hpp"

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect {
namespace {

bool read(Dialect dialect, Reading& reading) {
  switch (dialect) {
    case Dialect::OpenaiChat:
      return openai_chat::read(reading);
    case Dialect::OpenaiResponses:
      return openai_responses::read(reading);
    case Dialect::AnthropicMessages:
      return anthropic_messages::read(reading);
    case Dialect::Gemini:
      return gemini::read(reading);
    case Dialect::SeqDelta:
      return seq_delta::read(reading);
    case Dialect::AiSdkUi:
      return ai_sdk_ui::read(reading);
    case Dialect::Opaque:
      return opaque::read(reading);
  }
  return false;
}

// Whether another event in the same frame means the same but for its holes: it brings text in one hole, or is a piece
// of a tool call whose contents are not read, and says nothing else that a repetition would change.
bool makes_a_frame(const Reading& reading, const Meaning& meaning) {
  if (meaning.finish != Finish::None || meaning.terminal || reading.holes.overflown() || reading.refusal) return false;
  std::size_t texts = 0;
  for (std::size_t i = 0; i < reading.holes.size(); ++i) {
    const Hole::Role role = reading.holes[i].role;
    if (role == Hole::Role::Text || role == Hole::Role::Reasoning) ++texts;
  }
  switch (meaning.kind) {
    case Kind::Text:
      return texts == 1 && !reading.wordless && !reading.tool_fragment;
    case Kind::Reasoning:
      return texts == 1 && !reading.tool_fragment;
    case Kind::ToolFragment:
      return texts == 0 && reading.holes.size() > 0;
    case Kind::Silence:
    case Kind::Progress:
    case Kind::Refusal:
    case Kind::Finish:
    case Kind::Terminal:
    case Kind::Error:
    case Kind::Challenge:
    case Kind::Malformed:
      return false;
  }
  return false;
}

// Dialects whose terminal marker is often left out after a finish reason (contract § 4.5).
bool finish_is_enough(Dialect dialect, const Answer& answer) {
  switch (dialect) {
    case Dialect::OpenaiChat:
      return !answer.several_choices;
    case Dialect::SeqDelta:
    case Dialect::AiSdkUi:
      return true;
    case Dialect::OpenaiResponses:
    case Dialect::AnthropicMessages:
    case Dialect::Gemini:
    case Dialect::Opaque:
      return false;
  }
  return false;
}

}  // namespace

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::Silence:
      return "silence";
    case Kind::Progress:
      return "progress";
    case Kind::Text:
      return "text";
    case Kind::Reasoning:
      return "reasoning";
    case Kind::Refusal:
      return "refusal";
    case Kind::ToolFragment:
      return "tool-fragment";
    case Kind::Finish:
      return "finish";
    case Kind::Terminal:
      return "terminal";
    case Kind::Error:
      return "error";
    case Kind::Challenge:
      return "challenge";
    case Kind::Malformed:
      return "malformed";
  }
  return {};
}

std::string_view name(Finish finish) {
  switch (finish) {
    case Finish::None:
      return "none";
    case Finish::Stop:
      return "stop";
    case Finish::Length:
      return "length";
    case Finish::ToolCalls:
      return "tool-calls";
    case Finish::ContentFilter:
      return "content-filter";
    case Finish::Refusal:
      return "refusal";
    case Finish::Error:
      return "error";
    case Finish::Other:
      return "other";
  }
  return {};
}

std::string_view name(EofVerdict verdict) {
  switch (verdict) {
    case EofVerdict::Complete:
      return "complete";
    case EofVerdict::Truncated:
      return "truncated";
    case EofVerdict::ReasoningOnly:
      return "reasoning-only";
    case EofVerdict::OpenToolCall:
      return "open-tool-call";
    case EofVerdict::Empty:
      return "empty";
  }
  return {};
}

Interpreter::Interpreter(Dialect dialect, Shortcut shortcut) : dialect_(dialect), shortcut_(shortcut) {}

Interpreter::Interpreter(Dialect dialect, Answer answer)
    : dialect_(dialect), shortcut_(Shortcut::On), answer_(std::move(answer)) {}

Meaning Interpreter::interpret(const sse::Event& event) {
  if (event.data.empty()) return {};
  FrameGuess::Match match;
  if (frame_.match(event, match)) return interpret(match);

  Reading reading(event, answer_, scratch_);
  const bool valid = read(dialect_, reading);
  const Meaning meaning = conclude(reading, valid);
  if (shortcut_ == Shortcut::On && makes_a_frame(reading, meaning)) {
    frame_.learn(event, meaning.kind, reading.holes);
  } else {
    frame_.forget();
  }
  return meaning;
}

Meaning Interpreter::interpret(const FrameGuess::Match& match) {
  Meaning meaning;
  meaning.kind = frame_.kind();
  meaning.sequence = match.sequence;
  if (match.sequence) answer_.sequence = match.sequence;
  if (meaning.kind == Kind::Text) {
    meaning.text = decoded(match.text, scratch_.text);
    answer_.text_bytes += meaning.text.size();
  } else if (meaning.kind == Kind::Reasoning) {
    meaning.reasoning = decoded(match.text, scratch_.reasoning);
  }
  return meaning;
}

EofVerdict Interpreter::at_eof() const {
  if (answer_.terminal) return EofVerdict::Complete;
  if (dialect_ == Dialect::Opaque) return answer_.text ? EofVerdict::Complete : EofVerdict::Empty;
  if (answer_.finish != Finish::None && finish_is_enough(dialect_, answer_)) return EofVerdict::Complete;
  if constexpr (!kKeepsForEnding) return EofVerdict::Truncated;
  if (answer_.tool_open) return EofVerdict::OpenToolCall;
  if (answer_.text || answer_.refusal || answer_.tool_finished) return EofVerdict::Truncated;
  return answer_.reasoning ? EofVerdict::ReasoningOnly : EofVerdict::Empty;
}

}  // namespace tidemark::dialect
