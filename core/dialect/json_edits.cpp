// Collecting edits, and applying them in the order of the text.
#include "core/dialect/json_edits.hpp"

#include <algorithm>

#include "core/dialect/json_text.hpp"

namespace tidemark::dialect {

void JsonEdits::begin(std::string_view json) {
  json_ = json;
  added_.clear();
  edits_.clear();
}

void JsonEdits::add(const char* at, std::size_t size, std::size_t with_at) {
  edits_.push_back({static_cast<std::size_t>(at - json_.data()), size, with_at, added_.size() - with_at});
}

void JsonEdits::replace(std::string_view range, std::string_view with) {
  if (range == with) return;
  const std::size_t with_at = added_.size();
  added_ += with;
  add(range.data(), range.size(), with_at);
}

void JsonEdits::insert(const char* at, std::string_view with) {
  const std::size_t with_at = added_.size();
  added_ += with;
  add(at, 0, with_at);
}

void JsonEdits::replace_with_string(std::string_view range, std::string_view text) {
  const std::size_t with_at = added_.size();
  append_json_string(added_, text);
  add(range.data(), range.size(), with_at);
}

void JsonEdits::replace_inside(std::string_view range, std::string_view text) {
  const std::size_t with_at = added_.size();
  append_escaped(added_, text);
  add(range.data(), range.size(), with_at);
}

void JsonEdits::replace_with_number(std::string_view range, std::uint64_t number) {
  const std::size_t with_at = added_.size();
  added_ += std::to_string(number);
  add(range.data(), range.size(), with_at);
}

std::string JsonEdits::apply() {
  // Mostly in order already, then this is one pass.
  std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
  std::string out;
  out.reserve(json_.size() + added_.size());
  std::size_t from = 0;
  for (const Edit& edit : edits_) {
    if (edit.at < from) continue;
    out += json_.substr(from, edit.at - from);
    out.append(added_, edit.with_at, edit.with_size);
    from = edit.at + edit.size;
  }
  out += json_.substr(from);
  return out;
}

Removal::Removal(const JsonReader& json, JsonEdits& edits) : edits_(edits), gap_(json.rest().data() + 1) {}

void Removal::read(const JsonReader& json, Keep keep) {
  const std::string_view rest = json.rest();
  const char* end = rest.data();
  if (keep == Keep::No && !json.failed()) {
    if (!kept_any_) {  // the comma after it goes too
      const std::size_t next = rest.find_first_not_of(" \t\r\n");
      if (next != std::string_view::npos && rest[next] == ',') end += next + 1;
    }
    edits_.replace({gap_, static_cast<std::size_t>(end - gap_)}, {});
  }
  if (keep == Keep::Yes) kept_any_ = true;
  gap_ = end;
}

}  // namespace tidemark::dialect
