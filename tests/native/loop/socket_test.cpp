// Sockets: readiness, ends and resets, connecting, listening.
#include "native/loop/socket.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/native/loop/raw_socket.hpp"
#include "tests/native/loop/run_until.hpp"

using namespace tidemark;
using namespace tidemark::loop;
using tidemark::testing::RawListener;
using tidemark::testing::RawSocket;
using tidemark::testing::run_ready;
using tidemark::testing::run_until;

namespace {

struct Pair {
  Pair() : raw(RawSocket::connect(listen())) {
    REQUIRE(run_until(loop, [&] { return socket != nullptr; }));
  }
  std::uint16_t listen() {
    REQUIRE(acceptor.listen("127.0.0.1", 0).empty());
    REQUIRE(acceptor.port() != 0);
    return acceptor.port();
  }

  Loop loop;
  std::unique_ptr<Socket> socket;
  Acceptor acceptor{loop, [this](std::unique_ptr<Socket> accepted) { socket = std::move(accepted); }};
  RawSocket raw;
};

}  // namespace

TEST_CASE("bytes, then the end") {
  Pair pair;
  char buffer[16];
  CHECK(pair.socket->read(buffer, sizeof buffer).status == IoStatus::WouldBlock);
  int ready = 0;
  pair.socket->wait_readable([&] { ++ready; });
  run_ready(pair.loop);
  CHECK(ready == 0);
  pair.raw.send("hello");
  REQUIRE(run_until(pair.loop, [&] { return ready == 1; }));
  const IoResult result = pair.socket->read(buffer, sizeof buffer);
  CHECK(result.status == IoStatus::Done);
  CHECK(std::string(buffer, result.bytes) == "hello");
  pair.raw.shutdown_send();
  pair.socket->wait_readable([&] { ++ready; });
  REQUIRE(run_until(pair.loop, [&] { return ready == 2; }));
  CHECK(pair.socket->read(buffer, sizeof buffer).status == IoStatus::Eof);
  CHECK(pair.socket->write("bye").status == IoStatus::Done);
  pair.socket->shutdown_send();
  CHECK(pair.raw.receive_all() == "bye");
  CHECK_FALSE(pair.raw.was_reset());
}

TEST_CASE("a reset is lost, a half-closed connection is not") {
  Pair pair;
  bool lost = false;
  pair.socket->wait_lost([&] { lost = true; });
  pair.raw.shutdown_send();
  bool readable = false;
  pair.socket->wait_readable([&] { readable = true; });
  REQUIRE(run_until(pair.loop, [&] { return readable; }));
  run_ready(pair.loop);
  CHECK_FALSE(lost);
  pair.raw.reset();
  CHECK(run_until(pair.loop, [&] { return lost; }));
  char buffer[1];
  pair.socket->read(buffer, 1);
  CHECK(pair.socket->write("x").status == IoStatus::Failed);
}

TEST_CASE("urgent data is not a loss, and costs no turns") {
  Pair pair;
  bool lost = false;
  pair.socket->wait_lost([&] { lost = true; });
  ::send(pair.raw.fd(), "!", 1, MSG_OOB);
  REQUIRE(run_until(pair.loop, [&] { return pair.loop.run_one(0); }));
  run_ready(pair.loop);  // returns: the loop doesn't spin
  CHECK_FALSE(lost);
}

TEST_CASE("a full socket becomes writable when its reader takes something") {
  Pair pair;
  const std::string block(1 << 20, 'x');
  std::size_t sent = 0;
  IoResult result;
  while ((result = pair.socket->write(block)).status == IoStatus::Done) sent += result.bytes;
  CHECK(result.status == IoStatus::WouldBlock);
  bool writable = false;
  pair.socket->wait_writable([&] { writable = true; });
  run_ready(pair.loop);
  CHECK_FALSE(writable);
  std::thread reader([&] { pair.raw.receive_all(); });
  CHECK(run_until(pair.loop, [&] { return writable; }));
  pair.socket->close();
  reader.join();
  CHECK(sent > 0);
}

TEST_CASE("closing drops waiting callbacks and what they hold, and reset tells the peer") {
  Pair pair;
  const auto held = std::make_shared<int>(0);
  pair.socket->wait_readable([held] { FAIL(); });
  pair.socket->wait_writable([held] { FAIL(); });
  pair.socket->reset();
  CHECK_FALSE(pair.socket->is_open());
  run_ready(pair.loop);
  CHECK(held.use_count() == 1);
  CHECK(pair.raw.receive_all().empty());
  CHECK(pair.raw.was_reset());
}

TEST_CASE("a callback may destroy its socket") {
  Pair pair;
  bool ran = false;
  pair.socket->wait_readable([&] {
    pair.socket.reset();
    ran = true;
  });
  pair.raw.send("x");
  CHECK(run_until(pair.loop, [&] { return ran; }));
  CHECK(pair.socket == nullptr);
}

TEST_CASE("the peer's address") {
  Pair pair;
  CHECK(pair.socket->peer_address().substr(0, 10) == "127.0.0.1:");
}

TEST_CASE("connecting by address and by name") {
  RawListener listener;
  Loop loop;
  const std::string host = GENERATE("127.0.0.1", "localhost");
  std::unique_ptr<Socket> connected;
  std::unique_ptr<Connecting> connecting;
  connecting = std::make_unique<Connecting>(loop, host, listener.port(),
                                            [&](std::unique_ptr<Socket> socket, bool, const std::string&) {
                                              connected = std::move(socket);
                                              connecting.reset();
                                            });
  REQUIRE(run_until(loop, [&] { return connecting == nullptr; }));
  REQUIRE(connected);
  RawSocket other = listener.accept();
  other.send("x");
  bool readable = false;
  connected->wait_readable([&] { readable = true; });
  CHECK(run_until(loop, [&] { return readable; }));
}

TEST_CASE("nobody listens, and no such name") {
  Loop loop;
  RawListener listener;
  const std::uint16_t port = listener.port();
  listener.close();
  struct Outcome {
    bool done = false;
    bool resolved = false;
    std::string error;
  } outcome;
  const auto note = [&](std::unique_ptr<Socket> socket, bool resolved, const std::string& error) {
    CHECK(socket == nullptr);
    outcome = {true, resolved, error};
  };
  Connecting refused(loop, "127.0.0.1", port, note);
  CHECK_FALSE(outcome.done);
  REQUIRE(run_until(loop, [&] { return outcome.done; }));
  CHECK(outcome.resolved);
  CHECK_FALSE(outcome.error.empty());
  outcome = {};
  Connecting unknown(loop, "no such name", port, note);
  REQUIRE(run_until(loop, [&] { return outcome.done; }));
  CHECK_FALSE(outcome.resolved);
  CHECK_FALSE(outcome.error.empty());
}

TEST_CASE("an attempt that is given up never tells") {
  RawListener listener;
  Loop loop;
  const auto held = std::make_shared<int>(0);
  {
    Connecting by_address(loop, "127.0.0.1", listener.port(), [held](auto, bool, const auto&) { FAIL(); });
    Connecting by_name(loop, "localhost", listener.port(), [held](auto, bool, const auto&) { FAIL(); });
  }
  run_ready(loop);
  CHECK(run_until(loop, [&] { return held.use_count() == 1; }));
}

TEST_CASE("a port that is taken, and a host that is none") {
  Pair pair;
  Acceptor second(pair.loop, [](std::unique_ptr<Socket>) {});
  CHECK(second.listen("127.0.0.1", pair.acceptor.port()).find("127.0.0.1:") == 0);
  CHECK(second.port() == 0);
  CHECK_FALSE(second.listen("no such name", 0).empty());
}
