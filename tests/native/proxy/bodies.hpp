// Streams and requests that the proxy's tests share, and how a stream's bytes are taken apart.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "native/http/message.hpp"
#include "tests/native/proxy/http_client.hpp"
#include "tests/native/proxy/scripted_upstream.hpp"

namespace tidemark::test {

inline const std::string kChatPath = "/v1/chat/completions";
inline const std::string kChatBody = R"({"model":"m","stream":true,"messages":[]})";
inline const std::string kKey = "a-key-of-more-than-twenty-characters";

inline http::Headers with_key(const std::string& key = kKey, http::Headers more = {}) {
  more.add("Idempotency-Key", key);
  more.add("Content-Type", "application/json");
  return more;
}

inline std::string chat_event(const std::string& text) {
  return R"(data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":")" +
         text + R"("},"finish_reason":null}]})" + "\n\n";
}
inline std::string chat_finish() {
  return R"(data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
         "\n\ndata: [DONE]\n\n";
}
/// Pieces "word0 ", "word1 ", …, each an event, then the finish.
inline std::vector<std::string> chat_pieces(int words) {
  std::vector<std::string> pieces;
  for (int i = 0; i < words; ++i) pieces.push_back(chat_event("word" + std::to_string(i) + " "));
  pieces.push_back(chat_finish());
  return pieces;
}
inline Answer answer_with(std::vector<std::string> pieces) {
  Answer answer;
  answer.pieces = std::move(pieces);
  return answer;
}

/// The blocks of a stream's body, the blank line included; comments are blocks too.
inline std::vector<std::string> blocks_of(const std::string& body) {
  std::vector<std::string> blocks;
  std::size_t at = 0;
  for (std::size_t end = body.find("\n\n"); end != std::string::npos; end = body.find("\n\n", at)) {
    blocks.push_back(body.substr(at, end + 2 - at));
    at = end + 2;
  }
  if (at < body.size()) blocks.push_back(body.substr(at));
  return blocks;
}

/// The body with every `id:` line taken out.
inline std::string without_ids(const std::string& body) {
  std::string out;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size() - 1) + 1;
    if (body.compare(at, 3, "id:") != 0) out += body.substr(at, end - at);
    at = end;
  }
  return out;
}

inline bool ends_with(const std::string& body, const std::string& end) {
  return body.size() >= end.size() && body.compare(body.size() - end.size(), end.size(), end) == 0;
}

inline const std::string kCompleteEnd = ": tidemark end=complete reason=terminal-marker\n\n";

/// The answer's text, of chat completions.
inline std::string text_of(const std::string& body) {
  std::string text;
  for (const std::string& block : blocks_of(body)) {
    const std::size_t at = block.find("data: {");
    if (at == std::string::npos) continue;
    const auto data = nlohmann::json::parse(block.substr(at + 6));
    if (data.contains("choices")) text += data["choices"][0]["delta"].value("content", "");
  }
  return text;
}

/// The code of an error of the OpenAI shape.
inline std::string error_code(const Reply& reply) {
  return nlohmann::json::parse(reply.body).at("error").at("code").get<std::string>();
}
inline nlohmann::json stream_page(HttpClient& client, const std::string& id = kKey) {
  return nlohmann::json::parse(client.ask("GET", "/tidemark/streams/" + id).body);
}

}  // namespace tidemark::test
