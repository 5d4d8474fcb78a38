// Logs of several replicas on one loop, over one real Redis.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "native/log/redis_log.hpp"
#include "native/loop/loop.hpp"
#include "native/observe/logger.hpp"
#include "tests/catch.hpp"
#include "tests/native/log/logs.hpp"
#include "tests/native/loop/run_until.hpp"
#include "tests/native/redis/redis_server.hpp"

namespace tidemark::log {

/// A reader, as far as a log knows it.
struct Counter : Follower {
  virtual ~Counter() = default;
  int changes = 0;
  void log_changed() override { ++changes; }
};

/// One replica, and what it is told.
class Replica final : public SharedLogEvents {
 public:
  Replica(loop::Loop& loop, RedisLogOptions options, observe::Logger& logger)
      : log_(std::make_unique<RedisLog>(loop, nullptr, std::move(options), logger)) {
    log_->set_events(this);
  }

  RedisLog& operator*() { return *log_; }
  RedisLog* operator->() { return log_.get(); }
  /// Without a word to anybody, as by kill -9: its lease runs out.
  void kill() { log_.reset(); }

  std::vector<StreamId> lost_streams;
  std::vector<StreamId> left_streams;
  std::vector<std::pair<StreamId, std::string>> moves;
  std::vector<StreamId> to_stop;
  std::vector<std::string> names_to_stop;
  std::vector<StreamId> wanted_streams;
  std::vector<std::pair<StreamId, std::string>> ended;

  void ended_elsewhere(StreamId stream, const std::string& facts) override { ended.emplace_back(stream, facts); }
  void left(StreamId stream) override { left_streams.push_back(stream); }
  void moved(StreamId stream, const std::vector<Term>& terms) override {
    moves.emplace_back(stream, terms.back().epoch);
  }
  void lost(StreamId stream) override { lost_streams.push_back(stream); }
  void stop_asked(const std::string& name) override { names_to_stop.push_back(name); }
  void stop_asked(StreamId stream) override { to_stop.push_back(stream); }
  void wanted(StreamId stream) override { wanted_streams.push_back(stream); }

 private:
  std::unique_ptr<RedisLog> log_;
};

class Replicas {
 public:
  static constexpr TimeMs kLeaseMs = 500;

  explicit Replicas(testing::RedisServer::Options options = {}) : server(std::move(options)) {
    defaults.endpoint.host = "127.0.0.1";
    defaults.endpoint.port = server.port();
    defaults.lease_ms = kLeaseMs;
    defaults.limits = {60000, 1u << 25, 1u << 28};
  }

  /// One more, connected.
  std::unique_ptr<Replica> replica() {
    RedisLogOptions options = defaults;
    options.replica = std::string(31, '0') + static_cast<char>('a' + count_++);
    auto made = std::make_unique<Replica>(loop, options, logger);
    until([&] { return (*made)->reachable(); });
    return made;
  }

  void until(const std::function<bool()>& met) {
    const bool in_time = testing::run_until(loop, met);
    CAPTURE(said.str());
    REQUIRE(in_time);
  }

  LookUp look_up(Replica& replica, std::optional<SharedLog::Claim> claim = std::nullopt, const char* name = "abc") {
    std::optional<LookUp> found;
    replica->look_up(name, std::move(claim), [&found](LookUp result) { found = std::move(result); });
    until([&found] { return found.has_value(); });
    return *found;
  }

  /// Until at least so many events of the stream can be read there.
  LookUp reads(Replica& replica, Seq at_least, const char* name = "abc") {
    LookUp found;
    until([&] {
      found = look_up(replica, std::nullopt, name);
      return found.answer == LookUp::Answer::Here && replica->next_seq(found.stream) >= at_least;
    });
    return found;
  }

  std::optional<Term> take_over(Replica& replica, StreamId stream) {
    std::optional<std::optional<Term>> taken;
    replica->take_over(stream, [&taken](std::optional<Term> term) { taken = std::move(term); });
    until([&taken] { return taken.has_value(); });
    return *taken;
  }

  /// `count` events at the end of a stream, each in a turn of its own.
  void append(Replica& replica, StreamId stream, int count) {
    for (int i = 0; i < count; ++i) {
      const Seq seq = replica->next_seq(stream);
      REQUIRE(replica->append(stream, seq, text(seq)) == Append::Done);
      loop.run_one(0);
    }
  }
  static std::string text(Seq seq) { return "event " + std::to_string(seq) + "\n\n"; }
  static std::string texts(Seq from, Seq to) {
    std::string out;
    for (Seq seq = from; seq < to; ++seq) out += text(seq);
    return out;
  }

  std::string events() const { return server.run({"XLEN", "tidemark:{abc}:events:1000"}); }

  loop::Loop loop;
  std::ostringstream said;
  observe::Logger logger{observe::Level::Debug, said};
  testing::RedisServer server;
  RedisLogOptions defaults;

 private:
  int count_ = 0;
};

inline const SharedLog::Claim kClaim{"1000", "digest of a request", "for whom"};

inline SharedLog::Claim claim(std::string facts) { return {kClaim.epoch, kClaim.digest, std::move(facts)}; }

}  // namespace tidemark::log
