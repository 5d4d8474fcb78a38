// Segments of the journal.
#include "native/log/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace tidemark::log {

Result<LockedDirectory, std::string> lock_directory(const std::string& path) {
  const auto failed = [&path](const char* what) {
    return "log directory " + path + " " + what + ": " + std::strerror(errno);
  };
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) return failed("cannot be made");
  LockedDirectory out;
  out.path = path;
  out.directory = std::make_unique<Descriptor>(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (out.directory->get() < 0) return failed("cannot be opened");
  out.lock = std::make_unique<Descriptor>(::openat(out.directory->get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (out.lock->get() < 0) return failed("cannot be written");
  while (::flock(out.lock->get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return "log directory " + path + " is in use by another process";
    return failed("cannot be locked");
  }
  return out;
}

BootId present_boot() {
  std::string text;
  BootId boot{};
  const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> buffer;
  const ssize_t count = file.get() < 0 ? 0 : ::read(file.get(), buffer.data(), buffer.size());
  std::size_t digits = 0;
  for (ssize_t i = 0; i < count && digits < 2 * boot.size(); ++i) {
    const char c = buffer[static_cast<std::size_t>(i)];
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0) continue;
    boot[digits / 2] = static_cast<std::uint8_t>(boot[digits / 2] << 4 | value);
    ++digits;
  }
  return boot;
}

std::string segment_path(const std::string& directory, std::uint64_t number) {
  std::array<char, 32> name;
  std::snprintf(name.data(), name.size(), "/%016llx.log", static_cast<unsigned long long>(number));
  return directory + name.data();
}

Journal::Journal(LockedDirectory directory, std::deque<Segment> segments, JournalOptions options,
                 SyncThread::Calls calls)
    : directory_(std::move(directory)),
      segments_(std::move(segments)),
      options_(std::move(options)),
      boot_(present_boot()),
      thread_(directory_.directory->get(),
              options_.sync == SyncPolicy::Interval ? options_.sync_interval : std::chrono::milliseconds(0),
              std::move(calls)) {
  for (const Segment& segment : segments_) bytes_ += segment.on_disk;
}

int Journal::begin() { return begin(false); }

int Journal::begin(bool rolled) {
  SegmentHeader header;
  header.number = segments_.empty() ? 1 : segments_.back().number + 1;
  header.previous_size = segments_.empty() ? 0 : segments_.back().size;
  header.boot = boot_;
  header.sync = options_.sync;
  header.rolled = rolled;
  const std::string path = segment_path(directory_.path, header.number);
  int error = 0;
  auto file = SegmentFile::create(path, error);
  if (!file) return error;
  error = file->append(encode(header));
  if (error != 0) {
    ::unlink(path.c_str());
    return error;
  }
  file_ = std::move(file);
  spare_ = std::exchange(abandoned_, false);
  segments_.push_back({header.number, kSegmentHeaderBytes, kSegmentHeaderBytes, 0});
  bytes_ += kSegmentHeaderBytes;
  position_ += kSegmentHeaderBytes;
  return 0;
}

int Journal::append(std::string_view records) {
  if (file_->size() > kSegmentHeaderBytes && file_->size() + records.size() > options_.segment_bytes) {
    const auto full = file_;
    if (const int error = begin(true)) return error;
  }
  if (const int error = file_->append(records)) return error;
  segments_.back().size += records.size();
  segments_.back().on_disk += records.size();
  bytes_ += records.size();
  position_ += records.size();
  if (options_.sync != SyncPolicy::Never) want_sync();
  return 0;
}

Segment& Journal::find(std::uint64_t number) {
  return *std::lower_bound(segments_.begin(), segments_.end(), number,
                           [](const Segment& segment, std::uint64_t wanted) { return segment.number < wanted; });
}

void Journal::want_sync() { thread_.want(file_, position_); }

int Journal::abandon() {
  thread_.forget();
  // What was to be removed may be all that is left of a stream whose copy is not durable.
  while (!doomed_.empty()) {
    segments_.push_front(doomed_.back().segment);
    bytes_ += doomed_.back().segment.on_disk;
    doomed_.pop_back();
  }
  const auto file = std::exchange(file_, nullptr);
  if (!file) return 0;
  abandoned_ = true;
  if (spare_ && file->size() == kSegmentHeaderBytes) {
    ::unlink(segment_path(directory_.path, segments_.back().number).c_str());
    bytes_ -= kSegmentHeaderBytes;
    segments_.pop_back();
    return 0;
  }
  int error = file->overwrite(kEventsMissingAt, kEventsMissing);
  if (error == 0 && options_.sync == SyncPolicy::Always) error = options_.sync_file(file->fd());
  return error;
}

void Journal::remove_unused() {
  while (segments_.size() > 1 && segments_.front().streams == 0) {
    doomed_.push_back({segments_.front(), position_});
    bytes_ -= segments_.front().on_disk;
    thread_.remove(segment_path(directory_.path, segments_.front().number), position_);
    segments_.pop_front();
  }
}

void Journal::synced(std::uint64_t position) {
  while (!doomed_.empty() && doomed_.front().after <= position) doomed_.pop_front();
}

}  // namespace tidemark::log
