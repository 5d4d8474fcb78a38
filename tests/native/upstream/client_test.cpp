// The client against an upstream that sends bytes as the test says.
#include "native/upstream/client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using namespace tidemark;
using namespace tidemark::upstream;

namespace {

// Accepts connections one after the other; the n-th is served by the n-th script, each on this one thread.
class ScriptedUpstream {
 public:
  using Script = std::function<void(int fd)>;

  explicit ScriptedUpstream(std::vector<Script> scripts) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this, list = std::move(scripts)] {
      for (const Script& script : list) {
        const int fd = ::accept(listener_, nullptr, nullptr);
        if (fd < 0) return;
        script(fd);
        ::close(fd);
      }
    });
  }
  ~ScriptedUpstream() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  std::uint16_t port = 0;

 private:
  int listener_;
  std::thread thread_;
};

void read_request(int fd) {
  std::string text;
  char byte = 0;
  while (text.find("\r\n\r\n") == std::string::npos && ::recv(fd, &byte, 1, 0) == 1) text += byte;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

ScriptedUpstream::Script answers(std::string response, int times = 1) {
  return [=](int fd) {
    for (int i = 0; i < times; ++i) {
      read_request(fd);
      write_all(fd, response);
    }
  };
}

// Notes what comes, and stops the loop at the end.
struct Notes : CallEvents {
  explicit Notes(loop::Loop& on) : loop(on) {}
  void on_head(const http::ResponseHead& head) override {
    text += std::to_string(head.status) + " ";
    if (at_head) at_head();
  }
  void on_body(std::string_view bytes) override {
    text += bytes;
    if (at_body) at_body();
  }
  void on_end(bool framed) override {
    text += framed ? " framed" : " unframed";
    loop.stop();
  }
  void on_failure(const Failure& failure) override {
    text += "!" + std::string(name(failure.kind));
    kind = failure.kind;
    failed = true;
    loop.stop();
  }
  loop::Loop& loop;
  std::string text;
  std::function<void()> at_head;
  std::function<void()> at_body;
  FailureKind kind{};
  bool failed = false;
};

struct World {
  explicit World(std::vector<ScriptedUpstream::Script> scripts, ClientLimits limits = {})
      : upstream(std::move(scripts)), client(loop, nullptr, limits), notes(loop) {}

  void start(const std::string& method = "GET") {
    notes.text.clear();
    call = client.send({"http", "127.0.0.1", upstream.port}, {method, "/", {}, 1, true}, {}, notes);
  }
  std::string run(const std::string& method = "GET") {
    start(method);
    loop.run();
    return notes.text;
  }

  loop::Loop loop;
  ScriptedUpstream upstream;
  Client client;
  Notes notes;
  std::unique_ptr<Call> call;
};

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

}  // namespace

TEST_CASE("a connection is kept and used again") {
  World world({answers(kOk, 2)});
  REQUIRE(world.run() == "200 ok framed");
  REQUIRE(world.client.idle_connections() == 1);
  REQUIRE(world.run() == "200 ok framed");
  world.client.close_idle();
  REQUIRE(world.client.idle_connections() == 0);
}

TEST_CASE("a kept connection that is dead is replaced once") {
  World world({[](int fd) {
                 read_request(fd);
                 write_all(fd, kOk);
                 read_request(fd);  // and no answer
               },
               answers(kOk)});
  REQUIRE(world.run() == "200 ok framed");
  REQUIRE(world.run() == "200 ok framed");
}

TEST_CASE("a fresh connection that dies is not tried again") {
  World world({[](int fd) { read_request(fd); }, answers(kOk)});
  world.run();
  REQUIRE(world.notes.failed);
  REQUIRE(world.notes.kind == FailureKind::Reset);
  REQUIRE(world.run() == "200 ok framed");
}

TEST_CASE("how bodies end") {
  World world(
      {answers("HTTP/1.1 200 OK\r\n\r\nto the end"), answers("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut"),
       answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
       answers("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"),
       answers("no HTTP\r\n\r\n")});
  CHECK(world.run() == "200 to the end unframed");
  world.run();
  CHECK(world.notes.kind == FailureKind::Reset);
  CHECK(world.run() == "304  framed");
  world.client.close_idle();
  CHECK(world.run() == "200 ab framed");
  world.client.close_idle();
  world.run();
  CHECK(world.notes.kind == FailureKind::Protocol);
}

TEST_CASE("nobody listens") {
  World world({});
  world.upstream.port = 1;
  world.run();
  REQUIRE(world.notes.failed);
  REQUIRE(world.notes.kind == FailureKind::Connect);
}

TEST_CASE("destroying a call cuts its connection, also inside its own callbacks") {
  bool cut = false;
  {
    World world({[&](int fd) {
      read_request(fd);
      write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\nsome");
      char byte = 0;
      cut = ::recv(fd, &byte, 1, 0) <= 0;
    }});
    const bool in_head = GENERATE(true, false);
    const auto drop = [&] {
      world.call.reset();
      world.loop.post([&] { world.loop.stop(); });
    };
    (in_head ? world.notes.at_head : world.notes.at_body) = drop;
    REQUIRE(world.run() == (in_head ? "200 " : "200 some"));
  }
  REQUIRE(cut);
}

TEST_CASE("a paused call hands nothing on until it is resumed") {
  const std::string body(3'000'000, 'x');
  World world({answers("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + body)});
  bool paused = false;
  std::size_t at_pause = 0;
  world.notes.at_body = [&] {
    REQUIRE_FALSE(paused);
    paused = true;
    at_pause = world.notes.text.size();
    world.call->pause();
    world.loop.post([&] {
      REQUIRE(world.notes.text.size() == at_pause);
      paused = false;
      world.call->resume();
    });
  };
  REQUIRE(world.run() == "200 " + body + " framed");
}
