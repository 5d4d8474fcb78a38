// The server over real sockets: what it answers itself, how it streams, and how it notices that a client has gone.
#include "native/downstream/server.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/native/downstream/server_fixture.hpp"
#include "tests/native/loop/raw_socket.hpp"

using namespace tidemark;
using namespace tidemark::downstream;
using tidemark::downstream::testing::ServerFixture;
using tidemark::testing::RawSocket;

namespace {

void echo(const std::shared_ptr<Exchange>& exchange) {
  std::string text = exchange->head().method + " " + exchange->head().target + " " + exchange->body();
  exchange->respond({200, "", {{"Content-Type", "text/plain"}}}, std::move(text));
}

struct Pieces : BodySource {
  explicit Pieces(std::vector<std::string> list, Pull at_end = Pull::End) : pieces(std::move(list)), end(at_end) {}
  Pull pull(std::string& out, std::size_t) override {
    if (next == pieces.size()) return end;
    out += pieces[next++];
    return Pull::More;
  }
  std::vector<std::string> pieces;
  Pull end;
  std::size_t next = 0;
};

// Never ends; counts what was taken from it.
struct Endless : BodySource {
  explicit Endless(std::atomic<std::size_t>& total) : taken(total) {}
  Pull pull(std::string& out, std::size_t max) override {
    out.append(max, 'x');
    taken += max;
    return Pull::More;
  }
  std::atomic<std::size_t>& taken;
};

std::string body_of(const std::string& response) { return response.substr(response.find("\r\n\r\n") + 4); }
std::string status_of(const std::string& response) { return response.substr(9, 3); }

const std::string kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string kLast = "GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

}  // namespace

TEST_CASE("keep-alive and pipelining") {
  ServerFixture server(echo);
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  REQUIRE(client.receive_through("GET /a ").substr(0, 15) == "HTTP/1.1 200 OK");
  client.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi" + kGet + kLast);
  client.receive_through("POST /b hi");
  client.receive_through("GET /a ");
  const std::string last = client.receive_all();
  REQUIRE(body_of(last) == "GET /last ");
  REQUIRE(last.find("Connection: close\r\n") != std::string::npos);
  REQUIRE_FALSE(client.was_reset());
}

TEST_CASE("a client that shuts down its sending half is served") {
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) { echo(exchange); });
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  client.shutdown_send();
  REQUIRE(body_of(client.receive_all()) == "GET /a ");
}

