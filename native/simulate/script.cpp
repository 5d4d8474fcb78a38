// Scripts measured, and recordings.
#include "native/simulate/script.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/dialect/interpreter.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using Json = nlohmann::ordered_json;

bool has_event_lines(Dialect dialect) {
  return dialect == Dialect::OpenaiResponses || dialect == Dialect::AnthropicMessages;
}

}  // namespace

void Script::measure() {
  dialect::Interpreter interpreter(dialect);
  preamble = 0;
  thoughts = 0;
  bool content = false;
  bool answer = false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    sse::Event event;
    event.name = events[i].name;
    event.data = events[i].data;
    const dialect::Meaning meaning = interpreter.interpret(event);
    events[i].sequence = meaning.sequence;
    events[i].text = meaning.text;
    events[i].reasoning = meaning.reasoning;
    events[i].finishes = meaning.finish != dialect::Finish::None;
    if (dialect::is_content(meaning.kind)) {
      content = true;
      answer = answer || meaning.kind != dialect::Kind::Reasoning;
      if (!answer) thoughts = i + 1;
    }
    if (!content) preamble = i + 1;
  }
}

std::string Script::text() const {
  std::string joined;
  for (const ScriptEvent& event : events) joined += event.text;
  return joined;
}

std::size_t Script::above(seam::Seq watermark) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].sequence && static_cast<seam::Seq>(*events[i].sequence) <= watermark) next = i + 1;
  }
  return next;
}

Recording::Recording() : pieces_(built_in_pieces()) {}

Result<Recording, std::string> Recording::load(const std::string& file, std::optional<Dialect> dialect) {
  std::ifstream in(file);
  if (!in) return "recording: cannot read '" + file + "'; allowed: a readable file of JSON lines";
  Recording recording;
  recording.pieces_ = {};
  Script script;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    ScriptEvent event{"", line};
    if (line != "[DONE]") {
      const Json json = Json::parse(line, nullptr, false);
      if (!json.is_object()) {
        return "recording: '" + file + "' line " + std::to_string(number) +
               "; allowed: one JSON object a line, or [DONE]";
      }
      if (json.contains("type") && json["type"].is_string()) event.name = json["type"].get<std::string>();
    }
    script.events.push_back(std::move(event));
  }
  if (script.events.empty()) return "recording: '" + file + "' is empty; allowed: at least one JSON object";

  sse::Event first;
  first.name = script.events.front().name;
  first.data = script.events.front().data;
  script.dialect = dialect ? *dialect : dialect::from_first_event(first);
  if (script.dialect == Dialect::Opaque) {
    return "recording: '" + file + "': its dialect can't be told from its first line; name it with --dialect";
  }
  if (script.dialect == Dialect::OpenaiChat && script.events.back().data != "[DONE]")
    script.events.push_back({"", "[DONE]"});

  if (!has_event_lines(script.dialect)) {
    for (ScriptEvent& event : script.events) event.name.clear();
  }
  script.measure();
  for (const ScriptEvent& event : script.events) {
    if (!event.reasoning.empty()) recording.pieces_.reasoning.push_back(event.reasoning);
    if (!event.text.empty()) recording.pieces_.text.push_back(event.text);
  }
  recording.recorded_ = std::move(script);
  return recording;
}

Script Recording::script(Dialect endpoint, Reasoning reasoning, const std::string& mark) const {
  Script script = recorded_ && recorded_->dialect == endpoint ? *recorded_ : render(endpoint, pieces_, mark);
  if (reasoning == Reasoning::AsRecorded || script.thoughts > 0) return script;
  return render(endpoint, Pieces{built_in_reasoning(), pieces_.text}, mark);
}

}  // namespace tidemark::simulate
