// A slow event stream parser, written line by line after WHATWG HTML § 9.2.6, and the trace by which parsers are
// compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sse/parser.hpp"

namespace tidemark::sse::test {

/// One Event or Comment step with its own copies.
struct Entry {
  Step step = Step::Event;
  std::string name, data, id, block, line_end;
  bool has_id = false;

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// Everything that a parser says about a whole stream.
struct Trace {
  std::vector<Entry> entries;
  Error error = Error::None;
  std::optional<std::uint64_t> retry;
  std::string last_event_id;

  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Bytes as a C string literal shows them, for messages.
inline std::string escaped(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out + '"';
}

inline std::string show(const Trace& trace) {
  std::string out;
  for (const Entry& entry : trace.entries) {
    out += entry.step == Step::Event
               ? "event name=" + escaped(entry.name) + " data=" + escaped(entry.data) + " id=" + escaped(entry.id)
               : std::string("comment");
    out += " block=" + escaped(entry.block) + " line_end=" + escaped(entry.line_end);
    out += entry.has_id ? " has_id\n" : "\n";
  }
  out += "error: " + std::string(describe(trace.error));
  out += "\nretry: " + (trace.retry ? std::to_string(*trace.retry) : "none");
  return out + "\nlast_event_id: " + escaped(trace.last_event_id) + "\n";
}

struct ReferenceLine {
  std::string text;
  std::string end;  // empty: the stream was over
};

/// "Lines must be separated by either CRLF, a single LF or a single CR." What follows the last line end is a line too,
/// if it is not empty.
inline std::vector<ReferenceLine> reference_lines(std::string_view input) {
  if (input.substr(0, 3) == "\xEF\xBB\xBF") input.remove_prefix(3);
  std::vector<ReferenceLine> lines;
  ReferenceLine line;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (input[i] != '\n' && input[i] != '\r') {
      line.text += input[i];
      continue;
    }
    line.end = input[i];
    if (input[i] == '\r' && input.substr(i + 1, 1) == "\n") {
      line.end += '\n';
      ++i;
    }
    lines.push_back(line);
    line = {};
  }
  if (!line.text.empty()) lines.push_back(line);
  return lines;
}

inline Trace reference_parse(std::string_view input, const Limits& limits = {},
                             Parser::Tail tail = Parser::Tail::Discard) {
  Trace trace;
  Entry block;
  std::string data_buffer, id_buffer;
  std::string line_end = "\n";

  const auto dispatch = [&] {
    if (block.block.empty()) return;
    trace.last_event_id = id_buffer;
    block.step = data_buffer.empty() ? Step::Comment : Step::Event;
    if (block.step == Step::Event) {
      block.data = data_buffer.substr(0, data_buffer.size() - 1);
      block.id = id_buffer;
    } else {
      block.name.clear();
    }
    block.line_end = line_end;
    trace.entries.push_back(block);
    block = {};
    data_buffer.clear();
  };
  const auto grow = [&](char byte) {
    block.block += byte;
    if (block.block.size() > limits.max_event_bytes) trace.error = Error::EventTooLarge;
    return trace.error == Error::None;
  };

  for (const ReferenceLine& line : reference_lines(input)) {
    if (line.text.empty()) {
      dispatch();
      continue;
    }
    std::size_t line_bytes = 0;
    for (const char byte : line.text) {
      if (++line_bytes > limits.max_line_bytes) {
        trace.error = Error::LineTooLong;
        return trace;
      }
      if (!grow(byte)) return trace;
    }
    if (!line.end.empty() && !grow(line.end[0])) return trace;
    if (line.end.empty() && tail == Parser::Tail::Discard) break;

    const std::size_t colon = line.text.find(':');
    const std::string field = line.text.substr(0, colon);
    std::string value = colon == std::string::npos ? "" : line.text.substr(colon + 1);
    if (value.substr(0, 1) == " ") value.erase(0, 1);
    if (field == "event") block.name = value;
    if (field == "data") data_buffer += value + "\n";
    if (field == "id") {
      block.has_id = true;
      if (value.find('\0') == std::string::npos) id_buffer = value;
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (field == "retry" && !value.empty() && std::all_of(value.begin(), value.end(), is_digit)) {
      constexpr std::uint64_t kMax = 9007199254740991u;  // 2^53 - 1
      value.erase(0, std::min(value.find_first_not_of('0'), value.size() - 1));
      trace.retry = value.size() > 16 ? kMax : std::min<std::uint64_t>(std::stoull(value), kMax);
    }

    if (line.end.size() == 2 && !grow('\n')) return trace;
    if (!line.end.empty()) line_end = line.end;
  }
  if (tail == Parser::Tail::Dispatch) dispatch();
  return trace;
}

/// What the parser makes of `chunks`, fed one after the other.
inline Trace parse_chunks(const std::vector<std::string_view>& chunks, const Limits& limits = {},
                          Parser::Tail tail = Parser::Tail::Discard) {
  Trace trace;
  Parser parser(limits);
  Event event;
  const auto record = [&](Step step) {
    if (step != Step::Event && step != Step::Comment) return false;
    trace.entries.push_back({step, std::string(event.name), std::string(event.data), std::string(event.id),
                             std::string(event.block), std::string(event.line_end), event.has_id});
    return true;
  };
  for (const std::string_view chunk : chunks) {
    // A chunk of its own, of exactly this size and gone at the next: reading beyond or after it is found by sanitizers.
    const std::vector<char> bytes(chunk.begin(), chunk.end());
    parser.feed({bytes.data(), bytes.size()});
    while (record(parser.next(event))) {
    }
  }
  record(parser.end(tail, event));
  trace.error = parser.error();
  trace.retry = parser.retry_ms();
  trace.last_event_id = parser.last_event_id();
  return trace;
}

/// `input` cut at `size`, 2 * `size` and so on.
inline std::vector<std::string_view> in_chunks_of(std::string_view input, std::size_t size) {
  std::vector<std::string_view> chunks;
  for (std::size_t at = 0; at < input.size(); at += size) chunks.push_back(input.substr(at, size));
  return chunks;
}

/// Calls `each(chunks)` for the whole, for every split in two, byte by byte and, if asked, for every split in three.
template <typename Each>
void for_every_split(std::string_view input, bool in_three, Each each) {
  each(std::vector<std::string_view>{input});
  each(in_chunks_of(input, 1));
  for (std::size_t first = 1; first < input.size(); ++first) {
    each(std::vector<std::string_view>{input.substr(0, first), input.substr(first)});
    for (std::size_t second = first; in_three && second < input.size(); ++second) {
      // second == first: an empty chunk in the middle
      each(std::vector<std::string_view>{input.substr(0, first), input.substr(first, second - first),
                                         input.substr(second)});
    }
  }
}

}  // namespace tidemark::sse::test
