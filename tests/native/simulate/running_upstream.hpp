// The simulated upstream on a port of its own, for tests through real sockets.
#pragma once

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "native/downstream/server.hpp"
#include "native/loop/loop.hpp"
#include "native/simulate/simulated_upstream.hpp"
#include "tests/catch.hpp"
#include "tests/native/proxy/http_client.hpp"

namespace tidemark::simulate {

class RunningUpstream {
 public:
  explicit RunningUpstream(std::vector<Fault> program, Recording recording = {})
      : upstream_(loop_, std::move(recording), std::move(program), 0),
        server_(loop_, downstream::ServerLimits{}, upstream_) {
    REQUIRE(server_.listen("127.0.0.1", 0).empty());
    port_ = server_.port();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RunningUpstream() {
    loop_.stop();
    thread_.join();
  }
  RunningUpstream(const RunningUpstream&) = delete;
  RunningUpstream& operator=(const RunningUpstream&) = delete;

  test::HttpClient connect(int receive_buffer = 0) const { return test::HttpClient(port_, receive_buffer); }

 private:
  loop::Loop loop_;
  SimulatedUpstream upstream_;
  downstream::Server server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace tidemark::simulate
