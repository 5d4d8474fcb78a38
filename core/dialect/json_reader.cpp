// The pull parser's states: before a value, inside a container, failed.
#include "core/dialect/json_reader.hpp"

#include <limits>

#include "core/dialect/json_text.hpp"

namespace tidemark::dialect {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

const char* end_of_escape(const char* at, const char* end) {
  if (end - at < 2) return nullptr;
  switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return at + 2;
    case 'u':
      if (end - at < 6) return nullptr;
      for (int i = 2; i < 6; ++i) {
        if (!is_hex(at[i])) return nullptr;
      }
      return at + 6;
    default:
      return nullptr;
  }
}

void JsonReader::skip_space() {
  if (at_ != end_ && *at_ > ' ') return;
  while (at_ != end_ && is_space(*at_)) ++at_;
}

void JsonReader::fail() {
  failed_ = true;
  at_ = end_;
}

bool JsonReader::push(bool object) {
  if (depth_ == kMaxDepth) {
    fail();
    return false;
  }
  std::uint64_t& word = nest_[depth_ / 64];
  const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
  word = object ? word | bit : word & ~bit;
  ++depth_;
  return true;
}

bool JsonReader::enter(char opening) {
  if (failed_) return false;
  skip_space();
  if (peek() != opening) {
    skip();
    return false;
  }
  ++at_;
  first_ = true;
  return push(opening == '{');
}

bool JsonReader::next_key(std::string_view& key) {
  if (!next('}')) return false;
  // Nearly every key: no space before it, no escape in it, the colon right after it.
  if (peek() == '"') {
    const char* const begin = at_ + 1;
    const char* const stop = scan::find_plain_end(begin, end_);
    if (end_ - stop >= 2 && stop[0] == '"' && stop[1] == ':') {
      key = {begin, static_cast<std::size_t>(stop - begin)};
      at_ = stop + 2;
      return true;
    }
  }
  JsonString string;
  if (!read_key(string)) {
    fail();
    return false;
  }
  key = string.raw;
  if (string.escaped && string.raw.size() <= kMaxKey) key = unescape_into(key_.data(), string.raw);
  return true;
}

Word JsonReader::first_word() { return enter('{') ? next_word() : Word::End; }

bool JsonReader::first_element() { return enter('[') && next(']'); }

Word JsonReader::next_word() {
  std::string_view key;
  return next_key(key) ? word_of(key) : Word::End;
}

// Past the comma before the next element or member; false at the container's end and after an error.
bool JsonReader::next(char closing) {
  if (failed_) return false;
  skip_space();
  const char c = peek();
  if (c == closing) {
    ++at_;
    pop();
    first_ = false;
    return false;
  }
  if (first_) {
    first_ = false;
    return true;
  }
  if (c != ',') {
    fail();
    return false;
  }
  ++at_;
  return true;
}

bool JsonReader::read_key(JsonString& key) {
  skip_space();
  if (peek() != '"' || !read_string(key)) return false;
  skip_space();
  if (peek() != ':') return false;
  ++at_;
  return true;
}

// At the opening quote.
bool JsonReader::read_string(JsonString& out) {
  const char* const begin = ++at_;
  out.escaped = false;
  for (;;) {
    at_ = scan::find_plain_end(at_, end_);
    if (at_ == end_) return false;
    if (*at_ == '"') break;
    if (*at_ != '\\') return false;
    out.escaped = true;
    at_ = end_of_escape(at_, end_);
    if (at_ == nullptr) {
      at_ = end_;
      return false;
    }
  }
  out.raw = {begin, static_cast<std::size_t>(at_ - begin)};
  out.present = true;
  ++at_;
  return true;
}

