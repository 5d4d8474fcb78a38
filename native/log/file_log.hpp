// The log that outlives its process: streams are read from memory, and a journal of files is their durable copy.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "native/log/journal.hpp"
#include "native/log/memory_log.hpp"
#include "native/log/recovery.hpp"
#include "native/observe/logger.hpp"

namespace tidemark::log {

struct FileLogOptions {
  Limits limits;
  SyncPolicy sync = SyncPolicy::Never;
  std::chrono::milliseconds sync_interval{100};  // for SyncPolicy::Interval
  /// Milliseconds since 1970: the time that a stream has left after its end goes on while no process runs.
  std::function<std::int64_t()> unix_now_ms;
  /// Runs a task soon, in the thread that calls the log, never from inside post(). Called from any thread.
  std::function<void(std::function<void()>)> post;
  /// After a failure the journal is tried again so much later, twice as long each time up to the most.
  std::chrono::milliseconds retry_first{500};
  std::chrono::milliseconds retry_most{30000};
  /// At most; where max_total_bytes is small, segments are too.
  std::uint64_t segment_bytes = 16777216;
  /// fdatasync, but for tests that have to hold it up.
  SyncThread::Sync sync_file;
};

/// An event is in the kernel's hands before any reader sees it, with SyncPolicy::Always on the disk: then append()
/// returns at once all the same, and readers are told in a turn of the loop of its own. One fdatasync serves all events
/// that came while the one before ran, so the wait is at most two of them.
///
/// Where the journal fails (no space, an error of the device), its segment is marked, streams go on from memory, and
/// reachable() is false until all that is missing has been written to a new segment. A process that dies meanwhile
/// leaves streams that may not go on.
///
/// Files take at most about three times max_total_bytes: above twice, the streams of the oldest segments are written
/// again, a few at a time, and the segments removed. Beside MemoryLog, a stream costs about 200 bytes and its facts.
class FileLog final : public StreamLog {
 public:
  /// Takes the directory, makes it where needed, and reads what is there; `now` is the time of expire(). The error is
  /// one line. Cost: two readings of all files.
  static Result<std::unique_ptr<FileLog>, std::string> open(const std::string& directory, FileLogOptions options,
                                                            TimeMs now, observe::Logger& logger);
  ~FileLog() override;

  std::optional<StreamId> open(std::string_view facts) override;
  bool describe(StreamId stream, std::string_view facts) override;
  Append append(StreamId stream, Seq seq, std::string_view bytes) override;
  void end(StreamId stream, TimeMs now, std::string_view facts) override;
  void drop(StreamId stream) override;
  bool contains(StreamId stream) const override { return memory_.contains(stream); }
  Seq next_seq(StreamId stream) const override { return memory_.next_seq(stream); }
  std::optional<Offset> offset_above(StreamId stream, Seq watermark) const override {
    return memory_.offset_above(stream, watermark);
  }
  Read read(StreamId stream, Offset from) const override { return memory_.read(stream, from); }
  void follow(StreamId stream, Follower& follower) override { memory_.follow(stream, follower); }
  void unfollow(StreamId stream, Follower& follower) override { memory_.unfollow(stream, follower); }
  void expire(TimeMs now) override;
  TimeMs next_deadline() const override { return memory_.next_deadline(); }
  std::vector<StreamId> take_removed() override;
  std::vector<Restored> take_restored() override;
  bool keeps_facts() const override { return true; }
  bool reachable() const override { return reachable_; }
  Usage usage() const override;

 private:
  struct Entry {
    std::string facts;
    std::uint64_t segment = 0;   // where what counts of it begins; 0: it is not in the journal
    std::uint64_t size = 0;      // of a copy, about
    std::uint64_t position = 0;  // behind the last of them that this process wrote
    std::int64_t ended_unix_ms = 0;
    bool ended = false;
    bool behind = false;  // the journal lacks something of it: nothing is added there before a copy of the whole
    bool may_go_on = true;
  };
  /// What readers may see once `position` is durable.
  struct Unseen {
    std::uint64_t position;
    StreamId stream;
    Seq next;
    bool end;
  };

  FileLog(LockedDirectory directory, const Found& found, FileLogOptions options, observe::Logger& logger);
  std::string restore(const std::string& directory, Found found, TimeMs now);

  void record(StreamId id, Entry& entry, RecordKind kind, Seq seq, std::string_view payload);
  bool append_records(std::string_view records);
  void reveal(StreamId id, const Entry& entry, Seq next, bool end);
  void settle();
  void forget(StreamId id);
  void begin_at(Entry& entry, std::uint64_t segment);
  void grow(Entry& entry, std::size_t bytes);
  void set_facts(Entry& entry, std::string_view facts);

  bool copy(StreamId id, Entry& entry);
  void post(void (FileLog::*task)());
  void move_some();
  bool take_oldest();

  void fail(std::string_view what, int error);
  void retry();
  void synced(std::uint64_t position, int error);

  FileLogOptions options_;
  observe::Logger& logger_;
  MemoryLog memory_;
  std::shared_ptr<FileLog*> self_;  // for tasks that may come when the log has gone
  std::unordered_map<StreamId, Entry> entries_;
  std::vector<StreamId> removed_;
  std::vector<Restored> restored_;
  std::vector<StreamId> unrecorded_drops_;
  std::deque<Unseen> unseen_;
  std::deque<StreamId> moving_;  // to be written again
  std::string buffer_;           // records on their way
  std::uint64_t size_ = 0;       // of all entries
  std::uint64_t synced_ = 0;
  std::uint64_t failed_at_ = 0;  // reports of positions up to here are out of date
  std::chrono::milliseconds retry_wait_;
  bool reachable_ = true;
  bool moving_posted_ = false;
  Journal journal_;  // last: its thread ends first
};

}  // namespace tidemark::log
