// Bodies that come compressed: decoded where nobody asked for it, also while paused in the middle.
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "native/upstream/client.hpp"
#include "tests/catch.hpp"
#include "tests/native/gzip.hpp"
#include "tests/native/loop/raw_socket.hpp"
#include "tests/native/loop/run_until.hpp"

using namespace tidemark;
using namespace tidemark::upstream;
using tidemark::testing::RawListener;
using tidemark::testing::RawSocket;
using tidemark::testing::run_until;

using tidemark::test::gzip;

namespace {

struct Collected : CallEvents {
  void on_head(const http::ResponseHead& what) override { head = what; }
  void on_body(std::string_view bytes) override {
    CHECK_FALSE(paused);
    body += bytes;
    ++pieces;
    if (!call || !pause_each) return;
    paused = true;
    call->pause();
  }
  void on_end(bool) override { ended = true; }
  void on_failure(const Failure& what) override {
    failure = what;
    ended = true;
  }
  http::ResponseHead head;
  std::string body;
  int pieces = 0;
  bool ended = false;
  bool pause_each = false;
  bool paused = false;
  Failure failure{};
  std::unique_ptr<Call> call;
};

// Sends `response` to one request and closes.
void exchange(const std::string& response, http::Headers request_headers, Collected& got) {
  RawListener listener;
  std::thread upstream([&] {
    RawSocket peer = listener.accept();
    peer.receive_through("\r\n\r\n");
    peer.send(response);
    peer.shutdown_send();
    peer.receive_all();
  });
  {
    loop::Loop loop;
    Client client(loop, nullptr, {});
    http::RequestHead head;
    head.method = "GET";
    head.target = "/";
    head.headers = std::move(request_headers);
    got.call = client.send({"http", "127.0.0.1", listener.port()}, head, {}, got);
    CHECK(run_until(loop, [&] {
      if (got.paused) {
        loop.run_one(0);  // nothing comes meanwhile
        got.paused = false;
        got.call->resume();
      }
      return got.ended;
    }));
    got.call.reset();
  }
  upstream.join();
}

std::string response(const std::string& body, const std::string& type = "application/json") {
  return "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("a body that was compressed all the same is decoded") {
  Collected got;
  exchange(response(gzip("hello")), {}, got);
  CHECK(got.body == "hello");
  CHECK_FALSE(got.head.headers.has("content-encoding"));
  CHECK_FALSE(got.head.headers.has("content-length"));
}

TEST_CASE("a client that asked for gzip gets it untouched, but for event streams") {
  const std::string bytes = gzip("data: x\n\n");
  Collected untouched;
  exchange(response(bytes), {{"Accept-Encoding", "gzip"}}, untouched);
  CHECK(untouched.body == bytes);
  CHECK(untouched.head.headers.get("content-encoding") == "gzip");
  Collected events;
  exchange(response(bytes, "text/event-stream; charset=utf-8"), {{"Accept-Encoding", "gzip"}}, events);
  CHECK(events.body == "data: x\n\n");
}

TEST_CASE("a body that expands a thousandfold can be paused at every piece") {
  Collected got;
  got.pause_each = true;
  exchange(response(gzip(std::string(2'000'000, 'a'))), {}, got);
  CHECK(got.body == std::string(2'000'000, 'a'));
  CHECK(got.pieces > 100);
  CHECK(got.failure.message.empty());
}

TEST_CASE("gzip that is damaged, or ends early, fails") {
  std::string bytes = gzip("hello, hello, hello, hello");
  Collected cut;
  exchange(response(bytes.substr(0, bytes.size() - 4)), {}, cut);
  CHECK(cut.failure.kind == FailureKind::Protocol);
  Collected plain;
  exchange(response("hello"), {}, plain);
  CHECK(plain.failure.kind == FailureKind::Protocol);
  CHECK(plain.body.empty());
  Collected empty;
  exchange(response(""), {}, empty);
  CHECK(empty.failure.message.empty());
}
