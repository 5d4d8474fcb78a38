// Reading and changing JSON in place.
#include "native/continuation/json_edit.hpp"

#include <algorithm>

#include "core/dialect/json_reader.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::continuation {

using dialect::JsonReader;

std::optional<JsonObject> JsonObject::read(std::string_view text) {
  JsonObject object;
  object.text_ = text;
  JsonReader json(text);
  const bool is_object = json.object([&](std::string_view key) {
    std::string name(key);
    object.members_.emplace_back(std::move(name), json.raw());
  });
  if (!is_object || !json.at_end()) return std::nullopt;
  return object;
}

JsonObject JsonObject::of(std::string_view value) { return read(value).value_or(JsonObject()); }

std::string_view JsonObject::stored(std::string_view key) const {
  const auto last =
      std::find_if(members_.rbegin(), members_.rend(), [key](const auto& member) { return member.first == key; });
  return last == members_.rend() ? std::string_view() : last->second;
}

std::string_view JsonObject::find(std::string_view key) const {
  const std::string_view value = stored(key);
  return value == "null" ? std::string_view() : value;
}

std::string_view JsonObject::find(std::string_view key, std::string_view other) const {
  const std::string_view value = find(key);
  return value.empty() ? find(other) : value;
}

std::optional<std::string> JsonObject::string(std::string_view key) const { return said(find(key)); }

bool is_object(std::string_view value) { return !value.empty() && value.front() == '{'; }
bool is_array(std::string_view value) { return !value.empty() && value.front() == '['; }
bool is_string(std::string_view value) { return !value.empty() && value.front() == '"'; }

std::vector<std::string_view> elements_of(std::string_view array) {
  std::vector<std::string_view> elements;
  JsonReader json(array);
  json.array([&] { elements.push_back(json.raw()); });
  return elements;
}

std::optional<std::string> said(std::string_view value) {
  JsonReader json(value);
  const dialect::JsonString string = json.string();
  if (!string) return std::nullopt;
  std::string scratch;
  return std::string(dialect::decoded(string, scratch));
}

std::optional<std::uint64_t> whole_number(std::string_view value) { return JsonReader(value).whole_number(); }

void JsonEdit::append_text(std::string_view string, std::string_view text) {
  std::string escaped;
  dialect::append_escaped(escaped, text);
  edits_.insert(string.data() + string.size() - 1, escaped);
}

void JsonEdit::append_element(std::string_view array, std::string_view element) {
  const auto elements = elements_of(array);
  if (elements.empty()) return edits_.insert(array.data() + array.size() - 1, element);
  const std::string_view last = elements.back();
  edits_.insert(last.data() + last.size(), "," + std::string(element));
}

void JsonEdit::set(const JsonObject& object, std::string_view key, std::string_view value) {
  const std::string_view old = object.stored(key);
  if (!old.empty()) return replace(old, value);
  const std::string_view last = object.members_.back().second;
  std::string member = ",";
  dialect::append_json_string(member, key);
  edits_.insert(last.data() + last.size(), member.append(":").append(value));
}

}  // namespace tidemark::continuation
