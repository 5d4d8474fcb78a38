// Recordings, and the rendering of an answer in each dialect.
#include "native/simulate/script.hpp"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/dialect/interpreter.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using Json = nlohmann::ordered_json;

constexpr std::string_view kModel = "simulated-1";
constexpr std::int64_t kCreated = 1760000000;

constexpr std::string_view kBuiltInReasoning =
    "The question is about tides. I should explain the two bulges, why there are two a day, and what a tide mark is.";

constexpr std::string_view kBuiltInText =
    "**Why the sea comes back**\n\n"
    "Twice a day the sea withdraws, and twice a day it returns. The Moon pulls on the near side of the Earth a little "
    "harder than on its centre, and on its centre a little harder than on the far side. The water answers with two "
    "bulges: one towards the Moon, one away from it. The Earth turns beneath them, and so a beach meets high water "
    "about every twelve hours and twenty-five minutes.\n\n"
    "The Sun does the same, at a little less than half the strength. When Sun, Moon and Earth stand in line, the two "
    "pulls add up to a *spring tide*; when they stand at right angles, they spoil each other and we see a *neap tide*. "
    "Coasts make the rest: in the open ocean the range is hardly a metre, in the Bay of Fundy it is sixteen.\n\n"
    "| place | range |\n|---|---|\n| open ocean | ≈ 0.6 m |\n| Saint-Malo | 12 m |\n| Bay of Fundy | 16 m |\n\n"
    "Sailors of every language have a word for it — *marée*, *прилив*, 潮汐, 満潮, मद 🌊. What the water leaves behind "
    "on the sand, a line of foam and seaweed, is the **tide mark**: it says how far the sea had come. If you walk away "
    "and come back, you need not guess; you look for the line, and go on from there.\n\n"
    "```python\ndef high_water(first, n):\n    return [first + i * 12.42 for i in range(n)]\n```\n\n"
    "That is all the arithmetic that a beach needs. The rest is patience: the tide has never yet failed to return.";

// Words with the space before them, as models' tokens come; a cut never falls inside a code point.
std::vector<std::string> into_pieces(std::string_view text) {
  std::vector<std::string> pieces;
  std::string piece;
  for (const char c : text) {
    if ((c == ' ' || c == '\n') && !piece.empty() && piece.back() != '\n' && piece.back() != ' ') {
      pieces.push_back(std::move(piece));
      piece.clear();
    }
    piece += c;
  }
  if (!piece.empty()) pieces.push_back(std::move(piece));
  return pieces;
}

ScriptEvent unnamed(const Json& data) { return {"", data.dump()}; }
ScriptEvent named(const Json& data) { return {data.at("type").get<std::string>(), data.dump()}; }

Json usage(std::size_t completion) {
  return {{"prompt_tokens", 12}, {"completion_tokens", completion}, {"total_tokens", 12 + completion}};
}

void render_openai_chat(Script& script, const Pieces& pieces) {
  const auto chunk = [](Json delta, Json finish) {
    return Json{
        {"id", "chatcmpl-simulated"},
        {"object", "chat.completion.chunk"},
        {"created", kCreated},
        {"model", kModel},
        {"choices", Json::array({{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}})}};
  };
  script.events.push_back(unnamed(chunk({{"role", "assistant"}, {"content", ""}}, nullptr)));
  for (const std::string& piece : pieces.reasoning) {
    script.events.push_back(unnamed(chunk({{"reasoning_content", piece}}, nullptr)));
  }
  for (const std::string& piece : pieces.text) script.events.push_back(unnamed(chunk({{"content", piece}}, nullptr)));
  Json last = chunk(Json::object(), "stop");
  last["usage"] = usage(pieces.text.size());
  script.events.push_back(unnamed(last));
  script.events.push_back({"", "[DONE]"});
}