bool JsonReader::skip_number() {
  const auto skip_digits = [&] {
    const char* const begin = at_;
    while (is_digit(peek())) ++at_;
    return at_ != begin;
  };
  if (peek() == '-') ++at_;
  if (peek() == '0') {
    ++at_;
  } else if (!skip_digits()) {
    return false;
  }
  if (peek() == '.') {
    ++at_;
    if (!skip_digits()) return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!skip_digits()) return false;
  }
  return true;
}

template <std::size_t N>
bool JsonReader::skip_word(const char (&word)[N]) {
  if (!starts_with({at_, static_cast<std::size_t>(end_ - at_)}, word)) return false;
  at_ += N - 1;
  return true;
}

bool JsonReader::skip_scalar() {
  switch (peek()) {
    case '"': {
      JsonString ignored;
      return read_string(ignored);
    }
    case 't':
      return skip_word("true");
    case 'f':
      return skip_word("false");
    case 'n':
      return skip_word("null");
    default:
      return skip_number();
  }
}

// At the opening bracket or brace. Without recursion: what is open stands in nest_.
bool JsonReader::skip_container() {
  const std::size_t outside = depth_;
  for (;;) {
    // A value begins here.
    const char c = peek();
    bool opened = false;
    if (c == '{' || c == '[') {
      ++at_;
      if (!push(c == '{')) return false;
      opened = true;
    } else if (!skip_scalar()) {
      return false;
    }
    // Whatever closes after it; then the next value's start.
    for (;;) {
      if (depth_ == outside) return true;
      skip_space();
      if (peek() == (in_object() ? '}' : ']')) {
        ++at_;
        pop();
        opened = false;
        continue;
      }
      if (!opened) {
        if (peek() != ',') return false;
        ++at_;
      }
      break;
    }
    JsonString ignored;
    if (in_object() && !read_key(ignored)) return false;
    skip_space();
  }
}

JsonType JsonReader::type() {
  skip_space();
  switch (peek()) {
    case '{':
      return JsonType::Object;
    case '[':
      return JsonType::Array;
    case '"':
      return JsonType::String;
    case 't':
    case 'f':
    case 'n':
      return JsonType::Literal;
    default:
      return is_digit(peek()) || peek() == '-' ? JsonType::Number : JsonType::Broken;
  }
}

void JsonReader::string(JsonString& out) {
  out = {};
  if (type() != JsonType::String) return skip();
  if (read_string(out)) return;
  fail();
  out = {};
}

JsonString JsonReader::string() {
  JsonString out;
  string(out);
  return out;
}

std::optional<std::uint64_t> JsonReader::whole_number() {
  skip_space();
  // Nearly every one: digits, few enough, then a comma or a bracket.
  constexpr int kMaxDigits = 19;
  const char* at = at_;
  std::uint64_t value = 0;
  while (at != end_ && is_digit(*at)) value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
  const auto digits = at - at_;
  const bool plain = at != end_ && (*at == ',' || *at == '}' || *at == ']');
  if (!plain || digits == 0 || digits > kMaxDigits || (*at_ == '0' && digits > 1)) return odd_whole_number();
  at_ = at;
  return value;
}

std::uint64_t JsonReader::count() { return whole_number().value_or(0); }

std::optional<std::uint64_t> JsonReader::odd_whole_number() {
  std::string_view digits = raw();
  const std::size_t point = digits.find('.');
  if (point != std::string_view::npos) {
    if (digits.find_first_not_of('0', point + 1) != std::string_view::npos) return std::nullopt;
    digits = digits.substr(0, point);
  }
  if (digits.empty()) return std::nullopt;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

bool JsonReader::is_true() { return raw() == "true"; }

std::string_view JsonReader::raw() {
  if (failed_) return {};
  skip_space();
  const char* const begin = at_;
  const char c = peek();
  if (!(c == '{' || c == '[' ? skip_container() : skip_scalar())) {
    fail();
    return {};
  }
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

bool JsonReader::at_end() {
  skip_space();
  return !failed_ && depth_ == 0 && at_ == end_;
}

}  // namespace tidemark::dialect
