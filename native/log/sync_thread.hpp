// The thread in which the journal waits for the disk, so that the loop does not.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "native/log/segment_file.hpp"

namespace tidemark::log {

/// Positions count the bytes written to all segments, one after another. One sync at a time: what was written while it
/// ran goes with the next (group commit). The thread begins with the first thing to do.
class SyncThread {
 public:
  /// Makes a descriptor's bytes durable: 0 or a value of errno.
  using Sync = std::function<int(int fd)>;

  struct Calls {
    Sync sync;
    /// All up to `position` is durable and what was to be removed then is gone, or `error` says why not. In the thread.
    std::function<void(std::uint64_t position, int error)> synced;
    /// wake_after()'s time has come. In the thread.
    std::function<void()> woken;
  };

  /// `directory`: synced too when a file in it is new. `pause`: at least this long from one sync's beginning to the
  /// next.
  SyncThread(int directory, std::chrono::milliseconds pause, Calls calls);
  /// After what was asked for.
  ~SyncThread();
  SyncThread(const SyncThread&) = delete;
  SyncThread& operator=(const SyncThread&) = delete;

  /// `file` has been written to, up to `position`; it is durable soon, and so are all that were named before.
  void want(const std::shared_ptr<SegmentFile>& file, std::uint64_t position);
  /// Forgets what was asked for and not begun, removals too: it has failed.
  void forget();
  /// Removes a file once all that was asked for so far is durable, which is all that matters up to `position`.
  void remove(std::string path, std::uint64_t position);
  void wake_after(std::chrono::milliseconds wait);

 private:
  using Clock = std::chrono::steady_clock;

  void begin();
  void run();
  void work(std::unique_lock<std::mutex>& lock);
  Clock::time_point next_wake() const;

  const int directory_;
  const std::chrono::milliseconds pause_;
  const Calls calls_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<SegmentFile>> files_;  // to sync
  std::shared_ptr<SegmentFile> known_;               // the last whose name is in the directory for sure
  std::uint64_t wanted_ = 0;
  std::vector<std::string> removals_;
  std::optional<Clock::time_point> wake_at_;
  Clock::time_point not_before_{};
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all the others; the caller's alone
};

}  // namespace tidemark::log
