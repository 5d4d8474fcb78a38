// HTTP messages.
#include "native/http/message.hpp"

#include <algorithm>
#include <array>

namespace tidemark::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Visit>
void for_each_token(std::string_view value, Visit visit) {
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    const std::string_view token = trimmed(value.substr(0, comma));
    if (!token.empty()) visit(token);
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

}  // namespace

bool equal_names(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

const std::string* Headers::find(std::string_view name) const {
  for (const Header& field : fields_) {
    if (equal_names(field.name, name)) return &field.value;
  }
  return nullptr;
}

std::string_view Headers::get(std::string_view name) const {
  const std::string* value = find(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(fields_.begin(), fields_.end(),
                                                [&](const Header& field) { return equal_names(field.name, name); }));
}

void Headers::add(std::string_view name, std::string_view value) {
  fields_.push_back({std::string(name), std::string(value)});
}

void Headers::set(std::string_view name, std::string_view value) {
  const auto first =
      std::find_if(fields_.begin(), fields_.end(), [&](const Header& field) { return equal_names(field.name, name); });
  if (first == fields_.end()) {
    add(name, value);
    return;
  }
  first->value = value;
  fields_.erase(
      std::remove_if(first + 1, fields_.end(), [&](const Header& field) { return equal_names(field.name, name); }),
      fields_.end());
}

void Headers::remove(std::string_view name) {
  fields_.erase(std::remove_if(fields_.begin(), fields_.end(),
                               [&](const Header& field) { return equal_names(field.name, name); }),
                fields_.end());
}

bool has_token(std::string_view value, std::string_view token) {
  bool found = false;
  for_each_token(value, [&](std::string_view one) { found = found || equal_names(one, token); });
  return found;
}

void remove_hop_by_hop(Headers& headers) {
  std::vector<std::string> named;
  for (const Header& field : headers) {
    if (!equal_names(field.name, "connection")) continue;
    for_each_token(field.value, [&](std::string_view token) { named.emplace_back(token); });
  }
  for (const std::string& name : named) headers.remove(name);
  constexpr std::array<std::string_view, 9> kConnectionOnly{
      "connection", "keep-alive",        "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
      "trailer",    "transfer-encoding", "upgrade"};
  for (const std::string_view name : kConnectionOnly) headers.remove(name);
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return {};
  }
}

}  // namespace tidemark::http
