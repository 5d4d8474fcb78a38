// The usage of an answer that several attempts have made: told once, for all of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/dialect/json_edits.hpp"
#include "core/dialect/json_reader.hpp"

namespace tidemark::seam {

/// How a dialect calls what counts.
struct UsageNames {
  std::array<std::string_view, 3> input;  // which together are the prompt; the first one always, unused ones empty
  std::string_view output;
  std::string_view input_details;
  std::string_view total;  // empty: there is none
};

/// The continuing attempt's prompt holds what has been delivered: that is taken from its input and added to its output.
/// Where the first attempt told its input, that says how much it is; else the estimate. Totals stay as they are, but
/// where the prompt is too small to hold it: then the estimate comes on top.
class UsageSum {
 public:
  /// `known`: the usage that the client has been told so far, an object, or empty. `tokens`: the estimate.
  UsageSum(const UsageNames& names, std::string_view known, std::uint64_t tokens);

  /// The usage that the attempt begins with, in an event that is swallowed: its input is the prompt alone. Reads one
  /// value.
  void note(dialect::JsonReader& json);
  /// The attempt's usage, made the whole answer's. Reads one value.
  void edit(dialect::JsonReader& json, dialect::JsonEdits& edits);

 private:
  struct Counts {
    std::array<std::optional<std::uint64_t>, 3> input;
    bool has_input() const { return input[0].has_value(); }
    std::uint64_t all_input() const { return input[0].value_or(0) + input[1].value_or(0) + input[2].value_or(0); }
  };
  Counts counts(dialect::JsonReader json) const;
  std::optional<std::size_t> input_of(std::string_view key) const;

  UsageNames names_;
  std::uint64_t tokens_;
  Counts known_;
  std::string known_details_;
  Counts begun_with_;  // the attempt, where it told
};

}  // namespace tidemark::seam
