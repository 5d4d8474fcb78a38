// A disk that is full, or fails, or is slow: real limits of the system, and a held-up fdatasync.
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/native/log/journal_model.hpp"

using namespace tidemark;
using namespace tidemark::log;

namespace {

/// No file of this process grows past `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

/// A file system of one mebibyte, where this process may make one.
class SmallDisk {
 public:
  explicit SmallDisk(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

  /// Fills it to the last byte.
  void fill() const {
    std::ofstream file(path_ / "filler", std::ios::binary);
    while (file.put('x').flush()) {
    }
  }
  void make_room() const { std::filesystem::remove(path_ / "filler"); }

 private:
  std::filesystem::path path_;
  bool mounted_ = false;
};

struct Counter : Follower {
  virtual ~Counter() = default;
  int changes = 0;
  void log_changed() override { ++changes; }
};

/// An fdatasync that waits until it is let go, and fails when told to.
class Gate {
 public:
  SyncThread::Sync sync() {
    return [this](int fd) {
      std::unique_lock<std::mutex> lock(mutex_);
      ++begun_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
      return error_ != 0 ? error_ : ::fdatasync(fd) == 0 ? 0 : errno;
    };
  }
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = false;
  }
  void open(int error = 0) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    error_ = error;
    changed_.notify_all();
  }
  int begun() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return begun_;
  }
  void wait_for_begun(int more_than) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return begun_ > more_than; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int error_ = 0;
  int begun_ = 0;
};

/// What a process that is killed now leaves.
void check_crash_now(FileWorld& world, const std::filesystem::path& directory, StreamId running, bool may_go_on) {
  const auto files = journal_files(directory);
  TemporaryDirectory scratch;
  put_files(scratch.path(), files);
  FileWorld later;
  later.options.limits = world.options.limits;
  REQUIRE(later.open(scratch.path()) == "");
  bool found = false;
  for (const Restored& one : later.log->take_restored()) {
    const std::string text = read_all(*later.log, one.stream);
    if (!world.log->contains(one.stream)) continue;  // dropped while that could not be written
    REQUIRE((read_all(*world.log, one.stream).substr(0, text.size()) == text));
    if (one.ended || one.may_go_on) REQUIRE((read_all(*world.log, one.stream) == text));
    if (one.stream != running) continue;
    found = true;
    CHECK(one.may_go_on == may_go_on);
  }
  CHECK(found);
}

/// Streams before, while and after the disk takes nothing: `fill` and `make_room` make it so.
template <class Fill, class MakeRoom>
void live_through_full_disk(FileWorld& world, const std::filesystem::path& directory, const Fill& fill,
                            const MakeRoom& make_room) {
  REQUIRE(world.open(directory) == "");
  Model model;
  Operator some(3, 2000);
  const StreamId running = *world.log->open("running");
  const auto say = [&world, running](const std::string& text) {
    REQUIRE(world.log->append(running, world.log->next_seq(running), text) == Append::Done);
  };
  say("before ");
  for (int i = 0; i < 60; ++i) some.step(*world.log, model);
  CHECK(world.log->reachable());
  check_crash_now(world, directory, running, true);

  fill();
  Counter counter;
  world.log->follow(running, counter);
  for (int i = 0; i < 300; ++i) some.step(*world.log, model);
  say("while ");
  CHECK(counter.changes == 1);
  CHECK_FALSE(world.log->reachable());
  CHECK(read_all(*world.log, running) == "before while ");
  check_crash_now(world, directory, running, false);
  // It is tried again, in vain.
  const auto count_lines = [&world] {
    const std::string said = world.said.str();
    return std::count(said.begin(), said.end(), '\n');
  };
  const auto lines = count_lines();
  for (int turns = 0; turns < 4; ++turns) REQUIRE(world.loop.run_one(10000));
  CHECK_FALSE(world.log->reachable());
  CHECK(count_lines() == lines);
  CHECK(world.said.str().find("log cannot be written: streams go on from memory") != std::string::npos);
  for (int i = 0; i < 100; ++i) some.step(*world.log, model);

  make_room();
  world.until([&world] { return world.log->reachable(); });
  CHECK(world.said.str().find("log is written again") != std::string::npos);
  check_crash_now(world, directory, running, true);
  say("after");
  for (int i = 0; i < 60; ++i) some.step(*world.log, model);
  check_crash_now(world, directory, running, true);
  world.log->unfollow(running, counter);

  REQUIRE(world.open(directory) == "");
  CHECK(read_all(*world.log, running) == "before while after");
  model[running] = {"running", {"before ", "while ", "after"}, false};
  check_is(*world.log, model);
}

}  // namespace

TEST_CASE("a full disk: streams go on from memory, and are written when there is room again") {
  TemporaryDirectory directory;
  const SmallDisk disk(directory.path() / "disk");
  if (!disk.mounted()) {
    WARN("a small file system cannot be mounted here; the same is tried with a limit on files");
    return;
  }
  FileWorld world;
  world.options.segment_bytes = 100000;
  live_through_full_disk(
      world, directory.path() / "disk" / "log", [&disk] { disk.fill(); }, [&disk] { disk.make_room(); });
}

TEST_CASE("files that may not grow: the same") {
  TemporaryDirectory directory;
  FileWorld world;
  std::unique_ptr<FileSizeLimit> limit;
  live_through_full_disk(
      world, directory.path(), [&limit] { limit = std::make_unique<FileSizeLimit>(40000); },
      [&limit] { limit.reset(); });
}

