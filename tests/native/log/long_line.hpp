// A line to a server that takes its time: what is sent arrives so much later, and in order.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "native/loop/loop.hpp"
#include "native/loop/socket.hpp"
#include "tests/catch.hpp"

namespace tidemark::testing {

class LongLine {
 public:
  LongLine(loop::Loop& loop, std::uint16_t to, TimeMs delay_ms)
      : loop_(loop),
        to_(to),
        delay_ms_(delay_ms),
        acceptor_(loop, [this](std::unique_ptr<loop::Socket> client) { begin(std::move(client)); }) {
    REQUIRE(acceptor_.listen("127.0.0.1", 0).empty());
  }
  std::uint16_t port() const { return acceptor_.port(); }

 private:
  struct Call {
    std::unique_ptr<loop::Socket> client;
    std::unique_ptr<loop::Socket> server;
    std::unique_ptr<loop::Connecting> connecting;
    std::list<loop::Timer> on_the_way;
  };

  void begin(std::unique_ptr<loop::Socket> client) {
    Call& call = calls_.emplace_back();
    call.client = std::move(client);
    call.connecting = std::make_unique<loop::Connecting>(
        loop_, "127.0.0.1", to_, [this, &call](std::unique_ptr<loop::Socket> server, bool, const std::string&) {
          REQUIRE(server);
          call.server = std::move(server);
          carry(call, *call.client, *call.server, delay_ms_);
          carry(call, *call.server, *call.client, 0);
        });
  }

  void carry(Call& call, loop::Socket& from, loop::Socket& to, TimeMs delay_ms) {
    from.wait_readable([this, &call, &from, &to, delay_ms] {
      const loop::IoResult got = from.read(loop_.read_buffer(), loop::Loop::kReadBuffer);
      if (got.status != loop::IoStatus::Done) return to.close();
      const auto write = [&to, bytes = std::string(loop_.read_buffer(), got.bytes)] { to.write(bytes); };
      if (delay_ms == 0) {
        write();
      } else {
        call.on_the_way.emplace_back(loop_).set(loop_.now_ms() + delay_ms, write);
      }
      carry(call, from, to, delay_ms);
    });
  }

  loop::Loop& loop_;
  std::uint16_t to_;
  TimeMs delay_ms_;
  std::list<Call> calls_;
  loop::Acceptor acceptor_;
};

}  // namespace tidemark::testing
