// Several proxies over one real Redis and one scripted upstream, each with a loop in a thread of its own.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "native/config/config.hpp"
#include "native/loop/loop.hpp"
#include "native/observe/logger.hpp"
#include "native/proxy/serve.hpp"
#include "tests/catch.hpp"
#include "tests/native/proxy/http_client.hpp"
#include "tests/native/proxy/scripted_upstream.hpp"
#include "tests/native/redis/redis_server.hpp"

namespace tidemark::test {

/// A loop in a thread of its own. What was made on it is destroyed after stop().
class LoopThread {
 public:
  LoopThread() = default;
  ~LoopThread() { stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  void run() {
    thread_ = std::thread([this] { loop.run(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    loop.stop();
    thread_.join();
  }
  /// Runs `task` on the loop and waits for what it returns.
  template <class Task>
  auto call(Task task) {
    std::packaged_task<std::invoke_result_t<Task>()> packed(std::move(task));
    auto result = packed.get_future();
    loop.post([&packed] { packed(); });
    return result.get();
  }

  loop::Loop loop;

 private:
  std::thread thread_;
};

class Replicas {
 public:
  /// `keys`: further keys of the configuration, as JSON members.
  explicit Replicas(std::size_t count, const std::string& keys = "", const std::string& upstream_keys = "") {
    REQUIRE(upstream_.listen().empty());
    text_ = R"({"listen":"127.0.0.1:0","upstreams":[{"base_url":"http://127.0.0.1:)" +
            std::to_string(upstream_.port()) + "\"" + (upstream_keys.empty() ? "" : "," + upstream_keys) +
            R"(}],"log":"redis://127.0.0.1:)" + std::to_string(redis.port()) + "/1\"" +
            (keys.empty() ? "" : "," + keys) +
            (keys.find("log_redis") == std::string::npos ? R"(,"log_redis":{"lease_ms":500})" : "") + "}";
    upstream_loop_.run();
    for (std::size_t i = 0; i < count; ++i) add();
  }
  ~Replicas() {
    for (auto& proxy : proxies_) proxy.reset();
    upstream_loop_.stop();
  }
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  /// One more, that is ready; its number.
  std::size_t add() {
    proxies_.push_back(std::make_unique<Proxy>(text_));
    const std::size_t one = proxies_.size() - 1;
    REQUIRE(until([&] { return is_ready(one); }));
    return one;
  }
  /// As by kill -9: its connections are closed, and nobody is told anything.
  void kill(std::size_t one) { proxies_.at(one).reset(); }
  /// As by SIGTERM.
  void drain(std::size_t one) {
    std::promise<void> closed;
    Proxy& proxy = *proxies_.at(one);
    proxy.thread.call([&] { proxy.service->drain([&closed] { closed.set_value(); }); });
    closed.get_future().wait();
    kill(one);
  }
  bool is_ready(std::size_t one) const { return connect(one).ask("GET", "/tidemark/readyz").status == 200; }

  HttpClient connect(std::size_t one) const { return HttpClient(proxies_.at(one)->port); }
  std::string log_lines(std::size_t one) {
    Proxy& proxy = *proxies_.at(one);
    return proxy.thread.call([&proxy] { return proxy.lines.str(); });
  }

  void upstream_answers(std::vector<Answer> answers) {
    upstream_loop_.call([&] { upstream_.answer(std::move(answers)); });
  }
  std::vector<Asked> asked() {
    return upstream_loop_.call([this] { return upstream_.asked(); });
  }
  void release(std::size_t count) {
    upstream_loop_.call([&] { upstream_.release(count); });
  }
  std::size_t upstream_open() {
    return upstream_loop_.call([this] { return upstream_.open(); });
  }

  /// Looks again and again; false after a very long time.
  template <class Condition>
  bool until(Condition holds) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < give_up) {
      if (holds()) return true;
      std::this_thread::yield();
    }
    return false;
  }

  testing::RedisServer redis;

 private:
  struct Proxy {
    explicit Proxy(const std::string& text) : logger(observe::Level::Debug, lines) {
      auto loaded = config::load(text, {}, [](const std::string&) { return std::nullopt; });
      if (!loaded.ok()) FAIL(loaded.error().line());
      config = std::make_unique<config::Config>(std::move(loaded).value());
      service = std::make_unique<proxy::Service>(thread.loop, *config, logger);
      REQUIRE(service->listen().empty());
      port = service->port();
      thread.run();
    }
    ~Proxy() { thread.stop(); }

    std::ostringstream lines;
    observe::Logger logger;
    std::unique_ptr<config::Config> config;
    LoopThread thread;
    std::unique_ptr<proxy::Service> service;
    std::uint16_t port = 0;
  };

  LoopThread upstream_loop_;
  ScriptedUpstream upstream_{upstream_loop_.loop};
  std::string text_;
  std::vector<std::unique_ptr<Proxy>> proxies_;
};

}  // namespace tidemark::test
