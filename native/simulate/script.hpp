// What the simulated upstream says: the events of one answer, in the dialect of the endpoint that is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/dialect/dialect.hpp"
#include "core/seam/watermark.hpp"
#include "native/simulate/pieces.hpp"

namespace tidemark::simulate {

struct ScriptEvent {
  std::string name;  // empty: no event line
  std::string data;
  // What measure() finds out:
  std::optional<std::uint64_t> sequence = std::nullopt;  // its number, where it has one
  std::string text = {};                                 // what it adds to the answer's text
  std::string reasoning = {};
  bool finishes = false;  // it tells the finish reason
};

/// One answer in one dialect, the terminal marker included.
struct Script {
  dialect::Dialect dialect = dialect::Dialect::OpenaiChat;
  std::vector<ScriptEvent> events;
  std::size_t preamble = 0;  // so many events come before the first that has content
  std::size_t thoughts = 0;  // so many up to the last that brings reasoning before anything else; 0: there is none

  /// Reads the events as a client would; to be called when they have changed.
  void measure();
  /// The answer's text.
  std::string text() const;
  /// The index of the event that a reader with this watermark wants next.
  std::size_t above(seam::Seq watermark) const;
};

/// An answer in a dialect. openai-chat, openai-responses, anthropic-messages and seq-delta; precondition: one of these.
/// `mark` ends the ids, so that no two answers have the same.
Script render(dialect::Dialect dialect, const Pieces& pieces, const std::string& mark);

/// Whether an answer begins with reasoning.
enum class Reasoning : std::uint8_t { AsRecorded, First };

/// A recording: JSON lines, one event's data a line, framing taken off.
class Recording {
 public:
  /// The built-in one.
  Recording();
  /// `dialect` nullopt: told by the first line. Errors name the file, the line and what is allowed.
  static Result<Recording, std::string> load(const std::string& file, std::optional<dialect::Dialect> dialect);

  /// As recorded where the endpoint speaks the recording's dialect, else the recording's text said in the endpoint's.
  /// With Reasoning::First, an answer that has no reasoning before its text gets the built-in one. `mark` as for
  /// render(); ids that were recorded are kept.
  Script script(dialect::Dialect endpoint, Reasoning reasoning = Reasoning::AsRecorded,
                const std::string& mark = {}) const;
  const Pieces& pieces() const { return pieces_; }

 private:
  std::optional<Script> recorded_;
  Pieces pieces_;
};

}  // namespace tidemark::simulate