void render_openai_responses(Script& script, const Pieces& pieces) {
  std::size_t sequence = 0;
  const auto say = [&](Json event) {
    event["sequence_number"] = sequence++;
    script.events.push_back(named(event));
  };
  const auto response = [&](std::string_view status, Json output) {
    return Json{{"id", "resp_simulated"},
                {"object", "response"},
                {"created_at", kCreated},
                {"status", status},
                {"model", kModel},
                {"error", nullptr},
                {"incomplete_details", nullptr},
                {"output", std::move(output)},
                {"usage", nullptr}};
  };
  say({{"type", "response.created"}, {"response", response("in_progress", Json::array())}});
  say({{"type", "response.in_progress"}, {"response", response("in_progress", Json::array())}});
  Json output = Json::array();
  if (!pieces.reasoning.empty()) {
    std::string joined;
    Json item = {{"id", "rs_simulated"}, {"type", "reasoning"}, {"summary", Json::array()}};
    say({{"type", "response.output_item.added"}, {"output_index", 0}, {"item", item}});
    say({{"type", "response.reasoning_summary_part.added"},
         {"item_id", "rs_simulated"},
         {"output_index", 0},
         {"summary_index", 0},
         {"part", {{"type", "summary_text"}, {"text", ""}}}});
    for (const std::string& piece : pieces.reasoning) {
      joined += piece;
      say({{"type", "response.reasoning_summary_text.delta"},
           {"item_id", "rs_simulated"},
           {"output_index", 0},
           {"summary_index", 0},
           {"delta", piece}});
    }
    say({{"type", "response.reasoning_summary_text.done"},
         {"item_id", "rs_simulated"},
         {"output_index", 0},
         {"summary_index", 0},
         {"text", joined}});
    item["summary"] = Json::array({{{"type", "summary_text"}, {"text", joined}}});
    say({{"type", "response.reasoning_summary_part.done"},
         {"item_id", "rs_simulated"},
         {"output_index", 0},
         {"summary_index", 0},
         {"part", item["summary"][0]}});
    say({{"type", "response.output_item.done"}, {"output_index", 0}, {"item", item}});
    output.push_back(item);
  }
  const std::size_t index = output.size();
  const std::string text = pieces.joined_text();
  const auto message = [](std::string_view status, Json content) {
    return Json{{"id", "msg_simulated"},
                {"type", "message"},
                {"status", status},
                {"role", "assistant"},
                {"content", std::move(content)}};
  };
  const Json part = {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}};
  say({{"type", "response.output_item.added"},
       {"output_index", index},
       {"item", message("in_progress", Json::array())}});
  say({{"type", "response.content_part.added"},
       {"item_id", "msg_simulated"},
       {"output_index", index},
       {"content_index", 0},
       {"part", {{"type", "output_text"}, {"text", ""}, {"annotations", Json::array()}}}});
  for (const std::string& piece : pieces.text) {
    say({{"type", "response.output_text.delta"},
         {"item_id", "msg_simulated"},
         {"output_index", index},
         {"content_index", 0},
         {"delta", piece}});
  }
  say({{"type", "response.output_text.done"},
       {"item_id", "msg_simulated"},
       {"output_index", index},
       {"content_index", 0},
       {"text", text}});
  say({{"type", "response.content_part.done"},
       {"item_id", "msg_simulated"},
       {"output_index", index},
       {"content_index", 0},
       {"part", part}});
  const Json done = message("completed", Json::array({part}));
  say({{"type", "response.output_item.done"}, {"output_index", index}, {"item", done}});
  output.push_back(done);
  Json completed = response("completed", output);
  completed["usage"] = {
      {"input_tokens", 12}, {"output_tokens", pieces.text.size()}, {"total_tokens", 12 + pieces.text.size()}};
  say({{"type", "response.completed"}, {"response", completed}});
}

