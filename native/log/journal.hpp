// The directory of segment files: locked, numbered, appended to at one end and removed at the other.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "native/log/journal_format.hpp"
#include "native/log/segment_file.hpp"
#include "native/log/sync_thread.hpp"

namespace tidemark::log {

/// A directory that this process alone works in, as long as this lives.
struct LockedDirectory {
  std::string path;
  std::unique_ptr<Descriptor> directory;
  std::unique_ptr<Descriptor> lock;
};
/// Makes the directory (for its owner only) where it is not there. The error is one line.
Result<LockedDirectory, std::string> lock_directory(const std::string& path);

/// The machine's present boot id; zeros where the kernel does not tell.
BootId present_boot();

/// A segment that lies in the directory.
struct Segment {
  std::uint64_t number = 0;
  std::uint64_t size = 0;     // of what counts
  std::uint64_t on_disk = 0;  // of the file
  std::size_t streams = 0;    // that begin here and are still there
};
std::string segment_path(const std::string& directory, std::uint64_t number);

struct JournalOptions {
  SyncPolicy sync = SyncPolicy::Never;
  std::chrono::milliseconds sync_interval{100};
  std::uint64_t segment_bytes = 16777216;
  SyncThread::Sync sync_file;
};

/// Segments go oldest first only, and a stream's records are in the segment where it begins and later ones: so that a
/// record that ends a stream never goes before those which it ends.
class Journal {
 public:
  /// `segments`: what is there, in order, by their numbers. They are not written to any more.
  Journal(LockedDirectory directory, std::deque<Segment> segments, JournalOptions options, SyncThread::Calls calls);

  /// A new segment. 0 or a value of errno. Precondition: !is_open().
  int begin();
  bool is_open() const { return file_ != nullptr; }

  /// Whole records, which stay together in one segment. 0 or a value of errno, and nothing was written then.
  /// Precondition: is_open().
  int append(std::string_view records);
  /// Makes what was appended so far durable, whatever the policy.
  void want_sync();
  /// The journal can't go on as it is: events will be missing in it, as the present segment says from now on. Nothing
  /// is appended before the next begin(). Where the mark could not be set, the value of errno.
  int abandon();

  /// So many bytes were appended by this process.
  std::uint64_t position() const { return position_; }
  /// Where the last append() went.
  std::uint64_t present() const { return segments_.back().number; }

  // How many streams begin in a segment.
  void add_stream(std::uint64_t segment) { ++find(segment).streams; }
  void remove_stream(std::uint64_t segment) { --find(segment).streams; }
  /// Removes the oldest segments, as far as no stream begins there.
  void remove_unused();
  /// All up to `position` is durable.
  void synced(std::uint64_t position);

  std::uint64_t oldest() const { return segments_.front().number; }
  std::size_t count() const { return segments_.size(); }
  /// Of all files but those that are about to be removed.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t segment_bytes() const { return options_.segment_bytes; }
  void wake_after(std::chrono::milliseconds wait) { thread_.wake_after(wait); }

 private:
  struct Doomed {
    Segment segment;
    std::uint64_t after;  // the position that has to be durable
  };

  int begin(bool rolled);
  Segment& find(std::uint64_t number);

  LockedDirectory directory_;
  std::deque<Segment> segments_;
  std::deque<Doomed> doomed_;  // older than all of segments_
  JournalOptions options_;
  BootId boot_;
  std::shared_ptr<SegmentFile> file_;
  bool abandoned_ = false;  // the segment before the next one says that events are missing
  bool spare_ = false;      // so says the segment before the present one
  std::uint64_t position_ = 0;
  std::uint64_t bytes_ = 0;
  SyncThread thread_;  // last: stopped before the rest goes
};

}  // namespace tidemark::log
