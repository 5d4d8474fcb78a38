// Heads and chunk sizes.
#include "native/http/h1_writer.hpp"

#include <algorithm>
#include <array>

namespace tidemark::http {
namespace {

void append_clean(std::string_view text, std::string& out) {
  const std::size_t start = out.size();
  out += text;
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
}

void append_field(std::string_view name, std::string_view value, std::string& out) {
  append_clean(name, out);
  out += ": ";
  append_clean(value, out);
  out += "\r\n";
}

bool is_about_framing(std::string_view name, bool length_too) {
  return equal_names(name, "connection") || equal_names(name, "keep-alive") || equal_names(name, "transfer-encoding") ||
         (length_too && equal_names(name, "content-length"));
}

}  // namespace

void write_head(const ResponseHead& head, Framing framing, std::size_t length, bool keep_alive, int minor_version,
                std::string& out) {
  out += "HTTP/1.1 ";
  out += std::to_string(head.status);
  out += ' ';
  append_clean(head.reason.empty() ? reason_phrase(head.status) : std::string_view(head.reason), out);
  out += "\r\n";
  const bool own_length = framing != Framing::None;
  for (const Header& field : head.headers) {
    if (!is_about_framing(field.name, own_length)) append_field(field.name, field.value, out);
  }
  switch (framing) {
    case Framing::Length:
      append_field("Content-Length", std::to_string(length), out);
      break;
    case Framing::Chunked:
      append_field("Transfer-Encoding", "chunked", out);
      break;
    case Framing::UntilEnd:
    case Framing::None:
      break;
  }
  if (!keep_alive) append_field("Connection", "close", out);
  if (keep_alive && minor_version == 0) append_field("Connection", "keep-alive", out);
  out += "\r\n";
}

void write_head(const RequestHead& head, std::size_t length, std::string_view host, std::string& out) {
  append_clean(head.method, out);
  out += ' ';
  append_clean(head.target, out);
  out += " HTTP/1.1\r\n";
  if (!head.headers.has("host")) append_field("Host", host, out);
  for (const Header& field : head.headers) {
    if (!is_about_framing(field.name, true)) append_field(field.name, field.value, out);
  }
  constexpr std::array<std::string_view, 3> kWithBody{"POST", "PUT", "PATCH"};
  if (length > 0 || std::find(kWithBody.begin(), kWithBody.end(), head.method) != kWithBody.end()) {
    append_field("Content-Length", std::to_string(length), out);
  }
  out += "\r\n";
}

std::size_t write_chunk_size(std::size_t size, char* room) {
  std::size_t at = kChunkSizeRoom;
  room[--at] = '\n';
  room[--at] = '\r';
  do {
    room[--at] = "0123456789abcdef"[size % 16];
    size /= 16;
  } while (size > 0 && at > 0);
  return at;
}

}  // namespace tidemark::http
