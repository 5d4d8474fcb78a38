// Wiring and draining.
#include "native/proxy/serve.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "native/downstream/server.hpp"
#include "native/log/file_log.hpp"
#include "native/log/memory_log.hpp"
#include "native/log/redis_log.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/proxy.hpp"
#include "native/proxy/random_name.hpp"
#include "native/proxy/streams.hpp"
#include "native/tls/context.hpp"

namespace tidemark::proxy {
namespace {

// What an ending needs beyond max_stream_bytes: the dialect's last events, with the answer's text where they repeat it.
constexpr std::uint64_t kRoomForEnding = 65536;
constexpr TimeMs kLookEveryMs = 20;
// After the streams have ended: how long readers have to take what is left.
constexpr TimeMs kLastBytesMs = 3000;

log::Limits log_limits(const config::LogLimits& limits) {
  return {limits.ttl_seconds * 1000, 2 * limits.max_stream_bytes + kRoomForEnding, limits.max_total_bytes};
}

log::SyncPolicy sync_policy(config::LogSync sync) {
  switch (sync) {
    case config::LogSync::Never:
      return log::SyncPolicy::Never;
    case config::LogSync::Interval:
      return log::SyncPolicy::Interval;
    case config::LogSync::Always:
      return log::SyncPolicy::Always;
  }
  return log::SyncPolicy::Never;
}

log::RedisLogOptions redis_options(const config::Config& config) {
  const config::RedisUrl& url = *config.log_redis_url;
  log::RedisLogOptions options;
  options.endpoint = {url.tls, url.address.host, url.address.port, url.user, url.password, url.database};
  options.limits = log_limits(config.log_limits);
  options.lease_ms = config.log_redis.lease_ms;
  options.replica = draw_stream_id();
  return options;
}

/// In memory, too, where the files can't be had: then `error` says why. `shared`: the same one, where it is shared.
std::unique_ptr<log::StreamLog> open_log(loop::Loop& loop, const config::Config& config,
                                         std::optional<tls::ClientContext>& redis_tls, observe::Logger& logger,
                                         log::SharedLog*& shared, std::string& error) {
  const log::Limits limits = log_limits(config.log_limits);
  if (config.log_redis_url) {
    tls::ClientContext* tls = config.log_redis_url->tls ? &redis_tls.emplace(tls::Speaks::Anything) : nullptr;
    auto opened = std::make_unique<log::RedisLog>(loop, tls, redis_options(config), logger);
    shared = opened.get();
    return opened;
  }
  if (config.log_directory.empty()) return std::make_unique<log::MemoryLog>(limits);
  log::FileLogOptions options;
  options.limits = limits;
  options.sync = sync_policy(config.log_file.sync);
  options.sync_interval = std::chrono::milliseconds(config.log_file.sync_ms);
  options.unix_now_ms = [&loop] { return loop.unix_now_ms(); };
  options.post = [&loop](std::function<void()> task) { loop.post(std::move(task)); };
  auto opened = log::FileLog::open(config.log_directory, std::move(options), loop.now_ms(), logger);
  if (opened.ok()) return std::move(opened.value());
  error = opened.error();
  return std::make_unique<log::MemoryLog>(limits);
}

downstream::ServerLimits server_limits(const config::Limits& limits) {
  downstream::ServerLimits out;
  out.request_head_bytes = limits.request_head_bytes;
  out.body_bytes = limits.body_bytes;
  out.head_timeout_ms = limits.head_timeout_ms;
  out.reader_stall_ms = limits.reader_stall_ms;
  out.connections = limits.connections;
  return out;
}

}  // namespace

struct Service::Parts {
  Parts(loop::Loop& loop_, const config::Config& config_, observe::Logger& logger)
      : loop(loop_),
        config(config_),
        log(open_log(loop, config, redis_tls, logger, shared, log_error)),
        client(loop, &tls, {}),
        upstreams(config, logger),
        cors(config.cors_allow_origins,
             config.lends_keys() ? Cors::Unconfigured::Nobody : Cors::Unconfigured::Upstream),
        context{loop, config, logger, *log, shared, client, upstreams, registry, counters, cors, refused_forms},
        streams(context),
        proxy(context, streams),
        server(loop, server_limits(config.limits), proxy),
        look(loop) {
    context.server = &server;
    streams.restore(log->take_restored());
  }

  ~Parts() {
    // Bodies and runs point at all the rest, and those that were retired die with a turn of the loop.
    server.close_all();
    registry.clear();
    loop.run_one(0);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  // No new streams; but readers may come back to those that run, and a load balancer may ask.
  void begin_drain() {
    context.draining = true;
    context.logger.write(observe::Level::Info, observe::Line("draining")
                                                   .number("streams", static_cast<std::int64_t>(counters.running))
                                                   .number("seconds_at_most", config.drain_seconds));
    shut_down_at = loop.now_ms() + config.drain_seconds * 1000;
    look_whether_done();
  }

  // What still runs is no loss: the next process takes it over, and readers come back to that.
  bool is_left_to_another() const { return log->keeps_facts() && log->reachable(); }

  void look_whether_done() {
    const TimeMs now = loop.now_ms();
    const bool idle = counters.running == 0 && server.exchanges() == 0;
    if (!idle && now >= shut_down_at && !was_shut_down) {
      was_shut_down = true;
      server.stop_accepting();
      if (is_left_to_another()) {
        close_at = now;
      } else {
        close_at = now + kLastBytesMs;
        streams.shut_down();
      }
    }
    if (idle || now >= close_at) {
      // Before its readers come back elsewhere.
      if (shared != nullptr && is_left_to_another()) shared->leave();
      server.close_all();
      return closed();
    }
    look.set(now + kLookEveryMs, [this] { look_whether_done(); });
  }

  loop::Loop& loop;
  const config::Config& config;
  std::string log_error;  // why the log is not the one that was asked for
  std::optional<tls::ClientContext> redis_tls;
  log::SharedLog* shared = nullptr;  // `log`, where replicas share it
  std::unique_ptr<log::StreamLog> log;
  tls::ClientContext tls;
  upstream::Client client;
  Upstreams upstreams;
  Registry registry;
  Counters counters;
  Cors cors;
  continuation::RefusedForms refused_forms;
  Context context;
  Streams streams;
  Proxy proxy;
  downstream::Server server;
  loop::Timer look;
  TimeMs shut_down_at = kNever;
  TimeMs close_at = kNever;
  bool was_shut_down = false;
  std::function<void()> closed;
};

Service::Service(loop::Loop& loop, const config::Config& config, observe::Logger& logger)
    : parts_(std::make_unique<Parts>(loop, config, logger)) {}

Service::~Service() = default;

std::string Service::listen() {
  if (!parts_->log_error.empty()) return "log: " + parts_->log_error;
  const std::string error = parts_->server.listen(parts_->config.listen.host, parts_->config.listen.port);
  return error.empty() ? error : "listen: " + error;
}

std::uint16_t Service::port() const { return parts_->server.port(); }

void Service::drain(std::function<void()> closed) {
  if (parts_->context.draining) {
    parts_->shut_down_at = parts_->loop.now_ms();
    return parts_->look_whether_done();
  }
  parts_->closed = std::move(closed);
  parts_->begin_drain();
}

}  // namespace tidemark::proxy
