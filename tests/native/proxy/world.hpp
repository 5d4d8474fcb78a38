// A proxy and a scripted upstream on one loop in a thread of its own; the test talks to them through sockets.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>

#include "native/config/config.hpp"
#include "native/loop/loop.hpp"
#include "native/observe/logger.hpp"
#include "native/proxy/serve.hpp"
#include "tests/catch.hpp"
#include "tests/native/proxy/http_client.hpp"
#include "tests/native/proxy/scripted_upstream.hpp"

namespace tidemark::test {

class World {
 public:
  /// `keys`: further keys of the configuration, as JSON members. `upstreams`: in place of the one upstream, a list of
  /// them, in which PORT stands for the scripted upstream's.
  explicit World(const std::string& keys = "", const std::string& upstream_keys = "", std::string upstreams = "")
      : logger_(observe::Level::Debug, lines_) {
    REQUIRE(upstream_.listen().empty());
    if (upstreams.empty()) {
      upstreams =
          R"({"base_url":"http://127.0.0.1:PORT/base")" + (upstream_keys.empty() ? "" : "," + upstream_keys) + "}";
    }
    const std::string port = std::to_string(upstream_.port());
    for (std::size_t at = 0; (at = upstreams.find("PORT", at)) != std::string::npos;) upstreams.replace(at, 4, port);
    const std::string text =
        R"({"listen":"127.0.0.1:0","upstreams":[)" + upstreams + "]" + (keys.empty() ? "" : "," + keys) + "}";
    auto loaded = config::load(text, {}, [](const std::string&) { return std::nullopt; });
    if (!loaded.ok()) FAIL(loaded.error().line());
    config_ = std::make_unique<config::Config>(std::move(loaded).value());
    service_ = std::make_unique<proxy::Service>(loop_, *config_, logger_);
    REQUIRE(service_->listen().empty());
    port_ = service_->port();
    upstream_port_ = upstream_.port();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~World() {
    loop_.stop();
    thread_.join();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint16_t upstream_port() const { return upstream_port_; }
  HttpClient connect() const { return HttpClient(port_); }

  /// Runs `task` on the loop and waits for what it returns.
  template <class Task>
  auto on_loop(Task task) {
    std::promise<std::invoke_result_t<Task>> done;
    auto result = done.get_future();
    loop_.post([&] {
      if constexpr (std::is_void_v<std::invoke_result_t<Task>>) {
        task();
        done.set_value();
      } else {
        done.set_value(task());
      }
    });
    return result.get();
  }
  void upstream_answers(std::vector<Answer> answers) {
    on_loop([&] { upstream_.answer(std::move(answers)); });
  }
  std::vector<Asked> asked() {
    return on_loop([&] { return upstream_.asked(); });
  }
  void release(std::size_t count) {
    on_loop([&] { upstream_.release(count); });
  }
  std::size_t upstream_open() {
    return on_loop([&] { return upstream_.open(); });
  }
  proxy::Service& service() { return *service_; }
  std::string log_lines() {
    return on_loop([&] { return lines_.str(); });
  }
  /// Waits, turn by turn of the loop, until `holds` does; false after a very long time.
  template <class Condition>
  bool until(Condition holds) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < give_up) {
      if (holds()) return true;
      std::this_thread::yield();
    }
    return false;
  }

 private:
  std::ostringstream lines_;
  observe::Logger logger_;
  loop::Loop loop_;
  ScriptedUpstream upstream_{loop_};
  std::unique_ptr<config::Config> config_;
  std::unique_ptr<proxy::Service> service_;
  std::uint16_t port_ = 0;
  std::uint16_t upstream_port_ = 0;
  std::thread thread_;
};

}  // namespace tidemark::test
