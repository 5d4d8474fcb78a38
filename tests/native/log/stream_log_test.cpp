// What every log promises: what goes in comes out, at any pace, and no bound is passed.
#include "native/log/stream_log.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "tests/catch.hpp"
#include "tests/native/log/logs.hpp"

using namespace tidemark;
using namespace tidemark::log;

namespace {

struct Counter : Follower {
  virtual ~Counter() = default;
  int changes = 0;
  void log_changed() override { ++changes; }
};

std::string event(Random& random, std::size_t most) {
  return std::string(1 + random.next() % most, static_cast<char>('a' + random.next() % 26));
}

Kind any_kind() { return GENERATE(Kind::Memory, Kind::FileNever, Kind::FileInterval, Kind::FileAlways); }

}  // namespace

TEST_CASE("events come out as they went in, from every number on") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  Random random(1);
  for (const std::size_t most : {1u, 40u, 700u, 200000u}) {
    AnyLog log(kind, {1000, 1u << 30, 1u << 30});
    const StreamId stream = *log->open({});
    std::vector<std::string> events;
    for (Seq seq = 0; seq < 60; ++seq) {
      events.push_back(event(random, most));
      REQUIRE(log->append(stream, seq, events.back()) == Append::Done);
      CHECK(log->next_seq(stream) == seq + 1);
    }
    log.catch_up(stream);
    for (Seq watermark = -1; watermark < 60; ++watermark) {
      std::string expected;
      for (Seq seq = watermark + 1; seq < 60; ++seq) expected += events[static_cast<std::size_t>(seq)];
      const auto from = log->offset_above(stream, watermark);
      REQUIRE(from);
      CHECK(read_all(*log, stream, *from) == expected);
    }
    CHECK_FALSE(log->offset_above(stream, 60));
    CHECK_FALSE(log->offset_above(stream, -2));
  }
}

TEST_CASE("a read says whether to wait") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  AnyLog log(kind, {1000, 1000, 100000});
  const StreamId stream = *log->open({});
  CHECK(log->read(stream, 0).state == Read::State::Waiting);
  log->append(stream, 0, "abc");
  log.catch_up(stream);
  CHECK(log->read(stream, 1).bytes == "bc");
  CHECK(log->read(stream, 3).state == Read::State::Waiting);
  log->end(stream, 0, {});
  log.catch_up_with_end(stream);
  CHECK(log->read(stream, 1).bytes == "bc");
  CHECK(log->read(stream, 3).state == Read::State::Ended);
  log->drop(stream);
  CHECK(log->read(stream, 1).state == Read::State::Gone);
  CHECK(log->next_seq(stream) == 0);
  CHECK_FALSE(log->offset_above(stream, -1));
}

TEST_CASE("numbers are taken in order, once, and not after the end") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  AnyLog log(kind, {1000, 1000, 100000});
  const StreamId stream = *log->open({});
  CHECK(log->append(stream, 1, "x") == Append::OutOfOrder);
  CHECK(log->append(stream, 0, "x") == Append::Done);
  CHECK(log->append(stream, 0, "x") == Append::OutOfOrder);
  log->end(stream, 0, {});
  CHECK(log->append(stream, 1, "x") == Append::OutOfOrder);
  CHECK(log->append(stream + 1, 0, "x") == Append::Gone);
  log.catch_up(stream);
  CHECK(read_all(*log, stream) == "x");
}

TEST_CASE("followers are told of every change until they leave, also in the middle of one") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  AnyLog log(kind, {1000, 1000, 100000});
  const StreamId stream = *log->open({});
  struct Leaver : Counter {
    StreamLog* log = nullptr;
    StreamId stream = 0;
    void log_changed() override {
      ++changes;
      log->unfollow(stream, *this);
    }
  } leaver;
  leaver.log = &*log;
  leaver.stream = stream;
  Counter first;
  Counter last;
  log->follow(stream, first);
  log->follow(stream, leaver);
  log->follow(stream, last);
  log->append(stream, 0, "a");
  log.catch_up(stream);
  log->append(stream, 1, "b");
  log.catch_up(stream);
  CHECK(first.changes == 2);
  CHECK(leaver.changes == 1);
  CHECK(last.changes == 2);
  log->unfollow(stream, first);
  log->end(stream, 0, {});
  log.catch_up_with_end(stream);
  CHECK(first.changes == 2);
  CHECK(last.changes == 3);
  log->drop(stream);
  CHECK(last.changes == 4);
}

