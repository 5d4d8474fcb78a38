// The log in files: what a restart finds, whatever stopped the process before.
#include "native/log/file_log.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/native/log/journal_model.hpp"

using namespace tidemark;
using namespace tidemark::log;

namespace {

/// As if the machine had been started since: the files are of another boot.
void reboot(const std::filesystem::path& directory) {
  for (const auto& [name, bytes] : journal_files(directory)) {
    DecodedHeader decoded = decode_header(bytes);
    REQUIRE_FALSE(decoded.fault);
    decoded.header.boot[0] ^= 0xff;
    std::fstream file(directory / name, std::ios::in | std::ios::out | std::ios::binary);
    file << encode(decoded.header);
    REQUIRE(file.good());
  }
}

StreamId some_stream(StreamLog& log, int events) {
  const auto id = log.open("facts");
  REQUIRE(id);
  for (Seq seq = 0; seq < events; ++seq) REQUIRE(log.append(*id, seq, std::to_string(seq) + ";") == Append::Done);
  return *id;
}

}  // namespace

TEST_CASE("a restart finds streams, facts and ends, and their numbers go on") {
  TemporaryDirectory directory;
  FileWorld world;
  REQUIRE(world.open(directory.path()) == "");
  CHECK(world.log->take_restored().empty());
  const StreamId running = some_stream(*world.log, 3);
  const StreamId over = some_stream(*world.log, 2);
  const StreamId dropped = some_stream(*world.log, 1);
  world.log->end(over, 0, "over");
  world.log->drop(dropped);
  REQUIRE(world.log->describe(running, "better facts"));
  CHECK_FALSE(world.log->describe(over, "too late"));
  CHECK_FALSE(world.log->describe(dropped, "too late"));

  REQUIRE(world.open(directory.path()) == "");
  const std::vector<Restored> restored = world.log->take_restored();
  REQUIRE(restored.size() == 2);
  CHECK(restored[0].stream == running);
  CHECK(restored[0].facts == "better facts");
  CHECK_FALSE(restored[0].ended);
  CHECK(restored[0].may_go_on);
  CHECK(restored[1].stream == over);
  CHECK(restored[1].facts == "over");
  CHECK(restored[1].ended);
  CHECK(world.log->take_restored().empty());
  CHECK(world.log->take_removed().empty());
  CHECK(read_all(*world.log, running) == "0;1;2;");
  CHECK(world.log->append(over, 2, "x") == Append::OutOfOrder);
  CHECK(world.log->append(running, 3, "3;") == Append::Done);
  CHECK(some_stream(*world.log, 1) > dropped);
  REQUIRE(world.open(directory.path()) == "");
  CHECK(read_all(*world.log, running) == "0;1;2;3;");
}

TEST_CASE("what is left of an ended stream's time passes while no process runs") {
  TemporaryDirectory directory;
  FileWorld world;
  REQUIRE(world.open(directory.path(), 50) == "");
  const StreamId first = some_stream(*world.log, 1);
  const StreamId second = some_stream(*world.log, 1);
  world.log->end(first, 50, {});
  world.unix_now += 300;
  world.log->end(second, 350, {});
  world.unix_now += 600;
  REQUIRE(world.open(directory.path(), 7) == "");
  CHECK(world.log->next_deadline() == 7 + 100);
  world.log->expire(107);
  CHECK(world.log->take_removed() == std::vector<StreamId>{first});
  CHECK(world.log->next_deadline() == 7 + 400);
  world.unix_now += 400;
  REQUIRE(world.open(directory.path(), 0) == "");
  CHECK(world.log->usage().streams == 0);
  // A longer time does not bring back what has been given up.
  world.options.limits.ttl_ms = 1000000;
  REQUIRE(world.open(directory.path(), 0) == "");
  CHECK(world.log->usage().streams == 0);
  CHECK(journal_files(directory.path()).size() <= 2);
}

