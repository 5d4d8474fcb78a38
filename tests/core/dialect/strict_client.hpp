// Takes a stream as the strictest official client of its dialect would, and says what it would fail on.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/dialect/dialect.hpp"

namespace tidemark::dialect::test {

/// openai-responses and anthropic-messages assemble an answer out of bracketed parts; of the other dialects only their
/// chunks' shape is checked. Copyable: a copy goes on from the same point.
class StrictClient {
 public:
  explicit StrictClient(Dialect dialect) : dialect_(dialect) {}

  /// Empty, or what is wrong with the event.
  std::string take(const std::string& name, const std::string& data) {
    if (ended_) return "an event after the end";
    if (data == "[DONE]") {
      ended_ = dialect_ == Dialect::OpenaiChat || dialect_ == Dialect::SeqDelta || dialect_ == Dialect::AiSdkUi;
      return ended_ ? "" : "[DONE] in a dialect that has none";
    }
    const Json event = Json::parse(data, nullptr, false);
    if (!event.is_object()) return "no JSON object";
    switch (dialect_) {
      case Dialect::OpenaiChat:
        return take_chat(event);
      case Dialect::OpenaiResponses:
        return name != event.value("type", "") ? "event line and type differ" : take_responses(event);
      case Dialect::AnthropicMessages:
        return name != event.value("type", "") ? "event line and type differ" : take_anthropic(event);
      case Dialect::Gemini:
      case Dialect::SeqDelta:
      case Dialect::AiSdkUi:
      case Dialect::Opaque:
        return "";
    }
    return "";
  }

  /// At the end of the stream: empty, or what is wrong with the whole. `text`: the answer's text.
  std::string at_end(const std::string& text) const {
    if (dialect_ == Dialect::OpenaiChat && (!ended_ || !finished_)) return "no finish_reason, or no [DONE]";
    if (dialect_ == Dialect::AnthropicMessages) {
      if (!ended_) return "no message_stop";
      if (text_ != text) return "assembled '" + text_ + "'";
    }
    if (dialect_ == Dialect::OpenaiResponses) {
      if (!ended_) return "no terminal event";
      if (text_ != text) return "the response's output says '" + text_ + "'";
    }
    return "";
  }

 private:
  using Json = nlohmann::json;

  std::string take_chat(const Json& chunk) {
    for (const char* key : {"id", "model"}) {
      if (!chunk.contains(key) || !chunk[key].is_string()) return std::string("no ") + key;
      std::string& known = key == std::string("id") ? id_ : model_;
      if (!known.empty() && known != chunk[key]) return std::string("another ") + key;
      known = chunk[key];
    }
    if (!chunk.contains("created") || !chunk["created"].is_number_unsigned()) return "no created";
    if (!chunk.contains("choices") || !chunk["choices"].is_array()) return "no choices";
    for (const Json& choice : chunk["choices"]) {
      if (finished_) return "a choice after its finish_reason";
      if (!choice.contains("delta") || !choice["delta"].is_object()) return "no delta";
      if (choice.contains("finish_reason") && choice["finish_reason"].is_string()) finished_ = true;
    }
    return "";
  }

  std::string take_anthropic(const Json& event) {
    const auto type = event.at("type").get<std::string>();
    if (type == "ping") return "";
    if (type == "message_start") {
      if (started_) return "a second message_start";
      started_ = true;
      return "";
    }
    if (!started_) return type + " before message_start";
    if (type == "content_block_start") {
      if (open_) return "a block within a block";
      if (event.at("index") != blocks_) return "a block's index is not the next";
      if (finished_) return "a block after message_delta";
      ++blocks_;
      open_ = event.at("index").get<int>();
      open_type_ = event.at("content_block").at("type").get<std::string>();
      return "";
    }
    if (type == "content_block_delta") {
      if (!open_ || event.at("index") != *open_) return "a delta outside its block";
      if (event.at("delta").at("type") == "text_delta") {
        if (open_type_ != "text") return "text in a block of type " + open_type_;
        text_ += event["delta"].at("text").get<std::string>();
      }
      return "";
    }
    if (type == "content_block_stop") {
      if (!open_ || event.at("index") != *open_) return "the end of a block that is not open";
      open_.reset();
      return "";
    }
    if (type == "message_delta") {
      if (open_) return "message_delta within a block";
      if (!event.at("delta").at("stop_reason").is_string()) return "no stop_reason";
      if (!event.at("usage").at("output_tokens").is_number()) return "no usage";
      finished_ = true;
      return "";
    }
    if (type != "message_stop") return "an unknown type";
    if (open_ || !finished_) return "message_stop too early";
    ended_ = true;
    return "";
  }

  std::string take_responses(const Json& event) {
    const auto type = event.at("type").get<std::string>();
    if (event.contains("sequence_number")) {
      const auto number = event["sequence_number"].get<long long>();
      if (number <= number_) return "sequence_number does not rise";
      number_ = number;
    }
    if (type == "response.created" || type == "response.in_progress") return "";
    if (type == "response.completed" || type == "response.incomplete") return take_response(type, event.at("response"));
    if (!event.contains("output_index")) return "";
    const int index = event["output_index"].get<int>();
    if (type == "response.output_item.added") {
      if (items_.count(index) != 0) return "an index twice";
      items_[index] = {event.at("item").at("type").get<std::string>(), {}, false};
      return "";
    }
    const auto item = items_.find(index);
    if (item == items_.end()) return "an event of an item that was not added";
    if (item->second.done) return "an event of an item that is done";
    if (type == "response.output_item.done") {
      if (event.at("item").at("type") != item->second.type) return "an item of another type";
      if (item->second.type == "message" && text_of(event.at("item")) != item->second.text)
        return "an item with other text";
      item->second.done = true;
    }
    if (type == "response.output_text.delta") {
      if (item->second.type != "message") return "text in an item of type " + item->second.type;
      item->second.text += event.at("delta").get<std::string>();
    }
    if (type == "response.output_text.done" && event.at("text") != item->second.text)
      return "output_text.done with other text";
    return "";
  }

  std::string take_response(const std::string& type, const Json& response) {
    if ("response." + response.at("status").get<std::string>() != type) return "status and type differ";
    if (!response.at("id").is_string() || !response.at("model").is_string()) return "no id or no model";
    if (type == "response.incomplete" && !response.at("incomplete_details").at("reason").is_string())
      return "no reason";
    for (const auto& [index, item] : items_) {
      const bool shown = item.type == "message" || item.type == "reasoning";
      if (shown && !item.done) return "an item is still open";
    }
    for (const Json& item : response.at("output")) text_ += text_of(item);
    ended_ = true;
    return "";
  }

  static std::string text_of(const Json& item) {
    std::string text;
    if (!item.contains("content") || !item["content"].is_array()) return text;
    for (const Json& part : item["content"]) text += part.value("text", part.value("refusal", ""));
    return text;
  }

  struct Item {
    std::string type;
    std::string text;
    bool done = false;
  };

  Dialect dialect_;
  bool started_ = false;
  bool finished_ = false;
  bool ended_ = false;
  std::optional<int> open_;
  std::string open_type_;
  int blocks_ = 0;
  std::map<int, Item> items_;
  long long number_ = -1;
  std::string id_, model_;
  std::string text_;
};

}  // namespace tidemark::dialect::test