TEST_CASE("a stream may be as long as allowed, and not one byte longer") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  AnyLog log(kind, {1000, 100, 100000});
  const StreamId stream = *log->open({});
  CHECK(log->append(stream, 0, std::string(60, 'a')) == Append::Done);
  CHECK(log->append(stream, 1, std::string(41, 'b')) == Append::StreamFull);
  CHECK(log->append(stream, 1, std::string(40, 'b')) == Append::Done);
  CHECK(log->append(stream, 2, "c") == Append::StreamFull);
  log.catch_up(stream);
  CHECK(read_all(*log, stream).size() == 100);
}

TEST_CASE("the total bound is met: ended streams make room, oldest first, and running ones never") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  constexpr std::uint64_t kTotal = 100000;
  AnyLog log(kind, {1000, 1u << 20, kTotal});
  const StreamId running = *log->open({});
  REQUIRE(log->append(running, 0, std::string(10000, 'r')) == Append::Done);
  std::vector<StreamId> ended;
  std::vector<StreamId> removed;
  for (int i = 0; i < 50; ++i) {
    const auto stream = log->open({});
    REQUIRE(stream);
    for (Seq seq = 0; seq < 10; ++seq) REQUIRE(log->append(*stream, seq, std::string(700, 'e')) == Append::Done);
    log->end(*stream, i, {});
    ended.push_back(*stream);
    CHECK(log->usage().bytes <= kTotal);
    for (const StreamId id : log->take_removed()) removed.push_back(id);
  }
  REQUIRE(removed.size() > 30);
  CHECK(std::equal(removed.begin(), removed.end(), ended.begin()));
  CHECK(log->usage().dropped == removed.size());
  CHECK(log->usage().streams == 51 - removed.size());
  log.catch_up(running);
  CHECK(read_all(*log, running) == std::string(10000, 'r'));

  // Running streams alone fill it: then appending fails, and what was written stays readable.
  Seq seq = 1;
  while (log->append(running, seq, std::string(5000, 'r')) == Append::Done) ++seq;
  CHECK(log->append(running, seq, std::string(70000, 'r')) == Append::LogFull);
  CHECK(log->usage().bytes <= kTotal);
  CHECK(log->usage().streams == 1);
  CHECK(seq > 10);
  log.catch_up(running);
  CHECK(read_all(*log, running).size() == 10000 + static_cast<std::size_t>(seq - 1) * 5000);
}

TEST_CASE("no stream is opened where there is no room for its bookkeeping") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  AnyLog log(kind, {1000, 1000, 1000});
  std::size_t opened = 0;
  while (log->open({})) ++opened;
  CHECK(opened > 0);
  CHECK(log->usage().bytes <= 1000);
}

TEST_CASE("an ended stream is removed when its time is over") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  AnyLog log(kind, {1000, 1000, 100000});
  const StreamId first = *log->open({});
  const StreamId second = *log->open({});
  const StreamId running = *log->open({});
  CHECK(log->next_deadline() == kNever);
  log->end(first, 10, {});
  log->end(second, 20, {});
  log->end(first, 500, {});
  CHECK(log->next_deadline() == 1010);
  log->expire(1009);
  CHECK(log->contains(first));
  log->expire(1010);
  CHECK_FALSE(log->contains(first));
  CHECK(log->contains(second));
  CHECK(log->take_removed() == std::vector<StreamId>{first});
  CHECK(log->take_removed().empty());
  log->expire(1000000);
  CHECK_FALSE(log->contains(second));
  CHECK(log->contains(running));
  CHECK(log->next_deadline() == kNever);
}

TEST_CASE("what is held falls back to nothing, and a short stream is small") {
  const Kind kind = any_kind();
  CAPTURE(kind);
  AnyLog log(kind, {1000, 1u << 20, 1u << 30});
  const StreamId stream = *log->open({});
  for (Seq seq = 0; seq < 4; ++seq) log->append(stream, seq, std::string(100, 'x'));
  CHECK(log->usage().bytes < 1024);
  log->end(stream, 0, {});
  CHECK(log->usage().bytes < (kind == Kind::Memory ? 700 : 900));
  log->drop(stream);
  CHECK(log->usage().bytes == 0);
  CHECK(log->usage().streams == 0);
}