TEST_CASE("with a file system that takes not even a header, little is left behind by trying") {
  TemporaryDirectory directory;
  FileWorld world;
  REQUIRE(world.open(directory.path()) == "");
  const StreamId id = *world.log->open("facts");
  {
    const FileSizeLimit limit(kSegmentHeaderBytes);
    REQUIRE(world.log->append(id, 0, "event") == Append::Done);
    for (int turns = 0; turns < 10; ++turns) REQUIRE(world.loop.run_one(10000));
    CHECK_FALSE(world.log->reachable());
    CHECK(journal_files(directory.path()).size() == 1);
  }
  world.until([&world] { return world.log->reachable(); });
  REQUIRE(world.open(directory.path()) == "");
  CHECK(world.log->take_restored().at(0).may_go_on);
  CHECK(read_all(*world.log, id) == "event");
}

TEST_CASE("where every event is synced, no reader sees one before, and one sync does for all that wait") {
  TemporaryDirectory directory;
  Gate gate;
  FileWorld world;
  world.options.sync = SyncPolicy::Always;
  world.options.sync_file = gate.sync();
  REQUIRE(world.open(directory.path()) == "");
  const StreamId id = *world.log->open("facts");
  Counter counter;
  world.log->follow(id, counter);
  gate.close();
  const int before = gate.begun();
  REQUIRE(world.log->append(id, 0, "0;") == Append::Done);
  gate.wait_for_begun(before);
  for (Seq seq = 1; seq < 100; ++seq) REQUIRE(world.log->append(id, seq, std::to_string(seq) + ";") == Append::Done);
  world.log->end(id, 0, "over");
  while (world.loop.run_one(0)) {
  }
  CHECK(counter.changes == 0);
  CHECK(world.log->next_seq(id) == 100);
  CHECK(world.log->offset_above(id, -1) == 0);
  CHECK_FALSE(world.log->offset_above(id, 0));
  CHECK(world.log->read(id, 0).state == Read::State::Waiting);
  // Killed now, it has all the same all of it: the kernel has.
  const auto files = journal_files(directory.path());

  const int waiting = gate.begun();
  gate.open();
  world.until([&world, id] { return world.log->offset_above(id, 99).has_value(); });
  CHECK(world.log->read(id, *world.log->offset_above(id, 99)).state == Read::State::Ended);
  CHECK(gate.begun() <= waiting + 3);  // of the file, of the directory that it is new in, of the file again
  CHECK(counter.changes <= 3);
  world.log->unfollow(id, counter);
  put_files(directory.path(), files);
  FileWorld later;
  TemporaryDirectory scratch;
  put_files(scratch.path(), files);
  REQUIRE(later.open(scratch.path()) == "");
  CHECK(later.log->take_restored().at(0).ended);
}

TEST_CASE("with an interval readers see an event at once, and syncs are as far apart as told") {
  TemporaryDirectory directory;
  Gate gate;
  FileWorld world;
  world.options.sync = SyncPolicy::Interval;
  world.options.sync_interval = std::chrono::hours(1);
  world.options.sync_file = gate.sync();
  REQUIRE(world.open(directory.path()) == "");
  const StreamId id = *world.log->open("facts");
  gate.wait_for_begun(1);  // the file and its directory
  for (Seq seq = 0; seq < 100; ++seq) REQUIRE(world.log->append(id, seq, "x") == Append::Done);
  CHECK(read_all(*world.log, id).size() == 100);
  CHECK(gate.begun() == 2);
  // What is left is synced before the process ends.
  world.log.reset();
  CHECK(gate.begun() == 3);
}

TEST_CASE("without syncs there are none") {
  TemporaryDirectory directory;
  Gate gate;
  FileWorld world;
  world.options.sync_file = gate.sync();
  REQUIRE(world.open(directory.path()) == "");
  const StreamId id = *world.log->open("facts");
  REQUIRE(world.log->append(id, 0, "x") == Append::Done);
  world.log.reset();
  CHECK(gate.begun() == 0);
}

TEST_CASE("a sync that fails is a failing disk: events are shown from memory, then written elsewhere") {
  TemporaryDirectory directory;
  Gate gate;
  FileWorld world;
  world.options.sync = SyncPolicy::Always;
  world.options.sync_file = gate.sync();
  REQUIRE(world.open(directory.path()) == "");
  const StreamId id = *world.log->open("facts");
  const StreamId over = *world.log->open("facts");
  REQUIRE(world.log->append(over, 0, "before") == Append::Done);
  world.until([&world, over] { return world.log->offset_above(over, 0).has_value(); });
  gate.close();
  REQUIRE(world.log->append(id, 0, "0;") == Append::Done);
  world.log->end(over, 0, "over");
  gate.open(EIO);
  world.until([&world] { return !world.log->reachable(); });
  CHECK(read_all(*world.log, id) == "0;");
  CHECK(world.said.str().find("log cannot be synced: streams go on from memory") != std::string::npos);
  check_crash_now(world, directory.path(), id, false);
  REQUIRE(world.log->append(id, 1, "1;") == Append::Done);
  CHECK(read_all(*world.log, id) == "0;1;");
  gate.open();
  world.until([&world] { return world.log->reachable(); });
  check_crash_now(world, directory.path(), id, true);
  REQUIRE(world.log->append(id, 2, "2;") == Append::Done);
  CHECK(read_all(*world.log, id) == "0;1;");
  world.until([&world, id] { return world.log->offset_above(id, 2).has_value(); });
  REQUIRE(world.open(directory.path()) == "");
  const std::vector<Restored> restored = world.log->take_restored();
  REQUIRE(restored.size() == 2);
  CHECK(restored[0].may_go_on);
  CHECK(restored[1].ended);
  CHECK(read_all(*world.log, id) == "0;1;2;");
  CHECK(read_all(*world.log, over) == "before");
}
