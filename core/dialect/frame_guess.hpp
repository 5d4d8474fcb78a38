// A guess that pays: an event is most often the one before it, but for the text and a number.
//
// What an event meant is kept with its bytes and with the places ("holes") where the next may differ: the text that it
// brought, its number, and values that no dialect reads. An event whose other bytes are the same, and which has the
// same kind of token in each hole, must mean the same with the holes' new contents; it need not be parsed.
//
// Where the event's block has no other lines than its id, name and data, the block is compared as a whole: then a
// stream's bytes need not even be searched for line ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/dialect/json_reader.hpp"
#include "core/dialect/kind.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::dialect {

struct Hole {
  enum class Role : std::uint8_t {
    Text,       // a string: answer text
    Reasoning,  // a string: reasoning text
    Sequence,   // a whole number: the event's own
    Varying,    // a string that no dialect reads
    EventId,    // not in the data: the value of the block's id line
  };
  Role role = Role::Varying;
  std::string_view token;  // in the event's data; a string's quotes left out
};

/// The holes of one event. More than fit in make the event unfit for a guess.
class Holes {
 public:
  static constexpr std::size_t kMax = 4;

  void add(Hole::Role role, std::string_view token);
  std::size_t size() const { return size_; }
  bool overflown() const { return overflown_; }
  const Hole& operator[](std::size_t i) const { return holes_[i]; }
  void sort();

 private:
  std::array<Hole, kMax> holes_;
  std::size_t size_ = 0;
  bool overflown_ = false;
};

class FrameGuess {
 public:
  /// Keeps the event as the frame for the next one. Preconditions: interpreting it again, with other holes, would
  /// change the answer in nothing but what the holes say; at most one hole is text or reasoning.
  void learn(const sse::Event& event, Kind kind, Holes holes);
  void forget() { size_ = 0; }

  struct Match {
    JsonString text;  // answer or reasoning text; absent for a piece of a tool call
    std::optional<std::uint64_t> sequence;
  };
  /// Whether the event has the frame that was learned and brings text where that did. Cost: a comparison.
  bool match(const sse::Event& event, Match& out) const;
  /// Whether the bytes begin with such an event, the blank line that closes it included: then `event` (all but its id
  /// where it has none of its own) and `out` are set, and nobody need look for its lines.
  bool match_ahead(std::string_view bytes, sse::Event& event, Match& out) const;
  /// Of what was learned.
  Kind kind() const { return kind_; }

 private:
  struct Piece {  // bytes that must be the same, then a hole
    std::size_t end = 0;
    Hole::Role role = Hole::Role::Varying;
    std::size_t resume = 0;  // where the hole ends in text_
  };
  struct Range {
    std::size_t at = 0;
    std::size_t end = 0;
  };

  void add_piece(std::size_t at, Hole::Role role, std::size_t size);
  const char* match_text(const char* at, const char* end, sse::Event& found, Match& out) const;

  std::string text_;  // the block where it can be compared as a whole, else the data alone
  std::string name_;  // in the second case, what the name must be
  bool whole_block_ = false;
  bool has_id_ = false;
  Range name_in_text_;  // of a whole block: the name
  Range data_in_text_;
  std::array<Piece, Holes::kMax + 1> pieces_;
  std::size_t size_ = 0;  // pieces; 0: nothing has been learned
  Kind kind_ = Kind::Text;
};

}  // namespace tidemark::dialect
