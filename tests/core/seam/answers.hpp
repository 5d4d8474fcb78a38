// What the official SDKs' accumulators build from a whole stream, as one JSON value; a stream that they would not take
// is a string that says why.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/dialect/ending.hpp"
#include "tests/core/dialect/strict_client.hpp"

namespace tidemark::seam::test {

using Json = nlohmann::ordered_json;
using Events = std::vector<dialect::OwnEvent>;

inline void merge_tool_calls(Json& calls, const Json& delta) {
  for (const Json& piece : delta) {
    const auto index = piece.at("index").get<std::size_t>();
    while (calls.size() <= index) calls.push_back({{"arguments", ""}});
    Json& call = calls[index];
    for (const char* key : {"id", "type"}) {
      if (piece.contains(key) && piece[key] != "") call[key] = piece[key];
    }
    if (!piece.contains("function")) continue;
    const Json& function = piece["function"];
    if (function.contains("name") && function["name"] != "") call["name"] = function["name"];
    call["arguments"] = call["arguments"].get<std::string>() + function.value("arguments", "");
  }
}

// Adds up all strings of a delta, the role's too, as openai-python does; takes the last of everything else.
inline Json chat_answer(const Events& events) {
  Json answer = {{"content", ""}, {"reasoning", ""}, {"role", ""}, {"tool_calls", Json::array()}};
  for (const auto& event : events) {
    if (event.data == "[DONE]") continue;
    const Json chunk = Json::parse(event.data);
    for (const char* key : {"id", "model", "created", "system_fingerprint"}) {
      if (!chunk.contains(key)) continue;
      if (answer.contains(key) && answer[key] != chunk[key] && !chunk[key].is_null()) return std::string("two ") + key;
      answer[key] = chunk[key];
    }
    if (chunk.contains("usage") && chunk["usage"].is_object()) answer["usage"] = chunk["usage"];
    for (const Json& choice : chunk.at("choices")) {
      const Json& delta = choice.at("delta");
      const auto add = [&](const char* from, const char* to) {
        if (delta.contains(from) && delta[from].is_string())
          answer[to] = answer[to].get<std::string>() + delta[from].get<std::string>();
      };
      add("role", "role");
      add("content", "content");
      add("reasoning_content", "reasoning");
      if (delta.contains("tool_calls")) merge_tool_calls(answer["tool_calls"], delta["tool_calls"]);
      if (choice.contains("finish_reason") && choice["finish_reason"].is_string())
        answer["finish_reason"] = choice["finish_reason"];
    }
  }
  if (answer["role"] != "" && answer["role"] != "assistant") return "role " + answer["role"].get<std::string>();
  return answer;
}

inline Json anthropic_answer(const Events& events) {
  Json message;
  for (const auto& own : events) {
    const Json event = Json::parse(own.data);
    const auto type = event.at("type").get<std::string>();
    if (type == "message_start") message = event.at("message");
    if (type == "content_block_start") {
      message["content"].push_back(event.at("content_block"));
      if (event.at("index") != message["content"].size() - 1) return "a block's index is not its place";
    }
    if (type == "content_block_delta") {
      Json& block = message["content"].at(event.at("index").get<std::size_t>());
      const Json& delta = event.at("delta");
      const auto kind = delta.at("type").get<std::string>();
      const auto add = [&](const char* key, const char* from) {
        block[key] = (block.contains(key) && block[key].is_string() ? block[key].get<std::string>() : "") +
                     delta.at(from).get<std::string>();
      };
      if (kind == "text_delta") add("text", "text");
      if (kind == "thinking_delta") add("thinking", "thinking");
      if (kind == "input_json_delta") add("input", "partial_json");
      if (kind == "signature_delta") block["signature"] = delta.at("signature");
      if (kind == "citations_delta") block["citations"].push_back(delta.at("citation"));
    }
    if (type == "message_delta") {
      message.update(event.at("delta"));
      message["usage"].update(event.at("usage"));
    }
  }
  return message;
}

// The texts by item as their deltas make them, and the response as its last event tells it.
inline Json responses_answer(const Events& events) {
  Json texts = Json::array();
  Json response;
  long long number = -1;
  for (const auto& own : events) {
    const Json event = Json::parse(own.data);
    const auto type = event.at("type").get<std::string>();
    if (event.contains("sequence_number") && event["sequence_number"] != ++number) return "a hole in the numbers";
    if (event.contains("response")) {
      if (!response.is_null() && response.at("id") != event["response"].at("id")) return "another response";
      response = event["response"];
    }
    if (!event.contains("output_index")) continue;
    const auto index = event["output_index"].get<std::size_t>();
    if (type == "response.output_item.added") {
      if (index != texts.size()) return "an item's index is not the next";
      texts.push_back({{"id", event.at("item").value("id", "")}, {"text", Json::array()}});
    }
    if (index >= texts.size()) return "an event of no item";
    Json& parts = texts[index]["text"];
    if (type == "response.content_part.added") {
      if (event.at("content_index") != parts.size()) return "a part's index is not the next";
      parts.push_back("");
    }
    if (type == "response.output_text.delta" || type == "response.refusal.delta") {
      Json& part = parts.at(event.at("content_index").get<std::size_t>());
      part = part.get<std::string>() + event.at("delta").get<std::string>();
    }
    if (type == "response.output_text.done" && parts.at(event.at("content_index").get<std::size_t>()) != event["text"])
      return "output_text.done with other text";
    if (type == "response.content_part.done" && event.at("part").contains("text") &&
        parts.at(event.at("content_index").get<std::size_t>()) != event["part"]["text"])
      return "content_part.done with other text";
  }
  return {{"items", texts}, {"response", response}};
}

inline Json gemini_answer(const Events& events) {
  Json answer = {{"parts", Json::array()}};
  for (const auto& own : events) {
    const Json chunk = Json::parse(own.data);
    for (const char* key : {"responseId", "modelVersion"}) {
      if (answer.contains(key) && answer[key] != chunk.at(key)) return std::string("two ") + key;
      answer[key] = chunk.at(key);
    }
    if (chunk.contains("usageMetadata")) answer["usage"] = chunk["usageMetadata"];
    for (const Json& candidate : chunk.at("candidates")) {
      if (candidate.contains("finishReason")) answer["finish"] = candidate["finishReason"];
      for (const Json& part : candidate.at("content").at("parts")) {
        Json& parts = answer["parts"];
        const bool plain = part.contains("text") && part.size() == 1;
        if (plain && part["text"] == "") continue;
        if (plain && !parts.empty() && parts.back().size() == 1 && parts.back().contains("text")) {
          parts.back()["text"] = parts.back()["text"].get<std::string>() + part["text"].get<std::string>();
        } else {
          parts.push_back(part);
        }
      }
    }
  }
  return answer;
}

/// Precondition: one of the four dialects.
inline Json answer_of(dialect::Dialect dialect, const Events& events) {
  dialect::test::StrictClient client(dialect);
  for (const auto& event : events) {
    const std::string wrong = client.take(event.name, event.data);
    if (!wrong.empty()) return wrong + " at " + event.data;
  }
  switch (dialect) {
    case dialect::Dialect::OpenaiChat:
      return chat_answer(events);
    case dialect::Dialect::OpenaiResponses:
      return responses_answer(events);
    case dialect::Dialect::AnthropicMessages:
      return anthropic_answer(events);
    default:
      return gemini_answer(events);
  }
}

}  // namespace tidemark::seam::test
