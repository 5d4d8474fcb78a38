// The log of streams: what a stream's events were, byte for byte, for any number of readers at their own pace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/seam/watermark.hpp"

namespace tidemark::log {

using seam::Seq;

/// One stream's log. Never used twice in a process.
using StreamId = std::uint64_t;

/// A place in a stream, in bytes from its beginning.
using Offset = std::uint64_t;

struct Limits {
  TimeMs ttl_ms = 600000;                     // from a stream's end to its removal
  std::uint64_t max_stream_bytes = 16777216;  // of one stream's events
  std::uint64_t max_total_bytes = 268435456;  // of everything that is held, bookkeeping included
};

enum class Append : std::uint8_t {
  Done,
  OutOfOrder,  // not the next number, or the stream has ended or may not go on: nothing was written
  StreamFull,  // the stream would grow past max_stream_bytes
  LogFull,     // no ended stream is left that could make room below max_total_bytes
  Gone,        // no such stream
};

struct Read {
  enum class State : std::uint8_t {
    Bytes,    // `bytes` is not empty
    Waiting,  // everything written so far has been read; it ends with a whole event
    Ended,    // the same, and nothing will follow
    Gone,     // the stream has been dropped
  };
  State state = State::Gone;
  std::string_view bytes;  // as much as lies together; valid until the next non-const call
};

struct Usage {
  std::size_t streams = 0;
  std::uint64_t bytes = 0;    // held, bookkeeping included
  std::uint64_t dropped = 0;  // ended streams dropped before their time, to make room
  std::uint64_t stored = 0;   // bytes on the disk; 0 where nothing is kept there
};

/// A stream that an earlier process has left.
struct Restored {
  StreamId stream = 0;
  std::string facts;
  bool ended = false;
  /// Every event that a reader may have seen is there, so that the next number is free. Otherwise append() refuses: the
  /// stream can be read and ended, nothing else.
  bool may_go_on = true;
};

/// Told when there is something new to read. Called in the middle of append(), end(), drop() and expire(), or in a turn
/// of the loop of its own where the log waits for a disk: it may follow and unfollow, and nothing else.
class Follower {
 public:
  virtual void log_changed() = 0;

 protected:
  ~Follower() = default;
};

class StreamLog {
 public:
  virtual ~StreamLog() = default;

  /// A new, empty stream; nullopt where there is no room for one more. `facts` are what the caller needs to know of it
  /// after a restart: a log that outlives the process keeps them and counts them as held, others ignore them.
  virtual std::optional<StreamId> open(std::string_view facts) = 0;
  /// Other facts in place of those before. False where there is no room for them, and where the stream is gone or has
  /// ended: nothing has changed then.
  virtual bool describe(StreamId stream, std::string_view facts) = 0;
  /// One event, `seq` being the next number from 0 on. Followers are told, where the log waits for a disk later.
  virtual Append append(StreamId stream, Seq seq, std::string_view bytes) = 0;
  /// Nothing more will be appended; `facts` replace those before. The stream is removed ttl_ms later. Does nothing the
  /// second time.
  virtual void end(StreamId stream, TimeMs now, std::string_view facts) = 0;
  /// Removes the stream at once, its followers told.
  virtual void drop(StreamId stream) = 0;

  virtual bool contains(StreamId stream) const = 0;
  /// The number that the next event will have; 0 where the stream is gone.
  virtual Seq next_seq(StreamId stream) const = 0;
  /// Where the event after `watermark` begins; nullopt beyond what can be read, or where the stream is gone.
  virtual std::optional<Offset> offset_above(StreamId stream, Seq watermark) const = 0;
  virtual Read read(StreamId stream, Offset from) const = 0;

  virtual void follow(StreamId stream, Follower& follower) = 0;
  virtual void unfollow(StreamId stream, Follower& follower) = 0;

  /// Removes what has outlived its time.
  virtual void expire(TimeMs now) = 0;
  virtual TimeMs next_deadline() const = 0;
  /// The streams removed since the last call, in the order of their removal.
  virtual std::vector<StreamId> take_removed() = 0;
  /// What was found at the beginning, in the order of opening; empty the second time.
  virtual std::vector<Restored> take_restored() = 0;

  /// Whether a later process is told the facts; where not, nobody needs to write them.
  virtual bool keeps_facts() const = 0;
  /// False while events are kept in memory alone, though they should be kept elsewhere too.
  virtual bool reachable() const = 0;
  virtual Usage usage() const = 0;
};

}  // namespace tidemark::log
