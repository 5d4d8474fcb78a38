// Readers that stop reading, and readers that are only slow.
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "tests/catch.hpp"
#include "tests/native/downstream/server_fixture.hpp"
#include "tests/native/loop/raw_socket.hpp"

using namespace tidemark;
using namespace tidemark::downstream;
using tidemark::downstream::testing::ServerFixture;
using tidemark::testing::RawSocket;

namespace {

const std::string kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr int kSmallBuffer = 4096;
constexpr std::chrono::seconds kPatience{20};

// More than any socket's buffers take.
struct Endless : BodySource {
  Pull pull(std::string& out, std::size_t max) override {
    out.append(max, 'x');
    return Pull::More;
  }
};

ServerLimits stall_after(TimeMs ms) {
  ServerLimits limits;
  limits.reader_stall_ms = ms;
  return limits;
}

}  // namespace

TEST_CASE("a reader that takes nothing is let go after the bound, and whoever asked is told") {
  std::promise<void> gone;
  ServerFixture server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->on_closed([&] { gone.set_value(); });
        exchange->respond({200, "", {}}, std::make_unique<Endless>());
      },
      stall_after(100));
  RawSocket client = RawSocket::connect(server.port, kSmallBuffer);
  client.send(kGet);
  REQUIRE(gone.get_future().wait_for(kPatience) == std::future_status::ready);
  CHECK(server.on_loop([](Server& s) { return s.connections(); }) == 0);
  client.receive_all();
  CHECK(client.was_reset());
}

TEST_CASE("a whole answer that nobody takes is let go too") {
  ServerFixture server(
      [](const std::shared_ptr<Exchange>& exchange) {
        exchange->respond({200, "", {}}, std::string(std::size_t{32} << 20, 'x'));
      },
      stall_after(100));
  RawSocket client = RawSocket::connect(server.port, kSmallBuffer);
  client.send(kGet);
  client.receive_through("\r\n\r\n");  // the rest is not read
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (server.on_loop([](Server& s) { return s.connections(); }) != 0) {
    REQUIRE(std::chrono::steady_clock::now() < give_up);
  }
}

TEST_CASE("a reader that is slow, but reads, is kept however long it takes") {
  // So little is read that the socket doesn't become writable again: only what the peer takes shows the life in it.
  constexpr TimeMs kBound = 1000;
  std::promise<void> gone;
  ServerFixture server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->on_closed([&] { gone.set_value(); });
        exchange->respond({200, "", {}}, std::make_unique<Endless>());
      },
      stall_after(kBound));
  auto left = gone.get_future();
  RawSocket client = RawSocket::connect(server.port, kSmallBuffer);
  client.send(kGet);
  char bytes[8192];
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5 * kBound / 2);
  while (std::chrono::steady_clock::now() < until) {
    REQUIRE(::recv(client.fd(), bytes, sizeof bytes, 0) > 0);
    // The reader's own pace.
    CHECK(left.wait_for(std::chrono::milliseconds(kBound / 20)) == std::future_status::timeout);
  }
  // And once it stops, it is let go.
  CHECK(left.wait_for(kPatience) == std::future_status::ready);
}
