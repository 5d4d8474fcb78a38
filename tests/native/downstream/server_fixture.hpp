// A server on a thread of its own, and what its tests ask of it.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "native/downstream/server.hpp"
#include "native/loop/loop.hpp"

namespace tidemark::downstream::testing {

// Runs `handle` on the server's thread for each request.
struct ServerFixture : Handler {
  using Handle = std::function<void(std::shared_ptr<Exchange>)>;

  explicit ServerFixture(Handle what, ServerLimits limits = {}, bool keep = false)
      : keep_(keep), handle_(std::move(what)) {
    std::promise<std::uint16_t> ready;
    thread_ = std::thread([this, limits, &ready] {
      loop::Loop loop;
      loop_ = &loop;
      Server server(loop, limits, *this);
      server_ = &server;
      server.listen("127.0.0.1", 0);
      ready.set_value(server.port());
      loop.run();
      kept.reset();
    });
    port = ready.get_future().get();
  }
  ~ServerFixture() override {
    loop_->stop();
    thread_.join();
  }

  void handle(std::shared_ptr<Exchange> exchange) override {
    if (keep_) kept = exchange;
    handle_(std::move(exchange));
  }

  // Runs `task` on the server's thread and waits for what it returns.
  template <class Task>
  auto on_loop(Task task) {
    std::promise<decltype(task(std::declval<Server&>()))> result;
    loop_->post([&] { result.set_value(task(*server_)); });
    return result.get_future().get();
  }

  std::uint16_t port = 0;
  std::shared_ptr<Exchange> kept;  // the last one, if so asked; the server's thread only

 private:
  bool keep_;
  Handle handle_;
  loop::Loop* loop_ = nullptr;
  Server* server_ = nullptr;
  std::thread thread_;
};

}  // namespace tidemark::downstream::testing
