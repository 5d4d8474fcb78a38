// What kind of body a Content-Type announces, as far as a stream's machines care.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark::session {

enum class MediaType : std::uint8_t { None, EventStream, Json, Html, PlainText, Other };

/// RFC 9110 § 8.3.1: type and subtype are case-insensitive, parameters follow a semicolon. Json: application/json and
/// every subtype that ends in +json.
constexpr MediaType media_type(std::string_view content_type) {
  std::string_view essence = content_type.substr(0, content_type.find(';'));
  while (!essence.empty() && (essence.back() == ' ' || essence.back() == '\t')) essence.remove_suffix(1);
  while (!essence.empty() && (essence.front() == ' ' || essence.front() == '\t')) essence.remove_prefix(1);

  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  const auto ends_with = [&](std::string_view word) {
    if (essence.size() < word.size()) return false;
    const std::size_t from = essence.size() - word.size();
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (lower(essence[from + i]) != word[i]) return false;
    }
    return true;
  };
  const auto is = [&](std::string_view word) { return essence.size() == word.size() && ends_with(word); };

  if (essence.empty()) return MediaType::None;
  if (is("text/event-stream")) return MediaType::EventStream;
  if (is("application/json") || ends_with("+json")) return MediaType::Json;
  if (is("text/html") || is("application/xhtml+xml")) return MediaType::Html;
  if (is("text/plain")) return MediaType::PlainText;
  return MediaType::Other;
}

}  // namespace tidemark::session
