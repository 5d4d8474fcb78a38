// What an event costs in each log, and a stream in memory. Files go where TMPDIR says, else to /tmp; the shared log is
// measured where TIDEMARK_BENCH_REDIS names the port of a Redis server on this machine (it is written to).
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "native/log/file_log.hpp"
#include "native/log/memory_log.hpp"
#include "native/log/redis_log.hpp"
#include "native/loop/loop.hpp"

namespace {

namespace log = tidemark::log;

constexpr std::size_t kEventBytes = 250;  // a text event of a chat completion, about
constexpr std::size_t kStreams = 64;      // at once
constexpr log::Seq kEvents = 200;         // of a stream
constexpr log::Limits kLimits{600000, 16777216, 268435456};
constexpr int kMemory = -1;
constexpr int kRedis = 3;

/// A log of one kind: kMemory, a SyncPolicy, or kRedis.
struct World {
  tidemark::loop::Loop loop;
  std::ostringstream said;
  tidemark::observe::Logger logger{tidemark::observe::Level::Error, said};
  std::string directory;
  std::unique_ptr<log::StreamLog> log;
  log::RedisLog* shared = nullptr;
  int names = 0;

  explicit World(std::int64_t kind) {
    if (kind == kMemory) {
      log = std::make_unique<log::MemoryLog>(kLimits);
      return;
    }
    if (kind == kRedis) {
      log::RedisLogOptions options;
      options.endpoint.host = "127.0.0.1";
      options.endpoint.port = static_cast<std::uint16_t>(std::atoi(std::getenv("TIDEMARK_BENCH_REDIS")));
      options.limits = kLimits;
      options.replica = "bench";
      auto made = std::make_unique<log::RedisLog>(loop, nullptr, options, logger);
      shared = made.get();
      log = std::move(made);
      while (!shared->reachable()) loop.run_one(1000);
      return;
    }
    directory = (std::filesystem::temp_directory_path() / "tidemark-bench-XXXXXX").string();
    if (::mkdtemp(directory.data()) == nullptr) std::abort();
    log::FileLogOptions options;
    options.limits = kLimits;
    options.sync = static_cast<log::SyncPolicy>(kind);
    options.unix_now_ms = [this] { return loop.unix_now_ms(); };
    options.post = [this](std::function<void()> task) { loop.post(std::move(task)); };
    auto opened = log::FileLog::open(directory, options, 0, logger);
    if (!opened) std::abort();
    log = std::move(opened).value();
  }
  ~World() {
    log.reset();
    if (!directory.empty()) std::filesystem::remove_all(directory);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  log::StreamId open() {
    if (shared == nullptr) return *log->open("facts");
    return *shared->open_shared(std::to_string(::getpid()) + "a" + std::to_string(++names), {"1", "digest", "facts"});
  }
  /// Until Redis has answered all that it was sent.
  void until_taken() {
    if (shared == nullptr) return;
    bool answered = false;
    shared->look_up("none", std::nullopt, [&answered](const log::LookUp&) { answered = true; });
    while (!answered) loop.run_one(1000);
  }
  void until_seen(log::StreamId stream, log::Seq seq) {
    // What the shared log has put off to the end of a turn needs one, and nothing to wait for.
    while (!log->offset_above(stream, seq)) loop.run_one(shared == nullptr ? 1000 : 0);
  }
};

const char* label(std::int64_t kind) {
  constexpr std::array<const char*, 5> kLabels{"memory", "file, never", "file, interval", "file, always", "redis"};
  return kLabels[static_cast<std::size_t>(kind + 1)];
}

bool lacks_redis(benchmark::State& state) {
  if (state.range(0) != kRedis || std::getenv("TIDEMARK_BENCH_REDIS") != nullptr) return false;
  state.SkipWithError("TIDEMARK_BENCH_REDIS names no port");
  return true;
}

/// `together` events are appended before readers have to see the last of them. Streams end, and are dropped.
void appends(benchmark::State& state) {
  if (lacks_redis(state)) return;
  World world(state.range(0));
  const std::int64_t together = state.range(1);
  const std::string event(kEventBytes, 'e');
  std::vector<log::StreamId> streams(kStreams);
  log::Seq seq = kEvents;
  std::size_t at = 0;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < together; ++i) {
      if (at == 0 && seq == kEvents) {
        world.until_taken();
        for (log::StreamId& stream : streams) {
          world.log->end(stream, 0, {});
          world.loop.run_one(0);
          world.log->drop(stream);
          stream = world.open();
        }
        world.log->take_removed();
        seq = 0;
      }
      if (world.log->append(streams[at], seq, event) != log::Append::Done) std::abort();
      if (i + 1 == together) world.until_seen(streams[at], seq);
      at = (at + 1) % kStreams;
      if (at == 0) ++seq;
    }
    world.loop.run_one(0);
  }
  state.SetItemsProcessed(state.iterations() * together);
  state.SetLabel(label(state.range(0)));
}

/// Allocated bytes beside the events themselves, for streams of so many events that run.
void memory_of_streams(benchmark::State& state) {
  if (lacks_redis(state)) return;
  const log::Seq events = state.range(1);
  constexpr std::size_t kOpen = 200;
  const std::string event(kEventBytes, 'e');
  double beside = 0;
  for (auto _ : state) {
    World world(state.range(0));
    const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    for (std::size_t i = 0; i < kOpen; ++i) {
      const log::StreamId stream = world.open();
      for (log::Seq seq = 0; seq < events; ++seq) world.log->append(stream, seq, event);
      world.until_seen(stream, events - 1);
    }
    world.until_taken();
    const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    beside = static_cast<double>(after - before) / kOpen - static_cast<double>(events) * kEventBytes;
  }
  state.counters["per_stream"] = beside;
  state.counters["per_event"] = beside / static_cast<double>(events);
  state.SetLabel(label(state.range(0)));
}

/// A restart with `range` MiB of events on the disk.
void reopening(benchmark::State& state) {
  World world(static_cast<std::int64_t>(log::SyncPolicy::Never));
  const std::string event(kEventBytes, 'e');
  const std::int64_t bytes = state.range(0) << 20;
  for (std::int64_t written = 0; written < bytes;) {
    const log::StreamId stream = *world.log->open("facts");
    for (log::Seq seq = 0; seq < kEvents; ++seq, written += std::int64_t{kEventBytes})
      world.log->append(stream, seq, event);
    world.log->end(stream, 0, "facts");
  }
  for (auto _ : state) {
    world.log.reset();
    log::FileLogOptions options;
    options.limits = kLimits;
    options.unix_now_ms = [&world] { return world.loop.unix_now_ms(); };
    options.post = [&world](std::function<void()> task) { world.loop.post(std::move(task)); };
    auto opened = log::FileLog::open(world.directory, options, 0, world.logger);
    if (!opened) std::abort();
    world.log = std::move(opened).value();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

BENCHMARK(appends)
    ->ArgNames({"kind", "together"})
    ->UseRealTime()
    ->ArgsProduct({{kMemory, 0, 1, 2, kRedis}, {1, 64, 1024}});
BENCHMARK(memory_of_streams)
    ->ArgNames({"kind", "events"})
    ->Iterations(1)
    ->ArgsProduct({{kMemory, 0, kRedis}, {20, 200, 2000}});
BENCHMARK(reopening)->ArgName("MiB")->UseRealTime()->Unit(benchmark::kMillisecond)->Arg(16)->Arg(128);

}  // namespace
