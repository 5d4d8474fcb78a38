// Redis slow, restarted, emptied, full or gone: what streams lose by it, and when.
#include <algorithm>

#include "core/base/random.hpp"
#include "native/log/redis_log.hpp"
#include "tests/native/log/long_line.hpp"
#include "tests/native/log/replicas.hpp"

using namespace tidemark;
using namespace tidemark::log;
using Answer = LookUp::Answer;

TEST_CASE(
    "readers of the replica that feeds a stream do not wait for Redis, but for one that lags, and then a lease at "
    "most") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const bool comes_back = GENERATE(true, false);
  CAPTURE(comes_back);
  all.defaults.lease_ms = comes_back ? 60000 : 1000;
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 1);
  all.until([&] { return all.events() == "1"; });
  all.server.pause();
  const TimeMs paused_at = all.loop.now_ms();
  all.append(*a, fed, 1);
  const bool at_once = read_all(**a, fed) == Replicas::texts(0, 2);
  // But where this took long itself.
  CHECK((at_once || all.loop.now_ms() - paused_at >= 50));
  all.until([&] { return all.loop.now_ms() - paused_at > 100; });
  all.append(*a, fed, 1);
  CHECK(read_all(**a, fed).size() < Replicas::texts(0, 3).size());
  if (comes_back) all.server.resume();
  all.until([&] { return read_all(**a, fed) == Replicas::texts(0, 3); });
  CHECK((comes_back || all.loop.now_ms() - paused_at >= 1000));
  all.server.resume();
  all.until([&] { return all.events() == "3"; });
}

TEST_CASE("a Redis far away holds each event up for its own way, and no longer") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  all.defaults.lease_ms = 60000;
  testing::LongLine line(all.loop, all.server.port(), 80);
  all.defaults.endpoint.port = line.port();
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  // Something is always on its way for longer than a Redis that is near would take.
  Seq shown = 0;
  for (Seq seq = 0; seq < 60; ++seq) {
    REQUIRE((*a)->append(fed, seq, Replicas::text(seq)) == Append::Done);
    const TimeMs next = all.loop.now_ms() + 10;
    all.until([&] { return all.loop.now_ms() >= next; });
    while ((*a)->offset_above(fed, shown)) ++shown;
  }
  CHECK(shown > 30);
  all.until([&] { return all.events() == "60"; });
  all.until([&] { return read_all(**a, fed) == Replicas::texts(0, 60); });
}

TEST_CASE("a Redis that stood still is written to again, whatever there is to write") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId over = *(*a)->open_shared("def", claim(""));
  all.append(*a, over, 2);
  (*a)->end(over, all.loop.now_ms(), "the end");
  const bool runs = GENERATE(true, false);
  CAPTURE(runs);
  if (runs) all.append(*a, *(*a)->open_shared("abc", claim("")), 2);
  all.until([&] { return all.server.run({"HEXISTS", "tidemark:{def}:stream", "ended"}) == "1"; });
  all.server.pause();
  all.until([&] { return !(*a)->reachable() && !(*b)->reachable(); });
  all.server.resume();
  all.until([&] { return (*a)->reachable() && (*b)->reachable(); });
  if (runs) all.reads(*b, 2);
}

