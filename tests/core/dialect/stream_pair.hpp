// The interpreter with its shortcut beside the one without: nothing may tell them apart. For tests and fuzzer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/dialect/interpreter.hpp"

namespace tidemark::dialect::test {

inline std::string show(const Meaning& meaning) {
  std::string out(name(meaning.kind));
  out += " text=" + std::string(meaning.text) + " reasoning=" + std::string(meaning.reasoning);
  out += " finish=" + std::string(name(meaning.finish)) + (meaning.terminal ? " terminal" : "");
  out += " sequence=" + (meaning.sequence ? std::to_string(*meaning.sequence) : "none");
  out += " error=" + std::string(meaning.error.message) + "/" + std::string(meaning.error.type) + "/" +
         std::string(meaning.error.code) + "/" + std::to_string(meaning.error.status) +
         (meaning.error.retryable() ? " retryable" : "");
  return out;
}

inline std::string show(const Answer& a) {
  std::string out;
  for (const bool flag : {a.progress, a.text, a.reasoning, a.refusal, a.tool_open, a.tool_finished, a.terminal,
                          a.several_choices, a.step_open, a.legacy_completion, a.output_left_out}) {
    out += flag ? '1' : '0';
  }
  for (const auto number : {a.open_index, a.open_content_index, a.last_index, static_cast<int>(a.open_kind),
                            static_cast<int>(a.finish), static_cast<int>(a.open_tools.size())}) {
    out += " " + std::to_string(number);
  }
  out += " " + std::to_string(a.created) + " " + std::to_string(a.text_bytes) + " " + std::to_string(a.open_text_from);
  out += " " + (a.sequence ? std::to_string(*a.sequence) : "none");
  for (const std::string& text : {a.id, a.model, a.open_id, a.usage_json, a.output_json}) out += " |" + text;
  return out;
}

class StreamPair {
 public:
  explicit StreamPair(Dialect dialect)
      : quick_(dialect, Interpreter::Shortcut::On), plain_(dialect, Interpreter::Shortcut::Off) {}

  /// How the two differ after the event, if they do.
  std::optional<std::string> difference(std::string_view event_name, std::string_view data) {
    sse::Event event;
    event.name = event_name;
    event.data = data;
    const std::string quick = show(quick_.interpret(event));
    const std::string plain = show(plain_.interpret(event));
    if (quick != plain) return "with the shortcut: " + quick + "\nwithout:           " + plain;
    const std::string quick_answer = show(quick_.answer());
    const std::string plain_answer = show(plain_.answer());
    if (quick_answer != plain_answer) return "answer with the shortcut: " + quick_answer + "\nwithout: " + plain_answer;
    if (quick_.at_eof() != plain_.at_eof()) return "the verdicts differ";
    return std::nullopt;
  }

  const Interpreter& plain() const { return plain_; }

 private:
  Interpreter quick_;
  Interpreter plain_;
};

}  // namespace tidemark::dialect::test
