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

UsageSum::Counts UsageSum::counts(JsonReader json) const {
  Counts counts;
  json.object([&](std::string_view key) {
    if (const auto input = input_of(key)) {
      counts.input[*input] = json.whole_number();
    } else {
      json.skip();
    }
  });
  return counts;
}

void UsageSum::note(JsonReader& json) {
  begun_with_ = counts(json);
  json.skip();
}

void UsageSum::edit(JsonReader& json, dialect::JsonEdits& edits) {
  const Counts attempt = begun_with_.has_input() ? begun_with_ : counts(json);
  const bool is_known = known_.has_input() && attempt.has_input();
  const std::uint64_t more =
      is_known ? attempt.all_input() - std::min(attempt.all_input(), known_.all_input()) : tokens_;
  const bool holds = is_known ? more > 0 : attempt.input[0].value_or(0) > tokens_;
  const std::uint64_t moved = holds ? more : tokens_;
  const auto change = [&](std::string_view token, std::uint64_t from, std::uint64_t to) {
    if (from != to) edits.replace_with_number(token, to);
  };
  json.object([&](std::string_view key) {
    JsonReader value = json;
    const std::string_view token = json.raw();
    if (const auto input = input_of(key)) {
      const auto number = value.whole_number();
      if (!number) return;
      // What the attempt took in on its way, for tools that its server runs, stays.
      const std::uint64_t own = attempt.input[*input].value_or(0);
      if (is_known) change(token, *number, *number - std::min(*number, own) + known_.input[*input].value_or(0));
      if (!is_known && holds && *input == 0) change(token, *number, *number - std::min(*number, moved));
    } else if (key == names_.output) {
      if (const auto number = value.whole_number()) change(token, *number, *number + moved);
    } else if (!names_.total.empty() && key == names_.total) {
      if (const auto number = value.whole_number(); number && !holds) change(token, *number, *number + moved);
    } else if (!known_details_.empty() && key == names_.input_details) {
      edits.replace(token, known_details_);
    }
  });
}

}  // namespace tidemark::seam
