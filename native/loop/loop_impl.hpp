// What a loop is made of; for the sources of this directory only.
#pragma once

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/signal_set.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "native/loop/deadline_heap.hpp"
#include "native/loop/loop.hpp"

namespace tidemark::loop {

struct Loop::Impl {
  bool finish_turn();
  void wait_for_termination();

  DeadlineHeap deadlines;
  std::vector<std::function<void()>> deferred;
  std::vector<std::function<void()>> running;  // the deferred tasks of this turn; kept for its capacity
  std::vector<std::shared_ptr<void>> retired;
  std::array<char, kReadBuffer> read_buffer{};

  // Destroyed first, with the handlers that still wait in it: what these hold may still use the members above.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::ip::tcp::resolver resolver{context};
  asio::signal_set signals{context};
  std::function<void()> terminated;
};

}  // namespace tidemark::loop
