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

namespace tidemark::simulate {

struct ScriptEvent {
  std::string name;  // empty: no event line
  std::string data;
  std::optional<std::uint64_t> sequence = std::nullopt;  // its number, where it has one
};

/// One answer in one dialect, the terminal marker included.
struct Script {
  dialect::Dialect dialect = dialect::Dialect::OpenaiChat;
  std::vector<ScriptEvent> events;
  std::size_t preamble = 0;  // so many events come before the first that has content
  std::size_t thoughts = 0;  // so many up to the last that brings reasoning before anything else; 0: there is none

  /// The index of the event that a reader with this watermark wants next.
  std::size_t above(seam::Seq watermark) const;
};

/// An answer apart from any dialect: pieces as a model would stream them.
struct Pieces {
  std::vector<std::string> reasoning;
  std::vector<std::string> text;
  std::string joined_text() const;
};

/// The built-in answer: some hundred words on tides, with code points of one to four bytes.
Pieces built_in_pieces();

/// What is thought where an answer is to have reasoning, but has none of its own.
std::vector<std::string> built_in_reasoning();

/// An answer in a dialect. openai-chat, openai-responses, anthropic-messages and seq-delta; precondition: one of these.
Script render(dialect::Dialect dialect, const Pieces& pieces);

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
  /// With Reasoning::First, an answer that has no reasoning before its text gets the built-in one.
  Script script(dialect::Dialect endpoint, Reasoning reasoning = Reasoning::AsRecorded) const;
  const Pieces& pieces() const { return pieces_; }

 private:
  std::optional<Script> recorded_;
  Pieces pieces_;
};

}  // namespace tidemark::simulate
