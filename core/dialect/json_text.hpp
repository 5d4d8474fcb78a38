// What a JSON string says, and saying it: unescaping, UTF-8 repaired, and writing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/dialect/json_reader.hpp"

namespace tidemark::dialect {

/// Appends what the string says as well-formed UTF-8. Lone surrogates become U+FFFD, and so does each maximal part of
/// ill-formed UTF-8, as the WHATWG decoder does it (Encoding § 4.10, Unicode § 3.9 U+FFFD Substitution).
/// Precondition: `string` comes from a JsonReader (its escapes have been checked).
void append_decoded(std::string& out, const JsonString& string);

/// What the string says: a view of the string itself where that is the same, else of `scratch`, which is overwritten.
std::string_view decoded(const JsonString& string, std::string& scratch);

/// Writes a short checked string without its escapes to `out`, which has room for raw.size() bytes; nothing is longer
/// unescaped. Ill-formed UTF-8 is kept.
std::string_view unescape_into(char* out, std::string_view raw);

/// Bytes at the start of `text` that are one well-formed code point; else the size of the maximal ill-formed part,
/// negated. Precondition: `text` is not empty.
int code_point_size(std::string_view text);

/// Appends `text` as the inside of a JSON string, without quotes; ill-formed UTF-8 as in append_decoded().
void append_escaped(std::string& out, std::string_view text);

/// Appends `text` as a JSON string, quotes included; ill-formed UTF-8 as in append_decoded().
void append_json_string(std::string& out, std::string_view text);

/// Writes JSON, commas put in by itself.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  JsonWriter& number(std::uint64_t value);
  /// A value that is JSON already: also `null`, `true`.
  JsonWriter& raw(std::string_view json);

  JsonWriter& field(std::string_view name, std::string_view value) { return key(name).string(value); }
  JsonWriter& number_field(std::string_view name, std::uint64_t value) { return key(name).number(value); }
  JsonWriter& raw_field(std::string_view name, std::string_view json) { return key(name).raw(json); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string& out_;
  bool comma_ = false;
};

}  // namespace tidemark::dialect