TEST_CASE("without Redis streams go on from memory, and Redis gets what it lacks when it is back") {
  if (!testing::RedisServer::available()) return;
  testing::RedisServer::Options options;
  options.keeps_data = GENERATE(true, false);
  CAPTURE(options.keeps_data);
  Replicas all(options);
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim("facts"));
  const StreamId over = *(*a)->open_shared("def", claim("facts"));
  all.append(*a, fed, 20);
  all.append(*a, over, 2);
  (*a)->end(over, all.loop.now_ms(), "the end");
  all.until([&] { return all.server.run({"HEXISTS", "tidemark:{def}:stream", "ended"}) == "1"; });
  all.server.kill();
  all.until([&] { return !(*a)->reachable(); });
  all.append(*a, fed, 20);
  all.until([&] { return read_all(**a, fed) == Replicas::texts(0, 40); });
  const StreamId begun = *(*a)->open_shared("fed", claim("begun meanwhile"));
  all.append(*a, begun, 3);
  const StreamId begun_and_over = *(*a)->open_shared("bad", claim(""));
  all.append(*a, begun_and_over, 3);
  (*a)->end(begun_and_over, all.loop.now_ms(), "the end");
  CHECK(all.look_up(*a).answer == Answer::Unreachable);
  all.server.start();
  all.until([&] { return (*a)->reachable(); });
  all.append(*a, fed, 5);
  const auto b = all.replica();
  LookUp found;
  all.until([&] { return (*b)->next_seq((found = all.look_up(*b)).stream) == 45; });
  CHECK(read_all(**b, found.stream) == Replicas::texts(0, 45));
  CHECK(found.facts == "facts");
  const LookUp other = all.look_up(*b, std::nullopt, "fed");
  REQUIRE(other.answer == Answer::Here);
  CHECK(other.facts == "begun meanwhile");
  CHECK(read_all(**b, other.stream) == Replicas::texts(0, 3));
  for (const char* name : {"bad", "def"}) {
    const LookUp last = all.look_up(*b, std::nullopt, name);
    CAPTURE(name);
    REQUIRE(last.answer == Answer::Here);
    CHECK(last.ended);
    CHECK(last.facts == "the end");
  }
}

TEST_CASE("what comes while Redis is restarted is shown when it is written") {
  if (!testing::RedisServer::available()) return;
  testing::RedisServer::Options options;
  options.keeps_data = GENERATE(true, false);
  CAPTURE(options.keeps_data);
  Replicas all(options);
  all.defaults.lease_ms = 60000;
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim("facts"));
  all.append(*a, fed, 5);
  all.server.kill();
  all.until([&] { return !(*a)->reachable(); });
  all.append(*a, fed, 5);
  CHECK(read_all(**a, fed) == Replicas::texts(0, 5));
  (*a)->end(fed, all.loop.now_ms(), "the end");
  all.server.start();
  const Offset end = Replicas::texts(0, 10).size();
  all.until([&] { return (*a)->read(fed, end).state == Read::State::Ended; });
  CHECK(read_all(**a, fed) == Replicas::texts(0, 10));
  CHECK(all.server.run({"HGET", "tidemark:{abc}:stream", "facts"}) == "the end");
}

TEST_CASE("a name is not given out before those who may have it had time to say so") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 1);
  REQUIRE(all.look_up(*a, kClaim, "def").answer == Answer::Yours);
  all.server.kill();
  all.until([&] { return !(*a)->reachable() && !(*b)->reachable(); });
  all.server.start();
  all.until([&] { return (*b)->reachable(); });
  CHECK(all.look_up(*b, kClaim).answer == Answer::Here);
  CHECK(all.look_up(*b, kClaim, "def").answer == Answer::Claimed);
  CHECK(all.look_up(*b, kClaim, "fed").answer == Answer::Yours);
}

TEST_CASE("a stream is not taken over because Redis has forgotten a lease") {
  if (!testing::RedisServer::available()) return;
  testing::RedisServer::Options options;
  options.keeps_data = true;
  Replicas all(options);
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 1);
  all.until([&] { return all.events() == "1"; });
  all.server.stop();
  all.until([&] { return !(*a)->reachable() && !(*b)->reachable(); });
  all.server.start();
  all.until([&] { return (*b)->reachable(); });
  const LookUp found = all.look_up(*b);
  REQUIRE(found.answer == Answer::Here);
  CHECK(found.fed);
  CHECK_FALSE(all.take_over(*b, found.stream));
  all.append(*a, fed, 1);
  CHECK(a->lost_streams.empty());
}

