// One event on its way to its meaning: what the dialects' readers share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/dialect/frame_guess.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/dialect/json_reader.hpp"
#include "core/dialect/words.hpp"

namespace tidemark::dialect {

/// Pieces of text one after the other; not copied while there is one only.
class JoinedText {
 public:
  explicit JoinedText(std::string& scratch) : scratch_(scratch) {}
  void add(const JsonString& piece);
  std::string_view view() const { return view_; }
  bool empty() const { return view_.empty(); }

 private:
  std::string& scratch_;
  std::string_view view_;
};

/// What an error says, as it stands in the event.
struct ErrorFields {
  JsonString message;
  JsonString type;
  JsonString code;
  int status = 0;
};

/// What has been found in one event. A dialect's reader fills it in and returns whether the event is valid; nothing of
/// it counts before the event's JSON has been checked to its end, and a reader changes `answer` only after that.
struct Reading {
  Reading(const sse::Event& event, Answer& answer, Scratch& scratch);

  const sse::Event& event;
  Answer& answer;
  Scratch& scratch;
  JsonReader json;

  JoinedText text;  // answer text, or refusal text
  JoinedText reasoning;
  bool refusal = false;        // there is refusal text
  bool tool_fragment = false;  // there is a piece of a tool call
  bool wordless = false;       // there is content of another kind, or text that is not for reading
  bool silent = false;         // a ping
  bool marker = false;         // the terminal marker, in an event of its own
  bool terminal = false;       // the terminal marker, also beside other things
  Finish finish = Finish::None;
  std::optional<std::uint64_t> sequence;
  JsonString id;
  JsonString model;
  JsonString system_fingerprint;
  std::uint64_t created = 0;
  std::string_view usage;  // an object
  bool is_error = false;
  ErrorFields error;
  JsonString challenge;  // what a challenge's frame says (contract § 4.1)
  Holes holes;

  /// The next value is answer text, reasoning text: taken if it is a string that is not empty.
  void take_text() { take_text(json.string()); }
  void take_text(const JsonString& piece);
  void take_reasoning() { take_reasoning(json.string()); }
  void take_reasoning(const JsonString& piece);
  void take_refusal(const JsonString& piece);
  /// The next value is the event's own number.
  void take_sequence();
  /// The next value is usage, kept if it is an object.
  void take_usage();
  /// The next value is a string that changes from event to event and that no dialect reads.
  void skip_varying();
  void skip_varying(const JsonString& string) { holes.add(Hole::Role::Varying, string.raw); }
  /// The next value belongs to a key at the top that the dialect does not know: an error, a challenge, or nothing.
  void take_other(Word key);
  /// The next value is an error: an object, or a string that is its message. Null and false are none.
  void take_error();
  /// A member of an error object.
  void take_error_member(Word key);
  /// The same where it stands at the top, which may be no error after all.
  void take_flat_error_member(Word key, ErrorFields& flat);
};

/// What the reading means; `valid` is what the dialect's reader returned. Brings the answer up to date, but for what
/// only the dialect's reader knows (blocks, tool calls, progress).
Meaning conclude(Reading& reading, bool valid);

/// The finish reasons of chat completions, which other dialects took over.
Finish chat_finish(const JsonString& reason);

/// FNV-1a of a tool call's id, for Answer::open_tools.
std::uint64_t tool_key(std::string_view id);
void open_tool(Answer& answer, std::uint64_t key);
/// Whether or not its beginning was seen.
void finish_tool(Answer& answer, std::uint64_t key);

}  // namespace tidemark::dialect
