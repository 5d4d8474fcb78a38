// Escapes and UTF-8, both ways.
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned hex_value(char c) {
  const auto digit = static_cast<unsigned>(static_cast<unsigned char>(c));
  return digit <= '9' ? digit - '0' : (digit | 0x20u) - 'a' + 10;
}

unsigned code_unit(const char* four_digits) {
  unsigned unit = 0;
  for (int i = 0; i < 4; ++i) unit = unit << 4 | hex_value(four_digits[i]);
  return unit;
}

constexpr bool is_high_surrogate(unsigned unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
constexpr bool is_low_surrogate(unsigned unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

// Writes a code point; returns the byte after it.
char* put(char* out, unsigned point) {
  const auto byte = [&](unsigned value) { *out++ = static_cast<char>(static_cast<unsigned char>(value)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | point >> 6);
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
  return out;
}

// Writes what the escape at `at` says and moves `at` past it, past both halves of a surrogate pair.
char* put_escape(char* out, const char*& at, const char* end) {
  if (at[1] != 'u') {
    *out++ = simple_escape(at[1]);
    at += 2;
    return out;
  }
  const unsigned unit = code_unit(at + 2);
  at += 6;
  if (is_high_surrogate(unit) && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    const unsigned low = code_unit(at + 2);
    if (is_low_surrogate(low)) {
      at += 6;
      return put(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
    }
  }
  return put(out, is_high_surrogate(unit) || is_low_surrogate(unit) ? 0xFFFD : unit);
}

bool is_well_formed(std::string_view text) {
  while (!text.empty()) {
    const int size = code_point_size(text);
    if (size < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void append_repaired(std::string& out, std::string_view text) {
  if (scan::is_ascii(text)) {
    out += text;
    return;
  }
  while (!text.empty()) {
    const int size = code_point_size(text);
    out += size > 0 ? text.substr(0, static_cast<std::size_t>(size)) : kReplacement;
    text.remove_prefix(static_cast<std::size_t>(size > 0 ? size : -size));
  }
}

}  // namespace

int code_point_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  const std::size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // Unicode table 3-7: overlong forms, surrogates and what lies beyond U+10FFFF are ruled out by the second byte.
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < size; ++i) {
    if (i == text.size()) return -static_cast<int>(i);
    const bool good = i == 1 ? byte(i) >= lowest && byte(i) <= highest : byte(i) >= 0x80 && byte(i) <= 0xBF;
    if (!good) return -static_cast<int>(i);
  }
  return static_cast<int>(size);
}

std::string_view unescape_into(char* out, std::string_view raw) {
  char* to = out;
  const char* const end = raw.data() + raw.size();
  for (const char* at = raw.data(); at != end;) {
    if (*at == '\\') {
      to = put_escape(to, at, end);
    } else {
      *to++ = *at++;
    }
  }
  return {out, static_cast<std::size_t>(to - out)};
}

void append_decoded(std::string& out, const JsonString& string) {
  std::string_view rest = string.raw;
  while (string.escaped && !rest.empty()) {
    const char* const end = rest.data() + rest.size();
    const char* at = scan::find_plain_end(rest.data(), end);
    append_repaired(out, rest.substr(0, static_cast<std::size_t>(at - rest.data())));
    if (at != end) {
      char point[4];
      const char* const stop = put_escape(point, at, end);
      out.append(point, static_cast<std::size_t>(stop - point));
    }
    rest = {at, static_cast<std::size_t>(end - at)};
  }
  append_repaired(out, rest);
}

std::string_view decoded(const JsonString& string, std::string& scratch) {
  if (!string.escaped && (scan::is_ascii(string.raw) || is_well_formed(string.raw))) return string.raw;
  scratch.clear();
  append_decoded(scratch, string);
  return scratch;
}

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const char* const stop = scan::find_plain_end(at, end);
    append_repaired(out, {at, static_cast<std::size_t>(stop - at)});
    if (stop == end) return;
    out += '\\';
    switch (*stop) {
      case '"':
      case '\\':
        out += *stop;
        break;
      case '\b':
        out += 'b';
        break;
      case '\f':
        out += 'f';
        break;
      case '\n':
        out += 'n';
        break;
      case '\r':
        out += 'r';
        break;
      case '\t':
        out += 't';
        break;
      default:
        out += "u00";
        out += kHex[static_cast<unsigned char>(*stop) >> 4];
        out += kHex[static_cast<unsigned char>(*stop) & 0x0Fu];
    }
    at = stop + 1;
  }
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text);
  out += '"';
}

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  append_json_string(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(std::uint64_t value) {
  separate();
  out_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace tidemark::dialect