void render_anthropic_messages(Script& script, const Pieces& pieces) {
  const auto say = [&](const Json& event) { script.events.push_back(named(event)); };
  say({{"type", "message_start"},
       {"message",
        {{"id", "msg_simulated"},
         {"type", "message"},
         {"role", "assistant"},
         {"model", kModel},
         {"content", Json::array()},
         {"stop_reason", nullptr},
         {"stop_sequence", nullptr},
         {"usage", {{"input_tokens", 12}, {"output_tokens", 1}}}}}});
  std::size_t index = 0;
  const auto block = [&](const Json& start, std::string_view delta_type, std::string_view key,
                         const std::vector<std::string>& deltas) {
    say({{"type", "content_block_start"}, {"index", index}, {"content_block", start}});
    if (index == 0) say({{"type", "ping"}});
    for (const std::string& piece : deltas) {
      say({{"type", "content_block_delta"}, {"index", index}, {"delta", {{"type", delta_type}, {key, piece}}}});
    }
    say({{"type", "content_block_stop"}, {"index", index}});
    ++index;
  };
  if (!pieces.reasoning.empty()) {
    block({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, "thinking_delta", "thinking", pieces.reasoning);
  }
  block({{"type", "text"}, {"text", ""}}, "text_delta", "text", pieces.text);
  say({{"type", "message_delta"},
       {"delta", {{"stop_reason", "end_turn"}, {"stop_sequence", nullptr}}},
       {"usage", {{"output_tokens", pieces.text.size()}}}});
  say({{"type", "message_stop"}});
}

void render_seq_delta(Script& script, const Pieces& pieces) {
  std::size_t seq = 0;
  for (const std::string& piece : pieces.reasoning)
    script.events.push_back(unnamed({{"seq", seq++}, {"reasoning", piece}}));
  for (const std::string& piece : pieces.text) script.events.push_back(unnamed({{"seq", seq++}, {"delta", piece}}));
  script.events.push_back(unnamed({{"seq", seq}, {"done", true}}));
}

// Numbers the events, counts what comes before the content and what is reasoning; calls `heard` with what each means.
template <class Heard>
void measure(Script& script, Heard heard) {
  dialect::Interpreter interpreter(script.dialect);
  bool content = false;
  bool answer = false;
  for (std::size_t i = 0; i < script.events.size(); ++i) {
    sse::Event event;
    event.name = script.events[i].name;
    event.data = script.events[i].data;
    const dialect::Meaning meaning = interpreter.interpret(event);
    script.events[i].sequence = meaning.sequence;
    if (dialect::is_content(meaning.kind)) {
      content = true;
      answer = answer || meaning.kind != dialect::Kind::Reasoning;
      if (!answer) script.thoughts = i + 1;
    }
    if (!content) script.preamble = i + 1;
    heard(meaning);
  }
}

bool has_event_lines(Dialect dialect) {
  return dialect == Dialect::OpenaiResponses || dialect == Dialect::AnthropicMessages;
}

}  // namespace

std::string Pieces::joined_text() const {
  std::string joined;
  for (const std::string& piece : text) joined += piece;
  return joined;
}

std::size_t Script::above(seam::Seq watermark) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].sequence && static_cast<seam::Seq>(*events[i].sequence) <= watermark) next = i + 1;
  }
  return next;
}

Pieces built_in_pieces() { return {{}, into_pieces(kBuiltInText)}; }

std::vector<std::string> built_in_reasoning() { return into_pieces(kBuiltInReasoning); }

Script render(Dialect dialect, const Pieces& pieces) {
  Script script;
  script.dialect = dialect;
  switch (dialect) {
    case Dialect::OpenaiChat:
      render_openai_chat(script, pieces);
      break;
    case Dialect::OpenaiResponses:
      render_openai_responses(script, pieces);
      break;
    case Dialect::AnthropicMessages:
      render_anthropic_messages(script, pieces);
      break;
    case Dialect::SeqDelta:
      render_seq_delta(script, pieces);
      break;
    case Dialect::Gemini:
    case Dialect::AiSdkUi:
    case Dialect::Opaque:
      break;  // excluded by the precondition
  }
  measure(script, [](const dialect::Meaning&) {});
  return script;
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
  measure(script, [&recording](const dialect::Meaning& meaning) {
    if (!meaning.reasoning.empty()) recording.pieces_.reasoning.emplace_back(meaning.reasoning);
    if (!meaning.text.empty()) recording.pieces_.text.emplace_back(meaning.text);
  });
  recording.recorded_ = std::move(script);
  return recording;
}

Script Recording::script(Dialect endpoint, Reasoning reasoning) const {
  Script script = recorded_ && recorded_->dialect == endpoint ? *recorded_ : render(endpoint, pieces_);
  if (reasoning == Reasoning::AsRecorded || script.thoughts > 0) return script;
  return render(endpoint, Pieces{built_in_reasoning(), pieces_.text});
}

}  // namespace tidemark::simulate
