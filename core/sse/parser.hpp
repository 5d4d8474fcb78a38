// Server-sent events, bytes to events: WHATWG HTML § 9.2.5 (parsing) and § 9.2.6 (interpreting an event stream).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/sse/held_bytes.hpp"

namespace tidemark::sse {

/// Why a parser gave up. Final: a parser that has failed stays failed until reset().
enum class Error : std::uint8_t {
  None,
  LineTooLong,    // a line grew past Limits::max_line_bytes
  EventTooLarge,  // an event's block grew past Limits::max_event_bytes
};
std::string_view describe(Error error);

/// The parser fails at the first byte that goes beyond either; where one byte does both, the line is to blame.
struct Limits {
  std::size_t max_line_bytes = 4u << 20;   // a line without its line end
  std::size_t max_event_bytes = 4u << 20;  // a block: its lines with their line ends, the closing blank line left out
};

/// What next() found. Views are valid until the next call of any non-const member, and no longer than the chunk.
/// Bytes are handed on as they came, also where they are not UTF-8.
struct Event {
  std::string_view name;      // the `event` field; empty where the block names none ("message" to an EventSource)
  std::string_view data;      // the data lines joined by LF, without the last LF
  std::string_view id;        // the last event id in force after this block
  std::string_view block;     // the block's lines as they came, line ends included, the closing blank line left out
  std::string_view line_end;  // how the block's last line ended: "\n", "\r\n" or "\r", each a constant; if it did not
                              // (Tail::Dispatch), how the stream's last ended line did, and "\n" where there is none
  bool has_id = false;        // the block itself carries an `id` field, be it one that is ignored because of a NUL
};

enum class Step : std::uint8_t {
  Event,     // `out` is an event to dispatch
  Comment,   // a block without an event (comments only, or no data); only `block`, `line_end` and `has_id` are set
  NeedMore,  // the chunk is used up; what is unfinished has been kept
  Failed,    // see error()
};

/// Pull parser. Usage: feed(chunk), then next() until it says NeedMore or Failed; the chunk must live until then.
///
/// The events, and the failure if there is one, are the same for every way of cutting the input into chunks. An event
/// whose block lies in one chunk is not copied (data of several lines is joined in a scratch buffer). Memory held: at
/// most one unfinished block and its joined data, each bounded by Limits. Time is linear in the input, also for one
/// line fed byte by byte. An event is reported with the byte that completes it: a CR that closes a block does not wait
/// for a possible LF.
class Parser {
 public:
  explicit Parser(Limits limits = {});

  void feed(std::string_view chunk);
  Step next(Event& out);

  /// For who can tell without looking for lines that an event lies ahead: the rest of the chunk where a block begins
  /// there and nothing is under way, else empty.
  std::string_view ahead();
  /// Takes an event that ahead() begins with, in place of next(): its block of lines that end in LF, the LF that closes
  /// it after them. All but `id` is set, `id` too where has_id; here it becomes the id in force. False, and nothing has
  /// changed, where the event could go beyond the limits.
  bool take_ahead(Event& event);

  enum class Tail : std::uint8_t {
    Discard,   // § 9.2.6: an unfinished block at the end of the stream is dropped
    Dispatch,  // for upstreams that leave out the last blank line: it is taken as if it had come
  };
  /// End of the stream. Returns Event, Comment, NeedMore (nothing left) or Failed. Afterwards only reset() is legal.
  Step end(Tail tail, Event& out);

  /// Makes the parser ready for a new stream; keeps last_event_id() and retry_ms() as an EventSource does.
  void reset();

  /// The id of the last finished block that had one; it is in force whether or not that block made an event.
  std::string_view last_event_id() const { return last_event_id_; }
  /// The last valid `retry` field, in force as soon as its line has ended. Values above 2^53 - 1 are given as that.
  std::optional<std::uint64_t> retry_ms() const { return retry_ms_; }
  Error error() const { return error_; }
  /// Whether bytes of an unfinished block are held.
  bool mid_event() const;

 private:
  struct Range {  // a part of the block, counted from the block's first byte
    std::size_t at = 0;
    std::size_t size = 0;
  };

  enum class LineEnd : std::uint8_t { Lf, Crlf, Cr };

  void skip_byte_order_mark();
  void hold_start_of_mark();
  Error check_line(std::size_t size) const;
  void interpret_line(std::string_view line);
  void add_data(std::string_view line, std::size_t value_at);
  void set_retry(std::string_view digits);
  void keep_rest();
  Step report(Event& out);
  Step fail(Error error);
  void start_block();

  Limits limits_;
  Error error_ = Error::None;
  std::string last_event_id_;
  std::optional<std::uint64_t> retry_ms_;

  // What is left of the chunk.
  const char* cursor_ = nullptr;
  const char* chunk_end_ = nullptr;

  // The block under way. While held_ is empty all of it lies in the chunk, from block_in_chunk_ on. Else held_ has
  // every byte of it up to cursor_.
  const char* block_in_chunk_ = nullptr;
  HeldBytes held_;
  std::size_t block_size_ = 0;    // its whole lines, line ends included
  std::size_t partial_line_ = 0;  // bytes of an unfinished line, which follow those in held_
  LineEnd line_end_ = LineEnd::Lf;
  Range name_;
  Range data_;        // the value of the only data line
  HeldBytes joined_;  // where there are several, their values joined
  Range id_;
  std::uint8_t data_lines_ = 0;  // 0, 1, or 2 for several
  bool has_id_ = false;
  bool sets_id_ = false;
  bool reported_ = false;  // the block has been handed out, and is forgotten at the next call

  bool after_cr_ = false;             // an LF now would belong to the CR before it
  bool at_start_ = true;              // a byte order mark may still come, or go on
  std::uint8_t byte_order_mark_ = 0;  // how many bytes of it have been seen
};

}  // namespace tidemark::sse
