// One preamble for the client, whatever happens underneath (contract § 4, rule 2): what of an attempt's beginning has
// been delivered, and how the beginning of the next attempt is joined on to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/interpreter.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::session {

/// A stream whose first attempt brings content delivers nothing here, and pays nothing. After a failed attempt whose
/// beginning was delivered, events of the next one that open the same things are swallowed, each at most once; later
/// events have the new attempt's ids replaced by those that the client knows, and `sequence_number` goes on rising
/// by one.
class Preamble {
 public:
  /// Whether the event opens, shapes or closes a block, an item or a part of the answer: another attempt may begin with
  /// another one. What is left is about the answer as a whole.
  static bool shapes_answer(const sse::Event& event) { return !read(event).is_of_message(); }

  enum class Numbers : bool { AsTheyCame, Rewritten };
  /// An event without content has been delivered; `event`: as it came, or as it was rewritten.
  void delivered(const sse::Event& event, Numbers numbers = Numbers::AsTheyCame);
  /// A further attempt begins.
  void next_attempt();
  /// What has been rewritten since the last delivery goes nowhere: the next number follows the last one delivered.
  void restart_numbers();
  /// Of the events delivered, as the client knows it.
  std::optional<std::uint64_t> last_sequence() const { return last_sequence_; }
  /// Whether the event opens what has been opened before, and is to be swallowed.
  bool repeats(const sse::Event& event);
  /// Whether this attempt has opened every block and item again that the client has seen opened; if not, its content
  /// can't be joined on.
  bool joins() const;
  /// `event` with ids and number as the client knows them, its block in `scratch`; the event itself where there is
  /// nothing to replace. Call for each event delivered in a further attempt, in order.
  sse::Event rewritten(const sse::Event& event, std::string& scratch);
  /// The same for data or a block alone.
  void rewrite(std::string& text);
  /// The answer's ids and number, as the client knows them.
  void as_known(dialect::Answer& answer) const;
  /// Whether rewritten() may change anything.
  bool active() const { return rewrites_ && (!opened_.empty() || last_sequence_); }

 private:
  // What an event opens: events of two attempts that agree in all but the ids open the same thing.
  struct Opening {
    std::string type;
    std::string part_type;    // of the item or block
    std::int64_t index = -1;  // of the item or block
    std::int64_t part_index = -1;
    std::string answer_id;
    std::string part_id;
    std::optional<std::uint64_t> sequence;
    bool matched = false;  // in this attempt

    bool same_thing(const Opening& other) const;
    bool is_of_message() const;
    bool brackets_content() const;
  };
  struct Replacement {
    std::string from, to;  // with their quotes
  };

  static Opening read(const sse::Event& event);
  void replace(const std::string& from, const std::string& to);
  std::string known(const std::string& id) const;

  std::vector<Opening> opened_;
  std::vector<Replacement> replacements_;
  bool rewrites_ = false;                       // in a further attempt, and where numbers have been left out
  std::optional<std::uint64_t> last_sequence_;  // delivered
  std::optional<std::int64_t> shift_;           // of this attempt's sequence numbers
};

}  // namespace tidemark::session
