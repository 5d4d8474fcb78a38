// Server-sent events, events to bytes.
#include "core/sse/encoder.hpp"

#include "core/sse/byte_scan.hpp"

namespace tidemark::sse {
namespace {

struct Line {
  std::string_view text;
  std::string_view end;  // "\n", "\r\n", "\r", or empty: the input was over
};

// Takes the first line off `rest`, which must not be empty.
Line take_line(std::string_view& rest) {
  const char* const stop = find_line_end(rest.data(), rest.data() + rest.size());
  const auto size = static_cast<std::size_t>(stop - rest.data());
  const bool crlf = rest.substr(size, 2) == "\r\n";
  const Line line{rest.substr(0, size), rest.substr(size, crlf ? 2 : 1)};
  rest.remove_prefix(line.text.size() + line.end.size());
  return line;
}

bool is_id(std::string_view line) { return line.substr(0, 2) == "id" && (line.size() == 2 || line[2] == ':'); }

void append_field(std::string& out, std::string_view name, std::string_view value, std::string_view line_end) {
  out.append(name).append(": ").append(value).append(line_end);
}

}  // namespace

void append_with_id(std::string& out, const Event& event, std::string_view id) {
  // A blank line that begins with LF would melt into a CR before it, so it ends as the last line that is kept.
  std::string_view line_end = event.line_end;
  if (event.has_id) {
    for (std::string_view rest = event.block; !rest.empty();) {
      const Line line = take_line(rest);
      if (!is_id(line.text) && !line.end.empty()) line_end = line.end;
    }
  }
  out.reserve(out.size() + event.block.size() + id.size() + 12);
  append_field(out, "id", id, line_end);
  if (!event.has_id) {
    out += event.block;
  } else {
    for (std::string_view rest = event.block; !rest.empty();) {
      const Line line = take_line(rest);
      if (!is_id(line.text)) out.append(line.text).append(line.end);
    }
  }
  if (!is_line_end(out.back())) out += line_end;
  out += line_end;
}

void append_event(std::string& out, std::string_view name, std::string_view data, std::string_view id) {
  if (!id.empty()) append_field(out, "id", id, "\n");
  if (!name.empty()) append_field(out, "event", name, "\n");
  Line line{{}, "\n"};
  while (!line.end.empty()) {
    line = data.empty() ? Line{} : take_line(data);
    append_field(out, "data", line.text, "\n");
  }
  out += '\n';
}

void append_comment(std::string& out, std::string_view text) { out.append(": ").append(text).append("\n\n"); }

}  // namespace tidemark::sse
