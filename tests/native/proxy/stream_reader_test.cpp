// A reader's bytes: the log's, keepalives between events only, and the end comment last.
#include "native/proxy/stream_reader.hpp"

#include <optional>

#include "core/dialect/ending.hpp"
#include "native/log/memory_log.hpp"
#include "tests/catch.hpp"

using namespace tidemark;
using namespace tidemark::proxy;
using State = StreamReader::State;

namespace {

constexpr std::string_view kEnd = ": tidemark end=complete reason=terminal-marker\n\n";

struct World {
  log::MemoryLog log{{1000, 1u << 20, 1u << 20}};
  log::StreamId stream = *log.open({});
  StreamReader reader{log, stream, 0, dialect::Dialect::OpenaiChat, 100, 0};

  /// Takes at most `step` bytes at a time until there is nothing more; what the last answer was goes to `last`.
  std::string take(TimeMs now, std::size_t step, State* last = nullptr) {
    std::string out;
    for (;;) {
      const auto next = reader.next(now, kEnd);
      if (last != nullptr) *last = next.state;
      if (next.state != State::Bytes) return out;
      const std::string_view bytes = next.bytes.substr(0, step);
      REQUIRE_FALSE(bytes.empty());
      out += bytes;
      reader.taken(bytes.size(), now);
    }
  }
};

}  // namespace

TEST_CASE("the body is the events and then the end comment, however little is taken at a time") {
  for (const std::size_t step : {1u, 2u, 7u, 100000u}) {
    World world;
    std::string expected;
    std::string got;
    State last = State::Bytes;
    for (log::Seq seq = 0; seq < 30; ++seq) {
      const std::string event = "data: " + std::string(static_cast<std::size_t>(seq) * 13, 'x') + "\n\n";
      expected += event;
      REQUIRE(world.log.append(world.stream, seq, event) == log::Append::Done);
      if (seq % 3 == 0) got += world.take(0, step, &last);
      if (seq % 3 == 0) CHECK(last == State::Waiting);
    }
    world.log.end(world.stream, 0, {});
    got += world.take(0, step, &last);
    CHECK(last == State::Done);
    CHECK(got == expected + std::string(kEnd));
    CHECK(world.take(500, step, &last).empty());
    CHECK(last == State::Done);
    CHECK(world.reader.deadline() == kNever);
  }
}

TEST_CASE("a keepalive goes out after so long without a byte, and again") {
  World world;
  State last = State::Bytes;
  CHECK(world.take(0, 100, &last).empty());
  CHECK(last == State::Waiting);
  CHECK(world.reader.deadline() == 100);
  CHECK(world.take(99, 100).empty());
  const std::string keepalive(dialect::keepalive(dialect::Dialect::OpenaiChat));
  CHECK(world.take(100, 100) == keepalive);
  CHECK(world.reader.deadline() == 200);
  world.log.append(world.stream, 0, "data: a\n\n");
  CHECK(world.take(150, 100) == "data: a\n\n");
  CHECK(world.reader.deadline() == 250);
  CHECK(world.take(260, 3) == keepalive);
}

TEST_CASE("no keepalive falls into an event that is taken slowly") {
  World world;
  world.log.append(world.stream, 0, "data: abc\n\n");
  std::string got;
  for (TimeMs now = 1000; got.size() < 11; now += 1000) {
    const auto next = world.reader.next(now, kEnd);
    REQUIRE(next.state == State::Bytes);
    got += next.bytes[0];
    world.reader.taken(1, now);
    CHECK(world.reader.deadline() == kNever);
  }
  CHECK(got == "data: abc\n\n");
}

TEST_CASE("a keepalive that was begun is finished before an event that came meanwhile") {
  World world;
  const std::string keepalive(dialect::keepalive(dialect::Dialect::OpenaiChat));
  const auto next = world.reader.next(100, kEnd);
  REQUIRE(next.state == State::Bytes);
  world.reader.taken(1, 100);
  world.log.append(world.stream, 0, "data: a\n\n");
  world.log.end(world.stream, 0, {});
  CHECK(world.take(100, 100) == keepalive.substr(1) + "data: a\n\n" + std::string(kEnd));
}

TEST_CASE("a reader whose stream was dropped is told so") {
  World world;
  world.log.append(world.stream, 0, "data: abc\n\n");
  world.reader.next(0, kEnd);
  world.reader.taken(3, 0);
  world.log.drop(world.stream);
  State last = State::Bytes;
  world.take(0, 100, &last);
  CHECK(last == State::Lost);
}
