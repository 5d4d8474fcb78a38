// Moving what was delivered from the input to the output.
#include "core/seam/usage_sum.hpp"

#include <algorithm>

namespace tidemark::seam {

using dialect::JsonReader;

UsageSum::UsageSum(const UsageNames& names, std::string_view known, std::uint64_t tokens)
    : names_(names), tokens_(tokens) {
  JsonReader json(known);
  json.object([&](std::string_view key) {
    if (const auto input = input_of(key)) {
      known_.input[*input] = json.whole_number();
    } else if (!names_.input_details.empty() && key == names_.input_details) {
      known_details_ = json.raw();
    } else {
      json.skip();
    }
  });
}

std::optional<std::size_t> UsageSum::input_of(std::string_view key) const {
  for (std::size_t i = 0; i < names_.input.size(); ++i) {
    if (!names_.input[i].empty() && key == names_.input[i]) return i;
  }
  return std::nullopt;
}

void UsageSum::note(JsonReader& json) {
  json.object([&](std::string_view key) {
    if (const auto input = input_of(key)) {
      attempt_.input[*input] = json.whole_number();
    } else {
      json.skip();
    }
  });
}

void UsageSum::edit(JsonReader& json, JsonEdits& edits) {
  JsonReader before = json;
  note(before);
  const bool is_known = known_.has_input();
  std::uint64_t moved = tokens_;
  if (is_known && attempt_.has_input()) {
    moved = attempt_.all_input() - std::min(attempt_.all_input(), known_.all_input());
  }
  const auto change = [&](std::string_view token, std::optional<std::uint64_t> from, std::uint64_t to) {
    if (from && *from != to) edits.replace_with_number(token, to);
  };
  json.object([&](std::string_view key) {
    JsonReader value = json;
    const std::string_view token = json.raw();
    if (const auto input = input_of(key)) {
      const auto number = value.whole_number();
      if (is_known) {
        change(token, number, known_.input[*input].value_or(0));
      } else if (*input == 0) {
        change(token, number, std::max<std::uint64_t>(number.value_or(0), moved + 1) - moved);
      }
    } else if (key == names_.output) {
      const auto number = value.whole_number();
      change(token, number, number.value_or(0) + moved);
    } else if (!known_details_.empty() && key == names_.input_details) {
      edits.replace(token, known_details_);
    }
  });
}

}  // namespace tidemark::seam
