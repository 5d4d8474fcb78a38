// The logs under test: each kind made in the same way, the ones in files in a directory of their own, on a real loop.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "native/log/file_log.hpp"
#include "native/log/memory_log.hpp"
#include "native/loop/loop.hpp"
#include "tests/catch.hpp"

namespace tidemark::log {

class TemporaryDirectory {
 public:
  /// In memory where the machine has a place for that: these tests are about what is written, not where.
  TemporaryDirectory() {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = ::access(memory.c_str(), W_OK | X_OK) == 0;
    std::string pattern =
        ((in_memory ? memory : std::filesystem::temp_directory_path()) / "tidemark-log-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A FileLog on a loop, over any directory.
struct FileWorld {
  loop::Loop loop;
  std::ostringstream said;
  observe::Logger logger{observe::Level::Debug, said};
  std::int64_t unix_now = 1700000000000;
  FileLogOptions options;
  std::unique_ptr<FileLog> log;

  FileWorld() {
    options.limits = {1000, 1u << 20, 1u << 30};
    options.unix_now_ms = [this] { return unix_now; };
    options.post = [this](std::function<void()> task) { loop.post(std::move(task)); };
    options.retry_first = std::chrono::milliseconds(5);
    options.retry_most = std::chrono::milliseconds(20);
  }

  /// What is wrong, or nothing.
  std::string open(const std::filesystem::path& directory, TimeMs now = 0) {
    log.reset();
    auto opened = FileLog::open(directory.string(), options, now, logger);
    if (!opened) return opened.error();
    log = std::move(opened).value();
    return {};
  }

  template <class Condition>
  void until(const Condition& met) {
    for (int turns = 0; !met(); ++turns) {
      REQUIRE(turns < 20000);
      loop.run_one(1000);
    }
  }
};

enum class Kind : std::uint8_t { Memory, FileNever, FileInterval, FileAlways };

inline std::ostream& operator<<(std::ostream& out, Kind kind) {
  constexpr const char* kNames[] = {"memory", "file, never", "file, interval", "file, always"};
  return out << kNames[static_cast<std::size_t>(kind)];
}

/// One log of a kind, empty at first.
class AnyLog {
 public:
  AnyLog(Kind kind, Limits limits) {
    if (kind == Kind::Memory) {
      memory_ = std::make_unique<MemoryLog>(limits);
      return;
    }
    directory_ = std::make_unique<TemporaryDirectory>();
    world_ = std::make_unique<FileWorld>();
    world_->options.limits = limits;
    world_->options.sync = static_cast<SyncPolicy>(static_cast<int>(kind) - 1);
    world_->options.sync_interval = std::chrono::milliseconds(1);
    REQUIRE(world_->open(directory_->path()) == "");
  }

  StreamLog& operator*() { return memory_ ? static_cast<StreamLog&>(*memory_) : *world_->log; }
  StreamLog* operator->() { return &**this; }

  /// Until all that was appended can be read.
  void catch_up(StreamId stream) {
    if (!world_) return;
    const auto seen = [this, stream] {
      StreamLog& log = **this;
      return !log.contains(stream) || log.offset_above(stream, log.next_seq(stream) - 1).has_value();
    };
    world_->until(seen);
  }
  /// Until the end of it can be seen.
  void catch_up_with_end(StreamId stream) {
    if (!world_) return;
    catch_up(stream);
    world_->until([this, stream] {
      StreamLog& log = **this;
      for (Offset at = *log.offset_above(stream, log.next_seq(stream) - 1);;) {
        const Read read = log.read(stream, at);
        if (read.state != Read::State::Bytes) return read.state == Read::State::Ended;
        at += read.bytes.size();
      }
    });
  }

 private:
  std::unique_ptr<TemporaryDirectory> directory_;
  std::unique_ptr<FileWorld> world_;
  std::unique_ptr<MemoryLog> memory_;
};

inline std::string read_all(const StreamLog& log, StreamId stream, Offset from = 0) {
  std::string out;
  for (;;) {
    const Read read = log.read(stream, from + out.size());
    if (read.state != Read::State::Bytes) return out;
    REQUIRE_FALSE(read.bytes.empty());
    out += read.bytes;
  }
}

}  // namespace tidemark::log