TEST_CASE("after the machine's restart a stream goes on only where all was on the disk") {
  for (const SyncPolicy policy : {SyncPolicy::Never, SyncPolicy::Interval, SyncPolicy::Always}) {
    CAPTURE(static_cast<int>(policy));
    TemporaryDirectory directory;
    FileWorld world;
    world.options.sync = policy;
    REQUIRE(world.open(directory.path()) == "");
    const StreamId running = some_stream(*world.log, 3);
    const StreamId over = some_stream(*world.log, 3);
    world.log->end(over, 0, "over");
    world.log.reset();
    reboot(directory.path());
    const bool goes_on = policy == SyncPolicy::Always;
    // The same later, with another process in between.
    for (int i = 0; i < 2; ++i) {
      REQUIRE(world.open(directory.path()) == "");
      const std::vector<Restored> restored = world.log->take_restored();
      REQUIRE(restored.size() == 2);
      CHECK(restored[0].may_go_on == goes_on);
      CHECK(restored[1].ended);
      CHECK(read_all(*world.log, running) == "0;1;2;");
      CHECK(read_all(*world.log, over) == "0;1;2;");
    }
    CHECK(world.log->append(running, 3, "3;") == (goes_on ? Append::Done : Append::OutOfOrder));
    world.log->end(running, 0, "ended after all");
    REQUIRE(world.open(directory.path()) == "");
    const std::vector<Restored> restored = world.log->take_restored();
    REQUIRE(restored.size() == 2);
    CHECK(restored[0].ended);
    CHECK(restored[0].facts == "ended after all");
    CHECK(read_all(*world.log, running) == (goes_on ? "0;1;2;3;" : "0;1;2;"));
  }
}

TEST_CASE("a stream that lacks events in its middle keeps those before, for good, and can be ended") {
  TemporaryDirectory directory;
  FileWorld world;
  world.options.segment_bytes = 400;
  REQUIRE(world.open(directory.path()) == "");
  const StreamId id = some_stream(*world.log, 40);
  world.log->end(id, 0, "complete");
  world.log.reset();
  auto files = journal_files(directory.path());
  REQUIRE(files.size() > 3);
  auto second = std::next(files.begin());
  second->second.back() = static_cast<char>(second->second.back() ^ 1);
  put_files(directory.path(), files);
  std::string text;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(world.open(directory.path()) == "");
    while (world.loop.run_one(0)) {
    }
    const std::vector<Restored> restored = world.log->take_restored();
    REQUIRE(restored.size() == 1);
    CHECK_FALSE(restored[0].ended);
    CHECK_FALSE(restored[0].may_go_on);
    CHECK(restored[0].facts == "facts");
    if (i == 0) text = read_all(*world.log, id);
    CHECK(text.size() > 10);
    CHECK(read_all(*world.log, id) == text);
  }
  world.log->end(id, 0, "truncated");
  REQUIRE(world.open(directory.path()) == "");
  const std::vector<Restored> restored = world.log->take_restored();
  REQUIRE(restored.size() == 1);
  CHECK(restored[0].ended);
  CHECK(restored[0].facts == "truncated");
  CHECK(read_all(*world.log, id) == text);
}

TEST_CASE("a segment that has lost its end, or is not there, keeps running streams from going on") {
  for (const bool whole_segment : {false, true}) {
    TemporaryDirectory directory;
    FileWorld world;
    world.options.segment_bytes = 400;
    REQUIRE(world.open(directory.path()) == "");
    const StreamId quiet = some_stream(*world.log, 12);
    some_stream(*world.log, 40);
    world.log.reset();
    auto files = journal_files(directory.path());
    auto second = std::next(files.begin());
    if (whole_segment) {
      files.erase(second);
    } else {
      second->second.resize(kSegmentHeaderBytes);
    }
    put_files(directory.path(), files);
    REQUIRE(world.open(directory.path()) == "");
    const std::vector<Restored> restored = world.log->take_restored();
    REQUIRE_FALSE(restored.empty());
    CHECK(restored[0].stream == quiet);
    CHECK_FALSE(restored[0].may_go_on);
  }
}

