// One preamble for the client: what has been opened, swallowing it the second time, and the ids it went by.
#include "core/session/preamble.hpp"

#include <algorithm>
#include <charconv>

#include "core/dialect/json_reader.hpp"

namespace tidemark::session {
namespace {

using dialect::JsonReader;

constexpr std::string_view kSequenceKey = "\"sequence_number\"";

void take(JsonReader& json, std::string& out) {
  if (const auto string = json.string()) out.assign(string.raw);
}

void take(JsonReader& json, std::int64_t& out) {
  constexpr std::uint64_t kMost = 1u << 30;
  if (const auto number = json.whole_number(); number && *number < kMost) out = static_cast<std::int64_t>(*number);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// The digits after the first key of that name. In a string the key's quotes would be escaped.
std::string_view sequence_digits(std::string_view text) {
  std::size_t at = text.find(kSequenceKey);
  if (at == std::string_view::npos) return {};
  at = text.find_first_not_of(" \t\r\n:", at + kSequenceKey.size());
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at);
  return rest.substr(0, std::min(rest.size(), rest.find_first_not_of("0123456789")));
}

}  // namespace

bool Preamble::Opening::same_thing(const Opening& other) const {
  return type == other.type && part_type == other.part_type && index == other.index && part_index == other.part_index;
}

bool Preamble::Opening::is_of_message() const { return index < 0 && !brackets_content(); }

// It begins or ends an item, a part or a block: later content depends on it.
bool Preamble::Opening::brackets_content() const {
  return !part_type.empty() || type == "content_block_stop" || type == "text-start" || type == "reasoning-start";
}

Preamble::Opening Preamble::read(const sse::Event& event) {
  Opening opening;
  JsonReader json(event.data);
  const auto read_part = [&] {
    json.object([&](std::string_view key) {
      if (key == "type") return take(json, opening.part_type);
      if (key == "id") return take(json, opening.part_id);
      json.skip();
    });
  };
  const auto read_answer = [&] {
    json.object([&](std::string_view key) {
      if (key == "id") return take(json, opening.answer_id);
      json.skip();
    });
  };
  json.object([&](std::string_view key) {
    if (key == "type") return take(json, opening.type);
    if (key == "id" || key == "responseId") return take(json, opening.answer_id);
    if (key == "output_index" || key == "index") return take(json, opening.index);
    if (key == "content_index" || key == "summary_index") return take(json, opening.part_index);
    if (key == "response" || key == "message") return read_answer();
    if (key == "item" || key == "content_block" || key == "part") return read_part();
    if (key == "sequence_number") {
      opening.sequence = json.whole_number();
      return;
    }
    json.skip();
  });
  if (opening.type.empty()) opening.type = event.name;
  return opening;
}

void Preamble::delivered(const sse::Event& event, Numbers numbers) {
  Opening opening = read(event);
  if (opening.sequence) {
    if (!shift_) shift_ = 0;  // those of this attempt have gone out as they came
    const std::int64_t shift = numbers == Numbers::AsTheyCame ? *shift_ : 0;
    last_sequence_ = *opening.sequence + static_cast<std::uint64_t>(shift);
  }
  if (opening.type == "ping" || opening.type == "keepalive") return;
  opening.answer_id = known(opening.answer_id);
  opening.part_id = known(opening.part_id);
  opening.matched = true;
  opened_.push_back(std::move(opening));
}

void Preamble::next_attempt() {
  rewrites_ = true;
  for (Opening& opening : opened_) opening.matched = false;
  replacements_.clear();
  shift_.reset();
}

void Preamble::restart_numbers() {
  rewrites_ = true;
  shift_.reset();
}

bool Preamble::repeats(const sse::Event& event) {
  const Opening again = read(event);
  const auto first = std::find_if(opened_.begin(), opened_.end(), [&](const Opening& opening) {
    return !opening.matched && opening.same_thing(again);
  });
  if (first == opened_.end()) return false;
  first->matched = true;
  replace(again.answer_id, first->answer_id);
  replace(again.part_id, first->part_id);
  return true;
}

bool Preamble::joins() const {
  return std::all_of(opened_.begin(), opened_.end(),
                     [](const Opening& opening) { return opening.matched || !opening.brackets_content(); });
}

sse::Event Preamble::rewritten(const sse::Event& event, std::string& scratch) {
  scratch.assign(event.block);
  rewrite(scratch);
  sse::Event out = event;
  out.block = scratch;
  return out;
}

void Preamble::rewrite(std::string& text) {
  for (const Replacement& replacement : replacements_) replace_all(text, replacement.from, replacement.to);
  const std::string_view digits = sequence_digits(text);
  std::uint64_t sequence = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return;
  if (!shift_) shift_ = last_sequence_ ? static_cast<std::int64_t>(*last_sequence_ + 1 - sequence) : 0;
  if (*shift_ == 0) return;
  const auto at = static_cast<std::size_t>(digits.data() - text.data());
  text.replace(at, digits.size(), std::to_string(sequence + static_cast<std::uint64_t>(*shift_)));
}

void Preamble::as_known(dialect::Answer& answer) const {
  if (!active()) return;
  answer.id = known(answer.id);
  answer.open_id = known(answer.open_id);
  for (const Replacement& replacement : replacements_)
    replace_all(answer.output_json, replacement.from, replacement.to);
  if (answer.sequence && shift_) answer.sequence = *answer.sequence + static_cast<std::uint64_t>(*shift_);
}

void Preamble::replace(const std::string& from, const std::string& to) {
  if (from.empty() || to.empty() || from == to) return;
  const std::string quoted = '"' + from + '"';
  for (const Replacement& known : replacements_) {
    if (known.from == quoted) return;
  }
  replacements_.push_back({quoted, '"' + to + '"'});
}

std::string Preamble::known(const std::string& id) const {
  const std::string quoted = '"' + id + '"';
  for (const Replacement& replacement : replacements_) {
    if (replacement.from == quoted) return replacement.to.substr(1, replacement.to.size() - 2);
  }
  return id;
}

}  // namespace tidemark::session