TEST_CASE("100-continue") {
  ServerFixture server(echo);
  RawSocket client = RawSocket::connect(server.port);
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  REQUIRE(client.receive_through("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  REQUIRE(status_of(client.receive_through("POST / ok")) == "200");
}

TEST_CASE("limits and ambiguities have their answers, and nothing reaches the handler") {
  std::atomic<int> handled{0};
  ServerLimits limits;
  limits.request_head_bytes = 1000;
  limits.body_bytes = 10;
  limits.head_timeout_ms = 50;
  limits.body_timeout_ms = 50;
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) { ++handled, echo(exchange); }, limits);
  const auto answer = [&](const std::string& request) {
    RawSocket client = RawSocket::connect(server.port);
    client.send(request);
    const std::string response = client.receive_all();
    CAPTURE(request, response);
    REQUIRE_FALSE(client.was_reset());
    REQUIRE(response.size() > 12);
    return status_of(response);
  };
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  CHECK(answer("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(1000, 'x') + "\r\n\r\n") == "431");
  CHECK(answer(post + "Content-Length: 11\r\n\r\nhello world") == "413");
  CHECK(answer(post + "Transfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n") == "413");
  CHECK(answer("GET / HTTP/1.1\r\nHo") == "408");
  CHECK(answer(post + "Content-Length: 5\r\n\r\nhel") == "408");
  CHECK(answer(post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == "400");
  CHECK(answer(post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab") == "400");
  CHECK(answer(post + "A: b\r\n c\r\n\r\n") == "400");
  CHECK(answer(post + "A: b\rc\r\n\r\n") == "400");
  CHECK(handled == 0);
}

TEST_CASE("too many connections are told so") {
  ServerLimits limits;
  limits.connections = 1;
  ServerFixture server(echo, limits);
  RawSocket first = RawSocket::connect(server.port);
  first.send(kGet);
  first.receive_through("GET /a ");
  RawSocket second = RawSocket::connect(server.port);
  second.send(kGet);
  const std::string refused = second.receive_through("\r\n\r\n");
  REQUIRE(status_of(refused) == "503");
  REQUIRE(refused.find("Retry-After: ") != std::string::npos);
}

TEST_CASE("streamed bodies are chunked, counted, or ended by closing") {
  ServerFixture server([](const std::shared_ptr<Exchange>& exchange) {
    http::ResponseHead head{200, "", {}};
    if (exchange->head().target == "/length") head.headers.add("Content-Length", "5");
    const Pull end = exchange->head().target == "/abort" ? Pull::Abort : Pull::End;
    exchange->respond(std::move(head), std::make_unique<Pieces>(std::vector<std::string>{"ab", "cde"}, end));
  });
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  REQUIRE(body_of(client.receive_through("0\r\n\r\n")) == "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n");
  client.send("GET /length HTTP/1.1\r\nHost: h\r\n\r\n");
  REQUIRE(body_of(client.receive_through("abcde")) == "abcde");
  client.send("HEAD /length HTTP/1.1\r\nHost: h\r\n\r\n");
  REQUIRE(body_of(client.receive_through("\r\n\r\n")).empty());
  client.send("GET /abort HTTP/1.1\r\nHost: h\r\n\r\n");
  REQUIRE(body_of(client.receive_all()) == "2\r\nab\r\n3\r\ncde\r\n");
  RawSocket old = RawSocket::connect(server.port);
  old.send("GET /a HTTP/1.0\r\n\r\n");
  REQUIRE(body_of(old.receive_all()) == "abcde");
}

TEST_CASE("a slow reader costs bounded memory") {
  std::atomic<std::size_t> taken{0};
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->respond({200, "", {}}, std::make_unique<Endless>(taken));
  });
  RawSocket client = RawSocket::connect(server.port, 4096);
  client.send(kGet);
  client.receive_through("\r\n\r\n");
  // Two turns without a pull in between: the socket takes no more.
  std::size_t before = 0;
  std::size_t after = server.on_loop([&](Server&) { return taken.load(); });
  while (before != after) {
    before = after;
    for (int turn = 0; turn < 100; ++turn) after = server.on_loop([&](Server&) { return taken.load(); });
  }
  REQUIRE(after < 16u * 1024 * 1024);  // the kernel's buffers, not ours
  const Backlog backlog = server.on_loop([](Server& s) { return s.backlog(); });
  CHECK(backlog.clients == 1);
  CHECK(backlog.bytes > 0);
  CHECK(backlog.bytes <= 17u * 1024);
  client.reset();
  while (server.on_loop([](Server& s) { return s.connections(); }) != 0) {
  }
  CHECK(server.on_loop([](Server& s) { return s.backlog().bytes; }) == 0);
}

TEST_CASE("a client that has gone is noticed while the source is silent") {
  std::promise<void> waiting;
  std::promise<void> gone;
  struct Silent : BodySource {
    Pull pull(std::string&, std::size_t) override { return Pull::Pending; }
  };
  ServerFixture server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->on_closed([&] { gone.set_value(); });
        if (exchange->head().target == "/a") exchange->respond({200, "", {}}, std::make_unique<Silent>());
        waiting.set_value();
      },
      {}, true);
  const std::string target = GENERATE("/a", "/unanswered");
  RawSocket client = RawSocket::connect(server.port);
  client.send("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n");
  waiting.get_future().get();
  client.reset();
  REQUIRE(gone.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  REQUIRE(server.on_loop([](Server& s) { return s.connections(); }) == 0);
}

TEST_CASE("an exchange can reset its connection before any byte") {
  ServerFixture server([](const std::shared_ptr<Exchange>& exchange) { exchange->reset(); });
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  REQUIRE(client.receive_all().empty());
  REQUIRE(client.was_reset());
}

TEST_CASE("a pending source goes on when it is woken") {
  struct Fed : BodySource {
    explicit Fed(std::string& from) : text(from) {}
    Pull pull(std::string& out, std::size_t) override {
      const bool last = text == "end";
      out += std::exchange(text, {});
      return last ? Pull::End : Pull::Pending;
    }
    std::string& text;
  };
  std::string text = "start";
  ServerFixture server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->respond({200, "", {{"Content-Length", "8"}}}, std::make_unique<Fed>(text));
      },
      {}, true);
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  REQUIRE(body_of(client.receive_through("start")) == "start");
  server.on_loop([&](Server&) {
    text = "end";
    server.kept->wake();
    return true;
  });
  REQUIRE(client.receive_through("end") == "end");
  client.send(kLast);
}