TEST_CASE("two processes never share a directory") {
  TemporaryDirectory directory;
  const auto log_directory = directory.path() / "log";
  FileWorld world;
  REQUIRE(world.open(log_directory) == "");
  const pid_t child = ::fork();
  if (child == 0) {
    FileWorld other;
    const std::string problem = other.open(log_directory);
    ::_exit(problem == "log directory " + log_directory.string() + " is in use by another process" ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(world.open(log_directory) == "");
}

TEST_CASE("directory and files are their owner's alone") {
  TemporaryDirectory directory;
  FileWorld world;
  REQUIRE(world.open(directory.path() / "log") == "");
  some_stream(*world.log, 1);
  struct stat facts {};
  REQUIRE(::stat((directory.path() / "log").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);
  for (const auto& entry : std::filesystem::directory_iterator(directory.path() / "log")) {
    REQUIRE(::stat(entry.path().c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
  }
}

TEST_CASE("what can't be used is said in one line") {
  TemporaryDirectory directory;
  FileWorld world;
  CHECK(world.open(directory.path() / "not" / "there") == "log directory " +
                                                              (directory.path() / "not" / "there").string() +
                                                              " cannot be made: No such file or directory");
  const auto file = directory.path() / "file";
  std::ofstream(file) << "x";
  CHECK(world.open(file) == "log directory " + file.string() + " cannot be opened: Not a directory");
  REQUIRE(world.open(directory.path()) == "");
  world.log.reset();
  auto files = journal_files(directory.path());
  auto& [name, bytes] = *files.begin();
  std::string later = bytes;
  later[8] = 2;
  const auto sum_of = [](std::string header) {
    // A record of this payload has the checksum that the header needs.
    std::string record;
    encode({RecordKind::Event, 1, 0, header.substr(0, 58)}, record);
    return record.substr(4, 4);
  };
  later.replace(58, 4, sum_of(later));
  bytes = later;
  put_files(directory.path(), files);
  CHECK(world.open(directory.path()) == "log file " + (directory.path() / name).string() + " is of another version");
}

TEST_CASE("a process that is killed has kept every event that it showed") {
  TemporaryDirectory directory;
  for (int round = 0; round < 20; ++round) {
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(pipe_ends[0]);
      FileWorld world;
      world.options.segment_bytes = 20000;
      if (!world.open(directory.path()).empty()) ::_exit(1);
      struct Teller : Follower {
        virtual ~Teller() = default;
        int fd = -1;
        void log_changed() override {
          if (::write(fd, "+", 1) != 1) ::_exit(2);
        }
      } teller;
      teller.fd = pipe_ends[1];
      const auto id = world.log->open("facts");
      world.log->follow(*id, teller);
      for (Seq seq = 0;; ++seq) world.log->append(*id, seq, "event " + std::to_string(seq) + "\n");
    }
    ::close(pipe_ends[1]);
    std::size_t shown = 0;
    std::array<char, 512> buffer;
    while (shown < 100 + 40 * static_cast<std::size_t>(round)) {
      const ssize_t count = ::read(pipe_ends[0], buffer.data(), buffer.size());
      REQUIRE(count > 0);
      shown += static_cast<std::size_t>(count);
    }
    REQUIRE(::kill(child, SIGKILL) == 0);
    for (ssize_t count = 1; count > 0; shown += static_cast<std::size_t>(std::max<ssize_t>(count, 0))) {
      count = ::read(pipe_ends[0], buffer.data(), buffer.size());
    }
    ::close(pipe_ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));

    FileWorld world;
    REQUIRE(world.open(directory.path()) == "");
    const std::vector<Restored> restored = world.log->take_restored();
    REQUIRE(restored.size() == 1);
    REQUIRE(restored[0].may_go_on);
    const StreamId id = restored[0].stream;
    const Seq next = world.log->next_seq(id);
    REQUIRE(next >= static_cast<Seq>(shown));
    std::string expected;
    for (Seq seq = 0; seq < next; ++seq) expected += "event " + std::to_string(seq) + "\n";
    REQUIRE(read_all(*world.log, id) == expected);
    REQUIRE(world.log->append(id, next, "after") == Append::Done);
    world.log->drop(id);
  }
}

TEST_CASE("files are bounded, whoever lives long, and go when nobody needs them") {
  TemporaryDirectory directory;
  FileWorld world;
  constexpr std::uint64_t kTotal = 400000;
  world.options.limits = {1000, 100000, kTotal};
  REQUIRE(world.open(directory.path()) == "");
  const StreamId old = some_stream(*world.log, 5);
  std::uint64_t most = 0;
  for (int i = 0; i < 400; ++i) {
    const auto id = world.log->open("short");
    REQUIRE(id);
    for (Seq seq = 0; seq < 20; ++seq) REQUIRE(world.log->append(*id, seq, std::string(900, 'x')) == Append::Done);
    world.log->end(*id, i, "short");
    while (world.loop.run_one(0)) {
    }
    most = std::max(most, world.log->usage().stored);
  }
  CHECK(most > kTotal);
  CHECK(most < 3 * kTotal + 70000);
  CHECK(world.log->append(old, 5, "5;") == Append::Done);
  const std::size_t streams = world.log->usage().streams;
  REQUIRE(world.open(directory.path()) == "");
  std::uint64_t on_disk = 0;
  for (const auto& [name, bytes] : journal_files(directory.path())) on_disk += bytes.size();
  CHECK(on_disk < 3 * kTotal + 70000);
  CHECK(world.log->usage().streams == streams);
  CHECK(read_all(*world.log, old) == "0;1;2;3;4;5;");
  world.log->drop(old);
  world.log->expire(1000000);
  REQUIRE(world.open(directory.path()) == "");
  world.log.reset();
  CHECK(journal_files(directory.path()).size() <= 2);
}

TEST_CASE("many restarts leave few files") {
  TemporaryDirectory directory;
  FileWorld world;
  REQUIRE(world.open(directory.path()) == "");
  const StreamId id = some_stream(*world.log, 3);
  for (int i = 0; i < 200; ++i) {
    REQUIRE(world.open(directory.path()) == "");
    while (world.loop.run_one(0)) {
    }
  }
  CHECK(read_all(*world.log, id) == "0;1;2;");
  world.log.reset();
  CHECK(journal_files(directory.path()).size() < 100);
}

TEST_CASE("where there is less room than there was, what does not fit is given up, as a whole") {
  TemporaryDirectory directory;
  FileWorld world;
  REQUIRE(world.open(directory.path()) == "");
  std::vector<StreamId> ids;
  for (int i = 0; i < 10; ++i) {
    ids.push_back(*world.log->open("facts"));
    REQUIRE(world.log->append(ids.back(), 0, std::string(5000, 'x')) == Append::Done);
    world.log->end(ids.back(), 0, "facts");
  }
  const std::uint64_t held = world.log->usage().bytes;
  // The room that it all had is enough again.
  world.options.limits.max_total_bytes = held + 20000;
  REQUIRE(world.open(directory.path()) == "");
  CHECK(world.log->take_restored().size() == 10);
  world.options.limits.max_total_bytes = 30000;
  REQUIRE(world.open(directory.path()) == "");
  const std::vector<Restored> restored = world.log->take_restored();
  CHECK(restored.size() >= 3);
  CHECK(restored.size() <= 6);
  for (const Restored& one : restored) CHECK(read_all(*world.log, one.stream).size() == 5000);
  CHECK(world.log->usage().bytes <= 30000);
}
