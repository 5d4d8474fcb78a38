// JSON edited where it stands: what an object or array holds, as views of its text, and changes made there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dialect/json_edits.hpp"

namespace tidemark::continuation {

/// The members of a JSON object, each with its value as it stands in the text, which outlives this.
class JsonObject {
 public:
  /// nullopt where the text is not one object and nothing else, or nested deeper than dialect::JsonReader goes.
  static std::optional<JsonObject> read(std::string_view text);
  /// The same of a value; of anything but an object, and of an empty view, an object without members.
  static JsonObject of(std::string_view value);

  /// The last member of that name; an empty view where there is none or it is null.
  std::string_view find(std::string_view key) const;
  /// The same with two spellings of the name, of which the first is looked for first.
  std::string_view find(std::string_view key, std::string_view other) const;
  bool has(std::string_view key) const { return !find(key).empty(); }
  /// What the last member of that name says as a string; nullopt where it is none.
  std::optional<std::string> string(std::string_view key) const;
  /// Whether the last member of that name is the string `text`.
  bool is(std::string_view key, std::string_view text) const { return string(key) == text; }
  bool is_true(std::string_view key) const { return find(key) == "true"; }

  bool empty() const { return members_.empty(); }
  std::string_view text() const { return text_; }

 private:
  friend class JsonEdit;
  std::string_view stored(std::string_view key) const;

  std::string_view text_;
  std::vector<std::pair<std::string, std::string_view>> members_;
};

bool is_object(std::string_view value);
bool is_array(std::string_view value);
bool is_string(std::string_view value);
/// The elements of an array as they stand in its text; none where it is not one.
std::vector<std::string_view> elements_of(std::string_view array);
/// What a JSON string says; nullopt where the value is none.
std::optional<std::string> said(std::string_view value);
/// A whole number that is not negative; nullopt where the value is none.
std::optional<std::uint64_t> whole_number(std::string_view value);

/// What requests need of dialect::JsonEdits: members set, elements and text appended.
class JsonEdit {
 public:
  /// `text` outlives this; every view handed in is one of it.
  explicit JsonEdit(std::string_view text) { edits_.begin(text); }

  void replace(std::string_view part, std::string_view with) { edits_.replace(part, with); }
  /// Appends to what a string says.
  void append_text(std::string_view string, std::string_view text);
  /// Appends an element, which is JSON, to an array.
  void append_element(std::string_view array, std::string_view element);
  /// Gives a member a value, which is JSON: in place of the last one of that name, or as the object's last member.
  /// Precondition: the object has members.
  void set(const JsonObject& object, std::string_view key, std::string_view value);

  std::string apply() { return edits_.apply(); }

 private:
  dialect::JsonEdits edits_;
};

}  // namespace tidemark::continuation
