// The client against an upstream that sends bytes as the test says.
#include "native/upstream/client.hpp"

#include <future>
#include <memory>
#include <string>

#include "tests/catch.hpp"
#include "tests/native/loop/run_until.hpp"
#include "tests/native/upstream/scripted_upstream.hpp"

using namespace tidemark;
using namespace tidemark::upstream;
using tidemark::testing::RawSocket;
using tidemark::testing::run_until;
using tidemark::upstream::testing::answers;
using tidemark::upstream::testing::World;

namespace {

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
  World world({[](RawSocket& peer) {
                 peer.receive_through("\r\n\r\n");
                 peer.send(kOk);
                 peer.receive_through("\r\n\r\n");  // and no answer
               },
               answers(kOk)});
  REQUIRE(world.run() == "200 ok framed");
  REQUIRE(world.run() == "200 ok framed");
}

TEST_CASE("what may have been acted upon is not sent again on another connection") {
  for (const bool idempotent : {true, false}) {
    int requests = 0;
    World world({[&](RawSocket& peer) {
                   peer.receive_through("\r\n\r\n");
                   peer.send(kOk);
                   peer.receive_through("\r\n\r\n");
                   ++requests;  // read, and no answer
                 },
                 [&](RawSocket& peer) {
                   peer.receive_through("\r\n\r\n");
                   ++requests;
                   peer.send(kOk);
                 }});
    REQUIRE(world.run() == "200 ok framed");
    world.run(idempotent ? "PUT" : "POST");
    CHECK(world.notes.failed == !idempotent);
    if (!idempotent) {
      CHECK(world.notes.kind == FailureKind::Reset);
      world.run();
    }
    CHECK(requests == 2);
  }
}

TEST_CASE("a fresh connection that dies is not tried again") {
  World world({[](RawSocket& peer) { peer.receive_through("\r\n\r\n"); }, answers(kOk)});
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
  CHECK(world.notes.message.rfind("the upstream could not be reached: ", 0) == 0);
  CHECK(world.notes.message.find("127.0.0.1") == std::string::npos);
}

TEST_CASE("a lost connection is one sentence that names no address") {
  World world({
      [](RawSocket& peer) { peer.receive_through("\r\n\r\n"); },
      answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
      answers("HTTP/1.1 200 OK\r\n folded\r\n\r\n"),
      answers("SSH-2.0-OpenSSH\r\n"),
  });
  world.run();
  CHECK(world.notes.message == "the connection to the upstream was lost: closed without an answer");
  world.run();
  CHECK(world.notes.message == "the connection to the upstream was lost: closed inside the response");
  world.run();
  CHECK(world.notes.message == "the upstream's response has a folded header line");
  world.run();
  CHECK(world.notes.message == "the upstream's response is not HTTP");
}

TEST_CASE("destroying a call cuts its connection, also inside its own callbacks") {
  bool cut = false;
  {
    World world({[&](RawSocket& peer) {
      peer.receive_through("\r\n\r\n");
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\nsome");
      peer.receive_all();
      cut = peer.was_reset();
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

TEST_CASE("a call that yields lets what was deferred run first") {
  World world(
      {answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n", 2)});
  world.notes.at_body = [&] {
    if (world.notes.text != "200 a") return;
    world.loop.defer([&] { world.notes.text += "|"; });
    world.call->yield();
  };
  CHECK(world.run() == "200 a|bc framed");
  world.notes.at_body = [&] {
    if (world.notes.text == "200 a") world.call->yield();
    if (world.notes.text == "200 abc") world.call->discard_rest();
  };
  world.start();
  CHECK(run_until(world.loop, [&] { return world.notes.text == "200 abc" && world.client.idle_connections() == 1; }));
}

TEST_CASE("a call whose rest nobody wants keeps its connection where the body's end comes soon") {
  const std::string last = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nlast\r\n";
  const std::string rest = "4\r\nmore\r\n0\r\n\r\n";
  const bool at_once = GENERATE(true, false);
  std::promise<void> thrown_away;
  World world({[&](RawSocket& peer) {
    peer.receive_through("\r\n\r\n");
    peer.send(at_once ? last + rest : last);
    if (!at_once) {
      thrown_away.get_future().wait();
      peer.send(rest);
    }
    peer.receive_through("\r\n\r\n");
    peer.send(kOk);
  }});
  world.notes.at_body = [&] {
    world.call->discard_rest();
    world.call.reset();
    thrown_away.set_value();
  };
  world.start("POST");
  REQUIRE(run_until(world.loop, [&] { return world.client.idle_connections() == 1; }));
  CHECK(world.notes.text == "200 last");
  world.notes.at_body = nullptr;
  CHECK(world.run() == "200 ok framed");
}

TEST_CASE("a call whose rest nobody wants is cut where the body goes on, or never ends") {
  const bool goes_on = GENERATE(true, false);
  bool cut = false;
  std::promise<void> thrown_away;
  {
    World world({[&](RawSocket& peer) {
      peer.receive_through("\r\n\r\n");
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\nlast");
      thrown_away.get_future().wait();
      if (goes_on) peer.send(std::string(kRestBytes + 1, 'x'));
      peer.receive_all();
      cut = peer.was_reset();
      world.loop.stop();
    }});
    world.notes.at_body = [&] {
      world.call->discard_rest();
      world.call.reset();
      thrown_away.set_value();
    };
    CHECK(world.run() == "200 last");
    CHECK(world.client.idle_connections() == 0);
  }
  CHECK(cut);
}
