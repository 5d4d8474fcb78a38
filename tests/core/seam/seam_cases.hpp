// Generated seams: answers of several kinds, cut anywhere, and what models send for their continuation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.hpp"
#include "core/seam/boundary.hpp"
#include "core/seam/evidence.hpp"

namespace tidemark::seam::test {

struct Answer {
  std::string kind;  // "english", "code", …
  std::string text;
  std::vector<std::string> paraphrases;  // how the same answer may begin in other words
};

/// Answers as tests/core/seam/answers has them; the working directory is the project's.
std::vector<Answer> read_answers();

/// Those of one kind.
using Group = std::vector<const Answer*>;
std::vector<Group> by_kind(const std::vector<Answer>& answers);

/// What follows a cut.
enum class Kind : std::uint8_t {
  Clean,          // the rest of the answer
  Stripped,       // the same, white space again that the model was not shown
  EchoLight,      // before it, the last characters again, lighter than overlap_min
  Echo,           // heavier ones, up to 200 characters, in one event
  EchoInPieces,   // the same in events of the usual size
  Restart,        // the answer from its beginning
  RestartDrifts,  // the same, going on in other words after 40 to 120 characters
  Paraphrase,     // the answer in other words, from its beginning
  LeadIn,         // a phrase about going on, and the rest
  Refusal,        // an apology or a greeting
  OtherAnswer,    // another answer of the same kind
};
constexpr std::size_t kKinds = 11;
std::string_view name(Kind kind);
inline bool needs_paraphrase(Kind kind) { return kind == Kind::Paraphrase || kind == Kind::RestartDrifts; }

struct Case {
  Kind kind = Kind::Clean;
  std::string delivered;
  std::size_t stripped_bytes = 0;
  std::vector<std::string> events;
  std::string rest;  // of the answer, what had not been delivered
};
/// A case of that kind, from any answer of the group, which has two at least.
Case make_case(Random& random, const Group& group, Kind kind);

enum class Outcome : std::uint8_t {
  Exact,    // accepted as it came, and the answer is whole
  Trimmed,  // accepted less what was delivered already, and the answer is whole
  Chance,   // a repetition lighter than overlap_min was kept, as the rule has it
  Wrong,    // accepted, and the answer is not what it was
  Refused,
};
constexpr std::size_t kOutcomes = 5;

struct Joined {
  Outcome outcome = Outcome::Exact;
  Refusal why = Refusal::None;
  std::size_t held_events = 0;
};
Joined join(const Case& item);

}  // namespace tidemark::seam::test