TEST_CASE("who reads elsewhere reads on after a restart of Redis") {
  if (!testing::RedisServer::available()) return;
  testing::RedisServer::Options options;
  options.keeps_data = GENERATE(true, false);
  CAPTURE(options.keeps_data);
  Replicas all(options);
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 10);
  const LookUp found = all.reads(*b, 10);
  all.server.kill();
  all.until([&] { return !(*a)->reachable(); });
  all.append(*a, fed, 10);
  all.server.start();
  all.until([&] { return (*b)->next_seq(found.stream) == 20; });
  CHECK(read_all(**b, found.stream) == Replicas::texts(0, 20));
}

TEST_CASE("a Redis that is full is written to again when it has room") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 5);
  all.until([&] { return all.events() != "0"; });
  REQUIRE(all.server.run({"CONFIG", "SET", "maxmemory", "1"}) == "OK");
  all.append(*a, fed, 5);
  all.until([&] { return !(*a)->reachable(); });
  CHECK(read_all(**a, fed) == Replicas::texts(0, 10));
  REQUIRE(all.server.run({"CONFIG", "SET", "maxmemory", "0"}) == "OK");
  all.until([&] { return (*a)->reachable(); });
  const auto b = all.replica();
  CHECK(read_all(**b, all.reads(*b, 10).stream) == Replicas::texts(0, 10));
}

TEST_CASE("a Redis that is full for longer than a lease leaves each stream to the replica that feeds it") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  const LookUp found = all.reads(*b, 2);
  REQUIRE(all.server.run({"CONFIG", "SET", "maxmemory", "1"}) == "OK");
  // Also the one that feeds nothing is not ready.
  all.until([&] { return !(*a)->reachable() && !(*b)->reachable(); });
  const TimeMs later = all.loop.now_ms() + 2 * Replicas::kLeaseMs;
  all.until([&] { return all.loop.now_ms() >= later; });
  all.append(*a, fed, 2);
  all.until([&] { return read_all(**a, fed) == Replicas::texts(0, 4); });
  REQUIRE(all.server.run({"CONFIG", "SET", "maxmemory", "0"}) == "OK");
  CHECK_FALSE(all.take_over(*b, found.stream));
  all.until([&] { return (*a)->reachable() && (*b)->reachable(); });
  CHECK(read_all(**b, all.reads(*b, 4).stream) == Replicas::texts(0, 4));
  CHECK(a->lost_streams.empty());
}

TEST_CASE(
    "a Redis that takes no write at all for longer than a lease leaves each stream to the replica that feeds it") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  all.reads(*b, 2);
  // As in a failover: reads are answered, and leases run out.
  REQUIRE(all.server.run({"CONFIG", "SET", "min-replicas-to-write", "1"}) == "OK");
  all.until([&] { return !(*a)->reachable() && !(*b)->reachable(); });
  all.append(*a, fed, 2);
  all.until([&] { return all.server.run({"EXISTS", "tidemark:replica:" + std::string(31, '0') + "a"}) == "0"; });
  REQUIRE(all.server.run({"CONFIG", "SET", "min-replicas-to-write", "0"}) == "OK");
  LookUp found;
  all.until([&] { return (found = all.look_up(*b)).answer == Answer::Here; });
  CHECK(found.fed);
  CHECK_FALSE(all.take_over(*b, found.stream));
  all.until([&] { return (*a)->reachable() && (*b)->reachable(); });
  all.reads(*b, 4);
  CHECK(a->lost_streams.empty());
}

TEST_CASE("who looks for a stream whose lease a full Redis does not take is told at once that nobody can tell") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  all.reads(*b, 2);
  // Past the time for which a young Redis is trusted with no lease's end.
  const TimeMs later = all.loop.now_ms() + 2 * Replicas::kLeaseMs + 1000;
  all.until([&] { return all.loop.now_ms() >= later; });
  REQUIRE(all.server.run({"CONFIG", "SET", "maxmemory", "1"}) == "OK");
  all.until([&] { return !(*b)->reachable(); });
  all.server.run({"DEL", "tidemark:replica:" + std::string(31, '0') + "a"});
  CHECK(all.look_up(*b).answer == Answer::Unreachable);
  REQUIRE(all.server.run({"CONFIG", "SET", "maxmemory", "0"}) == "OK");
  all.until([&] { return (*a)->reachable(); });
  CHECK(all.reads(*b, 2).fed);
}

