// What a socket is made of; for the sources of this directory only.
#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "native/loop/socket.hpp"

namespace tidemark::loop {

enum class Interest : std::uint8_t { Read, Write, Lost };

/// Shared with asio's handlers, which may outlive the Socket by a turn.
struct Socket::Impl : std::enable_shared_from_this<Socket::Impl> {
  Impl(Loop& owner, asio::ip::tcp::socket opened);

  struct Waiting {
    std::function<void()> ready;
    bool armed = false;  // an asio wait is under way; it outlives the wish for it
  };

  void wait(Interest interest, std::function<void()> ready);
  void became_ready(Interest interest);
  bool is_lost();
  void close();

  Loop& loop;
  asio::ip::tcp::socket socket;
  std::array<Waiting, 3> waits;
};

}  // namespace tidemark::loop
