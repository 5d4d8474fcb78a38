// Group commit, removal and the one timer.
#include "native/log/sync_thread.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tidemark::log {

SyncThread::SyncThread(int directory, std::chrono::milliseconds pause, Calls calls)
    : directory_(directory), pause_(pause), calls_(std::move(calls)) {}

void SyncThread::begin() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

SyncThread::~SyncThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SyncThread::want(const std::shared_ptr<SegmentFile>& file, std::uint64_t position) {
  begin();
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    first = files_.empty();
    if (first || files_.back() != file) files_.push_back(file);
    wanted_ = position;
  }
  if (first) changed_.notify_one();
}

void SyncThread::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  files_.clear();
  removals_.clear();
}

void SyncThread::remove(std::string path, std::uint64_t position) {
  begin();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wanted_ = position;
    removals_.push_back(std::move(path));
  }
  changed_.notify_one();
}

void SyncThread::wake_after(std::chrono::milliseconds wait) {
  begin();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wake_at_ = Clock::now() + wait;
  }
  changed_.notify_one();
}

/// When there is something to do, as far as is known. With the mutex held.
SyncThread::Clock::time_point SyncThread::next_wake() const {
  if (stopping_) return Clock::time_point::min();
  Clock::time_point next = wake_at_.value_or(Clock::time_point::max());
  if (!files_.empty()) next = std::min(next, not_before_);
  if (files_.empty() && !removals_.empty()) next = Clock::time_point::min();
  return next;
}

void SyncThread::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    const Clock::time_point next = next_wake();
    if (next == Clock::time_point::max()) {
      changed_.wait(lock);
    } else if (next > Clock::now()) {
      changed_.wait_until(lock, next);
    } else {
      if (stopping_ && files_.empty() && removals_.empty()) return;
      work(lock);
    }
  }
}

void SyncThread::work(std::unique_lock<std::mutex>& lock) {
  const Clock::time_point now = Clock::now();
  if (!stopping_ && wake_at_ && *wake_at_ <= now) {
    wake_at_.reset();
    lock.unlock();
    calls_.woken();
    return lock.lock();
  }
  const auto files = std::exchange(files_, {});
  const auto removals = std::exchange(removals_, {});
  const std::uint64_t position = wanted_;
  not_before_ = now + pause_;
  lock.unlock();
  int error = 0;
  for (const auto& file : files) {
    if (error == 0) error = calls_.sync(file->fd());
  }
  if (!files.empty() && error == 0 && known_ != files.back()) {
    error = calls_.sync(directory_);
    known_ = files.back();
  }
  if (error == 0) {
    for (const std::string& path : removals) ::unlink(path.c_str());
  }
  calls_.synced(position, error);
  lock.lock();
}

}  // namespace tidemark::log
