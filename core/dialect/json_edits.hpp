// Changing a few tokens of a JSON text, everything else kept byte for byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/json_reader.hpp"

namespace tidemark::dialect {

/// Whether a member of an object or an element of an array stays.
enum class Keep : bool { No, Yes };

/// Ranges are views into the text given to begin(), added in any order; of two that overlap, the one that begins
/// earlier is applied. Memory is kept from text to text.
class JsonEdits {
 public:
  /// `json` must live until apply().
  void begin(std::string_view json);
  void replace(std::string_view range, std::string_view with);
  /// `at` is a place of the text, its end included.
  void insert(const char* at, std::string_view with);
  /// The same with `text` as a JSON string, quotes included.
  void replace_with_string(std::string_view range, std::string_view text);
  /// The same for the inside of a string, without its quotes.
  void replace_inside(std::string_view range, std::string_view text);
  void replace_with_number(std::string_view range, std::uint64_t number);
  bool empty() const { return edits_.empty(); }
  /// The text with all edits. Linear in the text, and n log n in the edits.
  std::string apply();

 private:
  struct Edit {
    std::size_t at = 0;
    std::size_t size = 0;
    std::size_t with_at = 0;  // in added_
    std::size_t with_size = 0;
  };
  void add(const char* at, std::size_t size, std::size_t with_at);

  std::string_view json_;
  std::string added_;
  std::vector<Edit> edits_;
};

/// What is taken out of a container, with the comma that goes with it.
class Removal {
 public:
  /// `json` stands before the container, whose type is known.
  Removal(const JsonReader& json, JsonEdits& edits);
  /// A member or element has been read.
  void read(const JsonReader& json, Keep keep);

 private:
  JsonEdits& edits_;
  const char* gap_;  // the end of what has been read and is dealt with
  bool kept_any_ = false;
};

/// JsonReader::object() and array(), where `member(key)` and `element()` return whether to keep what they have read.
template <class Member>
void edit_object(JsonReader& json, JsonEdits& edits, Member member) {
  if (json.type() != JsonType::Object) return json.skip();
  Removal removal(json, edits);
  json.object([&](std::string_view key) {
    const Keep keep = member(key);
    removal.read(json, keep);
  });
}
template <class Element>
void edit_array(JsonReader& json, JsonEdits& edits, Element element) {
  if (json.type() != JsonType::Array) return json.skip();
  Removal removal(json, edits);
  json.array([&] {
    const Keep keep = element();
    removal.read(json, keep);
  });
}

}  // namespace tidemark::dialect