TEST_CASE("what is on its way to a Redis that does not read is bounded") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  all.defaults.lease_ms = 60000;
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.server.pause();
  const std::string event(65536, 'x');
  for (Seq seq = 0; seq < 200; ++seq) {
    REQUIRE((*a)->append(fed, seq, event) == Append::Done);
    all.loop.run_one(0);
  }
  CHECK_FALSE((*a)->reachable());
  CHECK((*a)->next_seq(fed) == 200);
  all.server.resume();
  all.until([&] { return (*a)->reachable() && all.events() == "200"; });
  all.until([&] { return read_all(**a, fed).size() == 200 * event.size(); });
}

TEST_CASE("facts may be as long as a request, and many of them long, without the connection being lost for it") {
  if (!testing::RedisServer::available()) return;
  testing::RedisServer::Options options;
  Replicas all(options);
  const auto a = all.replica();
  const std::string request(34u << 20, 'r');
  REQUIRE((*a)->open_shared("abc", claim(request)));
  const std::string long_one(2u << 20, 'f');
  for (int i = 0; i < 20; ++i) REQUIRE((*a)->open_shared("d" + std::to_string(i), claim(long_one)));
  all.server.kill();
  all.until([&] { return !(*a)->reachable(); });
  all.server.start();
  all.until([&] { return (*a)->reachable(); });
  const auto b = all.replica();
  CHECK(all.reads(*b, 0).facts == request);
  CHECK(all.reads(*b, 0, "d19").facts == long_one);
}

TEST_CASE("a connection that is cut again and again costs nothing") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  const LookUp found = all.reads(*b, 0);
  Random random(7);
  for (int cut = 0; cut < 15; ++cut) {
    all.append(*a, fed, 1 + static_cast<int>(random.next() % 30));
    all.server.run({"CLIENT", "KILL", "TYPE", "normal"});
    all.append(*a, fed, static_cast<int>(random.next() % 30));
  }
  const Seq all_of_them = (*a)->next_seq(fed);
  all.until([&] { return (*b)->next_seq(found.stream) == all_of_them; });
  CHECK(read_all(**b, found.stream) == Replicas::texts(0, all_of_them));
  CHECK(a->lost_streams.empty());
  CHECK(b->lost_streams.empty());
  const auto c = all.replica();
  CHECK(read_all(**c, all.reads(*c, all_of_them).stream) == Replicas::texts(0, all_of_them));
}

TEST_CASE("scripts that somebody has thrown away are loaded again") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  all.server.run({"SCRIPT", "FLUSH"});
  CHECK(all.look_up(*a, kClaim).answer == Answer::Unreachable);
  all.until([&] { return (*a)->reachable(); });
  CHECK(all.look_up(*a, kClaim).answer == Answer::Yours);
}

TEST_CASE("a stream that has lost its beginning in Redis is not read") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  for (int i = 0; i < 3; ++i) {
    all.append(*a, fed, 1);
    all.until([&] { return all.events() == std::to_string(i + 1); });
  }
  all.server.run({"XDEL", "tidemark:{abc}:events:1000", "1000-0"});
  CHECK(all.look_up(*b).answer == Answer::Unknown);
  CHECK(all.look_up(*b, kClaim).answer == Answer::Unreachable);
  CHECK((*b)->usage().streams == 0);
}

TEST_CASE("without a server at the start, who asks waits for the first try to connect and is told then") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  all.server.kill();
  RedisLogOptions options = all.defaults;
  options.replica = "0c";
  RedisLog log(all.loop, nullptr, options, all.logger);
  std::optional<Answer> answer;
  log.look_up("abc", std::nullopt, [&answer](const LookUp& found) { answer = found.answer; });
  all.until([&] { return answer.has_value(); });
  CHECK(*answer == Answer::Unreachable);
  all.server.start();
  all.until([&] { return log.reachable(); });
}
