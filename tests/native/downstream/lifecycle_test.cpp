// How connections and exchanges come to their ends, and that nothing is left of them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "native/http/date.hpp"
#include "tests/catch.hpp"
#include "tests/native/downstream/server_fixture.hpp"
#include "tests/native/loop/raw_socket.hpp"
#include "tests/native/loop/run_until.hpp"

using namespace tidemark;
using namespace tidemark::downstream;
using tidemark::downstream::testing::ServerFixture;
using tidemark::testing::RawSocket;
using tidemark::testing::run_ready;
using tidemark::testing::run_until;

namespace {

const std::string kGet = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

std::string status_of(const std::string& response) { return response.substr(9, 3); }
std::string body_of(const std::string& response) { return response.substr(response.find("\r\n\r\n") + 4); }

std::string date_of(const std::string& response) {
  const std::string name = "\r\nDate: ";
  const std::size_t at = response.find(name);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size();
  return response.substr(begin, response.find("\r\n", begin) - begin);
}
std::string without_date(std::string response) {
  const std::size_t at = response.find("\r\nDate: ");
  if (at != std::string::npos) response.erase(at, response.find("\r\n", at + 2) - at);
  return response;
}

void answer(const std::shared_ptr<Exchange>& exchange) { exchange->respond({200, "", {}}, "ok"); }

// Says `text`, then what it is told to.
struct Text : BodySource {
  Text(std::string said, Pull last) : text(std::move(said)), then(last) {}
  Pull pull(std::string& out, std::size_t) override {
    out += std::exchange(text, {});
    return then;
  }
  std::string text;
  Pull then;
};

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("faults have a body in the shape of an API error, and end the connection") {
  ServerFixture server([](const std::shared_ptr<Exchange>&) { FAIL(); });
  const auto sent = [&](const std::string& request) {
    RawSocket client = RawSocket::connect(server.port);
    client.send(request);
    return client.receive_all();
  };
  const std::string refused = sent("GET / HTTP/1.1\r\n\r\n");
  CHECK(status_of(refused) == "400");
  CHECK(refused.find("Content-Type: application/json\r\n") != std::string::npos);
  CHECK(refused.find("Connection: close\r\n") != std::string::npos);
  CHECK(body_of(refused) ==
        R"({"error":{"message":"the request doesn't have exactly one Host","type":"invalid_request_error",)"
        R"("code":"bad_request","param":null}})");
  CHECK(status_of(sent("BREW / HTTP/1.1\r\nHost: h\r\n\r\n")) == "501");
  CHECK(status_of(sent("GET / HTTP/3.0\r\nHost: h\r\n\r\n")) == "505");
  CHECK(status_of(sent("GET / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\na")) == "417");
}

TEST_CASE("an answer to a body that is still coming is not overtaken by a reset") {
  ServerLimits limits;
  limits.body_bytes = 1000;
  ServerFixture server([](const std::shared_ptr<Exchange>&) { FAIL(); }, limits);
  RawSocket client = RawSocket::connect(server.port);
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n");
  client.send(std::string(500'000, 'x'));
  CHECK(status_of(client.receive_all()) == "413");
  CHECK_FALSE(client.was_reset());
}

TEST_CASE("a pipelined request waits for its turn, whatever became of the one before") {
  std::vector<std::shared_ptr<Exchange>> waiting;
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) { waiting.push_back(exchange); });
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet + kGet);
  while (server.on_loop([&](Server&) { return waiting.size(); }) < 1) {
  }
  CHECK(server.on_loop([](Server& s) { return s.exchanges(); }) == 1);
  server.on_loop([&](Server&) {
    waiting[0]->respond({200, "", {}}, "one");
    return 0;
  });
  client.receive_through("one");
  while (server.on_loop([&](Server&) { return waiting.size(); }) < 2) {
  }
  server.on_loop([&](Server&) {
    CHECK(waiting[0]->closed());
    waiting[0]->respond({200, "", {}}, "never sent");
    waiting[1]->respond({200, "", {}}, "two");
    waiting.clear();
    return 0;
  });
  CHECK(body_of(client.receive_through("two")) == "two");
}

TEST_CASE("the request is gone from an exchange once it is answered") {
  std::promise<bool> empty;
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) {
    const bool there = exchange->head().method == "POST" && exchange->body() == "hi" && exchange->take_body() == "hi" &&
                       exchange->peer().substr(0, 10) == "127.0.0.1:";
    answer(exchange);
    empty.set_value(there && exchange->head().headers.empty() && exchange->body().empty());
  });
  RawSocket client = RawSocket::connect(server.port);
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
  const bool as_it_should = empty.get_future().get();
  CHECK(as_it_should);
}

