// From an event to what it means in its dialect, and from the events so far to what an end of stream means.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/dialect.hpp"
#include "core/dialect/frame_guess.hpp"
#include "core/dialect/kind.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::dialect {

/// What an error event says. Views into the interpreter's scratch, valid like Meaning's.
struct ErrorInfo {
  std::string_view message;
  std::string_view type;
  std::string_view code;
  int status = 0;  // an HTTP status where the event names one, else 0
  /// Its code says server, overload, timeout or rate; never quota or invalid request.
  bool retryable() const;
};

/// Views are valid until the next interpret() and no longer than the event.
struct Meaning {
  Kind kind = Kind::Silence;
  std::string_view text;       // answer text (refusal text included), unescaped UTF-8; lone surrogates become U+FFFD
  std::string_view reasoning;  // reasoning text, likewise
  Finish finish = Finish::None;
  bool terminal = false;                  // this event is (or holds) the provider's terminal marker; never with Error
  std::optional<std::uint64_t> sequence;  // the provider's own number: responses' sequence_number, seq-delta's seq
  ErrorInfo error;                        // where kind is Error or Challenge
};

/// Whether an answer keeps what only an ending in its dialect needs (ids, usage, finished items, what is open). The
/// WebAssembly module reads answers and never ends one: there it is left out, for its size, and at_eof() tells no more
/// than whether the answer is complete.
#if defined(TIDEMARK_NEVER_ENDS)
inline constexpr bool kKeepsForEnding = false;
#else
inline constexpr bool kKeepsForEnding = true;
#endif

/// What has come so far in one attempt; enough to end it truthfully. An error is no finish, and its id and number are
/// not the answer's.
struct Answer {
  bool progress = false;       // at least one valid event of the dialect; anthropic-messages: its message_start
  bool text = false;           // non-empty answer text, or content of another kind than these (an image, opaque data)
  bool reasoning = false;      // non-empty reasoning text
  bool refusal = false;        // non-empty refusal text
  bool tool_open = false;      // a tool call has begun and not been finished
  bool tool_finished = false;  // at least one tool call is complete
  bool terminal = false;
  bool several_choices = false;  // n > 1
  Finish finish = Finish::None;
  std::string id;  // the provider's id of the answer
  std::string model;
  std::string system_fingerprint;         // openai-chat
  std::uint64_t created = 0;              // openai-chat's and responses' creation time, seconds
  std::optional<std::uint64_t> sequence;  // last sequence_number / seq
  std::uint64_t text_bytes = 0;           // answer text so far (refusal text included), bytes of UTF-8

  // The block or item that is open, for dialects that bracket their text (anthropic-messages, openai-responses,
  // ai-sdk-ui); -1 where none is.
  int open_index = -1;
  int open_content_index = -1;
  std::string open_id;
  Kind open_kind = Kind::Silence;     // Text, Refusal, Reasoning or ToolFragment; Progress for a block of another kind
  std::uint64_t open_text_from = 0;   // text_bytes where the open block's or part's text began
  bool open_text_done = false;        // openai-responses: the open part's text has been told whole, the part is open
  std::string open_parts_json;        // openai-responses: the open item's finished parts, joined by commas; at most
                                      // kMaxOutput bytes, else empty
  int last_index = -1;                // the highest index of a block, item or choice
  bool step_open = false;             // ai-sdk-ui: a step has been started and not finished
  bool legacy_completion = false;     // openai-chat: chunks of the older completions endpoint
  bool usage_alone = false;           // openai-chat: usage came in a chunk of its own, as the last one does
  std::bitset<128> finished_choices;  // openai-chat: by index; 128 is the most that the API has
  std::vector<std::uint64_t> open_tools;  // indices, or hashes of ids, of the tool calls that are open

  std::string usage_json;   // the last usage object seen, as it came; at most kMaxUsage bytes, else empty
  std::string output_json;  // openai-responses: the finished items as they came, joined by commas; at most kMaxOutput
                            // bytes, else empty and output_left_out
  bool output_left_out = false;

  static constexpr std::size_t kMaxUsage = 4096;
  static constexpr std::size_t kMaxOutput = 65536;
  static constexpr std::size_t kMaxOpenTools = 256;  // of more, those are forgotten
};

/// What EOF means now (contract § 4.5).
enum class EofVerdict : std::uint8_t {
  Complete,       // after the terminal marker, or after a finish where the dialect's marker is often left out
  Truncated,      // after text or finished tool calls
  ReasoningOnly,  // after reasoning and nothing else
  OpenToolCall,   // in the middle of a tool call
  Empty,          // nothing that an answer is made of
};
std::string_view name(EofVerdict verdict);

/// Strings that an event's texts are unescaped into.
struct Scratch {
  std::string text, reasoning, message, type, code;
};

class Interpreter {
 public:
  /// The shortcut makes most events of a stream several times cheaper and changes no result; Off is for comparing.
  enum class Shortcut : bool { Off, On };

  explicit Interpreter(Dialect dialect, Shortcut shortcut = Shortcut::On);
  /// Goes on from an answer that has begun already.
  Interpreter(Dialect dialect, Answer answer);

  /// Never fails: what it can't read is Malformed and changes nothing in answer(). Cost: linear in the event, no
  /// allocation on the usual path once the scratch has grown.
  Meaning interpret(const sse::Event& event);

  /// The same for bytes that have not been parsed yet: whether they begin with an event like the one before. Then
  /// `event` is set, all but the id in force where it has none of its own; interpret(match) says what it means.
  bool recognise(std::string_view bytes, sse::Event& event, FrameGuess::Match& match) const {
    return frame_.match_ahead(bytes, event, match);
  }
  Meaning interpret(const FrameGuess::Match& match);

  /// After an error event too: what EOF would mean without it.
  EofVerdict at_eof() const;
  const Answer& answer() const { return answer_; }
  Dialect dialect() const { return dialect_; }

 private:
  Dialect dialect_;
  Shortcut shortcut_;
  Answer answer_;
  Scratch scratch_;
  FrameGuess frame_;
};

}  // namespace tidemark::dialect
