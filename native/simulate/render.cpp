// The rendering of an answer in each dialect.
#include <nlohmann/json.hpp>

#include "native/simulate/script.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using Json = nlohmann::ordered_json;

constexpr std::string_view kModel = "simulated-1";
constexpr std::int64_t kCreated = 1760000000;

ScriptEvent unnamed(const Json& data) { return {"", data.dump()}; }
ScriptEvent named(const Json& data) { return {data.at("type").get<std::string>(), data.dump()}; }

Json usage(std::size_t completion) {
  return {{"prompt_tokens", 12}, {"completion_tokens", completion}, {"total_tokens", 12 + completion}};
}

void render_openai_chat(Script& script, const Pieces& pieces, const std::string& mark) {
  const auto chunk = [&mark](Json delta, Json finish) {
    return Json{
        {"id", "chatcmpl-simulated" + mark},
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

void render_openai_responses(Script& script, const Pieces& pieces, const std::string& mark) {
  const std::string reasoning_id = "rs_simulated" + mark;
  const std::string message_id = "msg_simulated" + mark;
  std::size_t sequence = 0;
  const auto say = [&](Json event) {
    event["sequence_number"] = sequence++;
    script.events.push_back(named(event));
  };
  const auto response = [&](std::string_view status, Json output) {
    return Json{{"id", "resp_simulated" + mark},
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
    Json item = {{"id", reasoning_id}, {"type", "reasoning"}, {"summary", Json::array()}};
    say({{"type", "response.output_item.added"}, {"output_index", 0}, {"item", item}});
    say({{"type", "response.reasoning_summary_part.added"},
         {"item_id", reasoning_id},
         {"output_index", 0},
         {"summary_index", 0},
         {"part", {{"type", "summary_text"}, {"text", ""}}}});
    for (const std::string& piece : pieces.reasoning) {
      joined += piece;
      say({{"type", "response.reasoning_summary_text.delta"},
           {"item_id", reasoning_id},
           {"output_index", 0},
           {"summary_index", 0},
           {"delta", piece}});
    }
    say({{"type", "response.reasoning_summary_text.done"},
         {"item_id", reasoning_id},
         {"output_index", 0},
         {"summary_index", 0},
         {"text", joined}});
    item["summary"] = Json::array({{{"type", "summary_text"}, {"text", joined}}});
    say({{"type", "response.reasoning_summary_part.done"},
         {"item_id", reasoning_id},
         {"output_index", 0},
         {"summary_index", 0},
         {"part", item["summary"][0]}});
    say({{"type", "response.output_item.done"}, {"output_index", 0}, {"item", item}});
    output.push_back(item);
  }
  const std::size_t index = output.size();
  const std::string text = pieces.joined_text();
  const auto message = [&](std::string_view status, Json content) {
    return Json{{"id", message_id},
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
       {"item_id", message_id},
       {"output_index", index},
       {"content_index", 0},
       {"part", {{"type", "output_text"}, {"text", ""}, {"annotations", Json::array()}}}});
  for (const std::string& piece : pieces.text) {
    say({{"type", "response.output_text.delta"},
         {"item_id", message_id},
         {"output_index", index},
         {"content_index", 0},
         {"delta", piece}});
  }
  say({{"type", "response.output_text.done"},
       {"item_id", message_id},
       {"output_index", index},
       {"content_index", 0},
       {"text", text}});
  say({{"type", "response.content_part.done"},
       {"item_id", message_id},
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

void render_anthropic_messages(Script& script, const Pieces& pieces, const std::string& mark) {
  const auto say = [&](const Json& event) { script.events.push_back(named(event)); };
  say({{"type", "message_start"},
       {"message",
        {{"id", "msg_simulated" + mark},
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

}  // namespace

Script render(Dialect dialect, const Pieces& pieces, const std::string& mark) {
  Script script;
  script.dialect = dialect;
  switch (dialect) {
    case Dialect::OpenaiChat:
      render_openai_chat(script, pieces, mark);
      break;
    case Dialect::OpenaiResponses:
      render_openai_responses(script, pieces, mark);
      break;
    case Dialect::AnthropicMessages:
      render_anthropic_messages(script, pieces, mark);
      break;
    case Dialect::SeqDelta:
      render_seq_delta(script, pieces);
      break;
    case Dialect::Gemini:
    case Dialect::AiSdkUi:
    case Dialect::Opaque:
      break;  // excluded by the precondition
  }
  script.measure();
  return script;
}

}  // namespace tidemark::simulate