TEST_CASE("an exchange that nobody keeps closes its connection") {
  ServerFixture server([](const std::shared_ptr<Exchange>&) {});
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  CHECK(client.receive_all().empty());
}

TEST_CASE("on_closed is for clients that leave before the end only") {
  std::atomic<int> gone{0};
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->on_closed([&] { ++gone; });
    answer(exchange);
  });
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  client.receive_through("ok");
  client.reset();
  while (server.on_loop([](Server& s) { return s.connections(); }) != 0) {
  }
  CHECK(gone == 0);
}

TEST_CASE("a lost connection takes its source with it, and tells whoever asked") {
  struct Watched : BodySource {
    explicit Watched(std::promise<void>& told) : dead(told) {}
    ~Watched() override { dead.set_value(); }
    Pull pull(std::string& out, std::size_t max) override {
      out.append(max, 'x');
      return Pull::More;
    }
    std::promise<void>& dead;
  };
  std::promise<void> dead;
  std::promise<void> gone;
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->on_closed([&] { gone.set_value(); });
    exchange->respond({200, "", {}}, std::make_unique<Watched>(dead));
  });
  RawSocket client = RawSocket::connect(server.port);
  client.send(kGet);
  client.receive_through("xxx");
  client.close();  // with bytes unread: a reset
  CHECK(dead.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  CHECK(gone.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
}

TEST_CASE("a body that can't be completed is cut so that the client can tell") {
  ServerFixture server([](const std::shared_ptr<Exchange>& exchange) {
    const std::string target = exchange->head().target;
    http::ResponseHead head{200, "", {}};
    if (target != "/chunked" && target != "/old") head.headers.add("Content-Length", "3");
    const std::string text = target == "/long" ? "abcd" : "ab";
    const Pull then = target == "/short" || target == "/long" ? Pull::End : Pull::Abort;
    exchange->respond(std::move(head), std::make_unique<Text>(text, then));
  });
  const auto got = [&](const std::string& request_line, bool& reset) {
    RawSocket client = RawSocket::connect(server.port);
    client.send(request_line + "\r\nHost: h\r\n\r\n");
    const std::string response = client.receive_all();
    reset = client.was_reset();
    return body_of(response);
  };
  bool reset = false;
  CHECK(got("GET /chunked HTTP/1.1", reset) == "2\r\nab\r\n");
  CHECK_FALSE(reset);
  CHECK(got("GET /abort HTTP/1.1", reset) == "ab");
  CHECK(got("GET /short HTTP/1.1", reset) == "ab");
  CHECK(got("GET /long HTTP/1.1", reset) == "abc");
  CHECK_FALSE(reset);
  got("GET /old HTTP/1.0", reset);
  CHECK(reset);
}

TEST_CASE("responses without a body keep the connection in step") {
  ServerFixture server([](const std::shared_ptr<Exchange>& exchange) {
    const std::string target = exchange->head().target;
    if (target == "/204") return exchange->respond({204, "", {{"Content-Length", "2"}}}, "no");
    if (target == "/304") return exchange->respond({304, "", {}}, std::make_unique<Text>("no", Pull::End));
    if (target == "/head") return exchange->respond({200, "", {{"Content-Length", "1234"}}}, std::string());
    answer(exchange);
  });
  RawSocket client = RawSocket::connect(server.port);
  client.send(
      "GET /204 HTTP/1.1\r\nHost: h\r\n\r\nGET /304 HTTP/1.1\r\nHost: h\r\n\r\nHEAD /head HTTP/1.1\r\nHost: h\r\n\r\n" +
      kGet);
  CHECK(without_date(client.receive_through("\r\n\r\n")) == "HTTP/1.1 204 No Content\r\n\r\n");
  CHECK(status_of(client.receive_through("\r\n\r\n")) == "304");
  CHECK(without_date(client.receive_through("\r\n\r\n")) == "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
  CHECK(body_of(client.receive_through("ok")) == "ok");
}

TEST_CASE("every response has one Date: the handler's, or the time") {
  ServerFixture server([](const std::shared_ptr<Exchange>& exchange) {
    const std::string target = exchange->head().target;
    if (target == "/own") return exchange->respond({200, "", {{"date", "Sun, 06 Nov 1994 08:49:37 GMT"}}}, "ok");
    if (target == "/stream") return exchange->respond({200, "", {}}, std::make_unique<Text>("ok", Pull::End));
    answer(exchange);
  });
  const auto unix_now = [] {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  for (const std::string target : {"/a", "/stream", "not-a-target"}) {
    INFO(target);
    RawSocket client = RawSocket::connect(server.port);
    const std::int64_t before = unix_now();
    client.send("GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    const std::string date = date_of(client.receive_all());
    bool is_now = false;
    for (std::int64_t second = before; second <= unix_now(); ++second) is_now |= date == http::format_date(second);
    INFO(date);
    CHECK(is_now);
  }
  RawSocket client = RawSocket::connect(server.port);
  client.send("GET /own HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string own = client.receive_all();
  CHECK(own.find("date: Sun, 06 Nov 1994 08:49:37 GMT\r\n") != std::string::npos);
  CHECK(date_of(own).empty());
}

TEST_CASE("HTTP/1.0 is kept alive where it asks, and told so") {
  ServerFixture server(answer);
  RawSocket client = RawSocket::connect(server.port);
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(client.receive_through("ok").find("Connection: keep-alive\r\n") != std::string::npos);
  client.send("GET / HTTP/1.0\r\n\r\n");
  CHECK(body_of(client.receive_all()) == "ok");
}

TEST_CASE("a connection that says nothing is closed: 408 at first, in silence between requests") {
  ServerLimits limits;
  limits.head_timeout_ms = 30;
  limits.idle_timeout_ms = 30;
  ServerFixture server(answer, limits);
  RawSocket silent = RawSocket::connect(server.port);
  CHECK(status_of(silent.receive_all()) == "408");
  RawSocket used = RawSocket::connect(server.port);
  used.send(kGet);
  used.receive_through("ok");
  CHECK(used.receive_all().empty());
  CHECK_FALSE(used.was_reset());
}

TEST_CASE("after one connection of a full server has closed, another is served") {
  ServerLimits limits;
  limits.connections = 1;
  ServerFixture server(answer, limits);
  {
    RawSocket first = RawSocket::connect(server.port);
    first.send(kGet);
    first.receive_through("ok");
    RawSocket refused = RawSocket::connect(server.port);
    CHECK(status_of(refused.receive_all()) == "503");
    CHECK(server.on_loop([](Server& s) { return s.connections(); }) == 1);
  }
  while (server.on_loop([](Server& s) { return s.connections(); }) != 0) {
  }
  RawSocket next = RawSocket::connect(server.port);
  next.send(kGet);
  CHECK(status_of(next.receive_through("ok")) == "200");
}

TEST_CASE("draining: no new connections, idle ones get one more answer, the others are closed after theirs") {
  std::vector<std::shared_ptr<Exchange>> waiting;
  ServerFixture server([&](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->head().target == "/a") return answer(exchange);
    waiting.push_back(exchange);
  });
  RawSocket idle = RawSocket::connect(server.port);
  idle.send(kGet);
  idle.receive_through("ok");
  RawSocket busy = RawSocket::connect(server.port);
  busy.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
  while (server.on_loop([&](Server&) { return waiting.size(); }) < 1) {
  }
  server.on_loop([](Server& s) {
    s.stop_accepting();
    return 0;
  });
  CHECK_THROWS(RawSocket::connect(server.port));
  idle.send(kGet);
  CHECK(idle.receive_all().find("Connection: close\r\n") != std::string::npos);
  server.on_loop([&](Server&) {
    answer(waiting[0]);
    waiting.clear();
    return 0;
  });
  const std::string last = busy.receive_all();
  CHECK(body_of(last) == "ok");
  CHECK(last.find("Connection: close\r\n") != std::string::npos);
}

TEST_CASE("close_all tells those who wait; the server's end tells nobody; no descriptor is left") {
  const std::ptrdiff_t before = open_descriptors();
  int gone = 0;
  {
    loop::Loop loop;
    struct Keeper : Handler {
      void handle(std::shared_ptr<Exchange> exchange) override {
        exchange->on_closed([this] { ++*told; });
        kept.push_back(std::move(exchange));
      }
      std::vector<std::shared_ptr<Exchange>> kept;
      int* told = nullptr;
    } keeper;
    keeper.told = &gone;
    {
      Server server(loop, {}, keeper);
      REQUIRE(server.listen("127.0.0.1", 0).empty());
      RawSocket one = RawSocket::connect(server.port());
      one.send(kGet);
      REQUIRE(run_until(loop, [&] { return keeper.kept.size() == 1; }));
      server.close_all();
      CHECK(gone == 0);
      REQUIRE(run_until(loop, [&] { return gone == 1; }));
      RawSocket two = RawSocket::connect(server.port());
      two.send(kGet);
      RawSocket three = RawSocket::connect(server.port());
      REQUIRE(run_until(loop, [&] { return keeper.kept.size() == 2 && server.connections() == 2; }));
    }
    CHECK(keeper.kept[1]->closed());
    answer(keeper.kept[1]);
    run_ready(loop);
  }
  CHECK(gone == 1);
  CHECK(open_descriptors() == before);
}
