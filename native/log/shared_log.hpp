// What replicas of the proxy share of their streams, beyond the log that each reads from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/log/stream_log.hpp"

namespace tidemark::log {

/// The events from `first` on carry this epoch: the producer that wrote them had the stream then. The last is the
/// present one. Epochs of a shared log are numbers, one more with each takeover.
struct Term {
  std::string epoch;
  Seq first = 0;
  /// Nothing that the producers before had shown is missing in the log, as far as can be told: when it was taken over
  /// the server had been there for long enough.
  bool sure = true;
};

struct LookUp {
  enum class Answer : std::uint8_t {
    Yours,        // nobody had it: it is claimed for this process, until open_shared() or release()
    Claimed,      // another replica has claimed it and not opened it yet: ask again
    Here,         // it can be read here, as far as it was written; what follows will come
    Unknown,      // nobody has it
    Unreachable,  // nobody can tell: the server is away, or has come back and not heard of all streams yet
    NoRoom,       // it is there, and there is no room in memory to read it
  };
  Answer answer = Answer::Unknown;

  // Where it is claimed or here: what the claim was made with, and who has it.
  std::string digest;
  std::string facts;
  std::string owner;

  // Where it is here:
  StreamId stream = 0;
  std::vector<Term> terms;
  bool ended = false;
  bool fed = false;  // a replica that is alive feeds it (or has ended it): otherwise it may be taken over
};

/// Told from the loop in turns of their own, never from inside a call.
class SharedLogEvents {
 public:
  /// Another replica has ended the stream that is read here; its readers are told after this.
  virtual void ended_elsewhere(StreamId stream, const std::string& facts) = 0;
  /// The replica that fed the stream that is read here is gone, and there are readers: it may be taken over.
  virtual void left(StreamId stream) = 0;
  /// Another replica feeds the stream that is read here, or was left() here, from now on.
  virtual void moved(StreamId stream, const std::vector<Term>& terms) = 0;
  /// The stream is not the log's any more: another replica has taken it over, or it is gone from the server, or nobody
  /// has read it here for a while. Its readers' bodies are about to be cut; they come back and find it.
  virtual void lost(StreamId stream) = 0;
  /// Somebody wants the stream that is fed here to be stopped.
  virtual void stop_asked(StreamId stream) = 0;
  /// The same of a name that is claimed for this process.
  virtual void stop_asked(const std::string& name) = 0;
  /// Somebody is reading the stream that is fed here, elsewhere: see keep_fed().
  virtual void wanted(StreamId stream) = 0;

 protected:
  ~SharedLogEvents() = default;
};

/// Names are made of hex digits: who they belong to and what they are called, hashed. The streams that look_up() finds
/// here are read through the StreamLog, which refuses append(), describe() and end() for them until take_over().
class SharedLog {
 public:
  virtual ~SharedLog() = default;

  virtual void set_events(SharedLogEvents* events) = 0;

  using Found = std::function<void(LookUp)>;
  /// Looks for a stream. Where nobody has it and `claim` is given, it is claimed: of all who ask at the same time one
  /// is told Yours. `done` is called once, never from inside. A claim of a process that is gone is free.
  struct Claim {
    std::string epoch;   // drawn: of the stream's first term
    std::string digest;  // of the request, for whoever finds the claim
    std::string facts;   // for whom it is: likewise, and until describe() or end()
  };
  virtual void look_up(const std::string& name, std::optional<Claim> claim, Found done) = 0;
  /// A claim came to nothing. Does nothing where this process has none.
  virtual void release(const std::string& name) = 0;

  /// As StreamLog::open(), for all replicas, under a claimed name or one that was just drawn.
  virtual std::optional<StreamId> open_shared(const std::string& name, const Claim& stream) = 0;

  /// Makes this process the one that feeds the stream. The new term where it worked: then all that was ever written can
  /// be read, nobody else can write any more, and append() goes on from next_seq(). Nullopt where another replica was
  /// faster or is alive after all, or nobody can tell: the stream is lost() then, or where it has readers moved(), or
  /// left() once more.
  using Taken = std::function<void(std::optional<Term>)>;
  virtual void take_over(StreamId stream, Taken done) = 0;

  /// Passes the wish on to the replica that feeds the stream; ended_elsewhere() follows, or lost().
  virtual void ask_to_stop(StreamId stream) = 0;
  /// The same of a name that `owner` has claimed and not opened yet.
  virtual void ask_to_stop(const std::string& name, const std::string& owner) = 0;

  /// Tells the replica that feeds the stream that it has readers here: it counts those for a while as its own. Said
  /// when a reader comes, and again and again as long as there is one; it may get lost, and costs one small command.
  virtual void keep_fed(StreamId stream) = 0;

  /// The process is about to go: what was written is handed over and its streams are free to be taken at once. Blocks
  /// for a second at most.
  virtual void leave() = 0;
};

}  // namespace tidemark::log
