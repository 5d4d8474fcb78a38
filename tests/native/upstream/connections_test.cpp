// Which connections are kept, for how long, and that none is left over.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native/upstream/client.hpp"
#include "tests/catch.hpp"
#include "tests/native/loop/run_until.hpp"
#include "tests/native/upstream/scripted_upstream.hpp"

using namespace tidemark;
using namespace tidemark::upstream;
using tidemark::testing::RawListener;
using tidemark::testing::RawSocket;
using tidemark::testing::run_ready;
using tidemark::testing::run_until;
using tidemark::upstream::testing::answers;
using tidemark::upstream::testing::Notes;
using tidemark::upstream::testing::ScriptedUpstream;
using tidemark::upstream::testing::World;

namespace {

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("a kept connection is dropped after its time, or when the upstream closes it") {
  ClientLimits limits;
  limits.idle_timeout_ms = 30;
  std::atomic<bool> closed{false};
  {
    World world({[&](RawSocket& peer) {
                   peer.receive_through("\r\n\r\n");
                   peer.send(kOk);
                   closed = peer.receive_all().empty();  // until the client closes
                 },
                 answers(kOk)},
                limits);
    REQUIRE(world.run() == "200 ok framed");
    CHECK(world.client.idle_connections() == 1);
    CHECK(run_until(world.loop, [&] { return world.client.idle_connections() == 0; }));
    REQUIRE(world.run() == "200 ok framed");
    CHECK(run_until(world.loop, [&] { return world.client.idle_connections() == 0; }));
  }
  CHECK(closed);
}

TEST_CASE("no more connections are kept than may be, and none that is out of step") {
  ClientLimits none;
  none.idle_per_origin = 0;
  World world({answers(kOk), answers(kOk)}, none);
  CHECK(world.run() == "200 ok framed");
  CHECK(world.client.idle_connections() == 0);

  World excess({answers(kOk + "HTTP/1.1 200 OK\r\n"), answers(kOk)});
  CHECK(excess.run() == "200 ok framed");
  CHECK(excess.client.idle_connections() == 0);
  CHECK(excess.run() == "200 ok framed");

  World closing({answers("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")});
  CHECK(closing.run() == "200  framed");
  CHECK(closing.client.idle_connections() == 0);
}

TEST_CASE("a retried request is sent whole, with its body") {
  std::string again;
  World world({answers(kOk), [&](RawSocket& peer) {
                 again = peer.receive_through("the body");
                 peer.send(kOk);
               }});
  REQUIRE(world.run() == "200 ok framed");
  http::RequestHead head{"POST", "/x", {{"A", "b"}}, 1, true};
  world.notes.text.clear();
  world.call = world.client.send({"http", "127.0.0.1", world.upstream.port}, head, "the body", world.notes);
  world.loop.run();
  CHECK(world.notes.text == "200 ok framed");
  CHECK(again == "POST /x HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(world.upstream.port) +
                     "\r\nA: b\r\nContent-Length: 8\r\n\r\nthe body");
}

TEST_CASE("an upstream may answer before it has read the body") {
  World world({[](RawSocket& peer) {
    peer.receive_through("\r\n\r\n");
    peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
    peer.shutdown_send();
    peer.receive_all();
  }});
  world.call = world.client.send({"http", "127.0.0.1", world.upstream.port}, {"POST", "/", {}, 1, true},
                                 std::string(30'000'000, 'x'), world.notes);
  world.loop.run();
  CHECK(world.notes.text == "413 big framed");
  CHECK(world.client.idle_connections() == 0);
  world.call.reset();
}

TEST_CASE("chunked bodies over every split") {
  const std::string response =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nb;x\r\ndefghijklmn\r\n0\r\nT: u\r\n\r\n";
  std::vector<ScriptedUpstream::Script> scripts;
  for (std::size_t cut = 1; cut < response.size(); ++cut) {
    scripts.push_back([&response, cut](RawSocket& peer) {
      peer.receive_through("\r\n\r\n");
      peer.send(response.substr(0, cut));
      peer.send(response.substr(cut));
      peer.shutdown_send();
      peer.receive_all();
    });
  }
  ClientLimits limits;
  limits.idle_per_origin = 0;
  World world(std::move(scripts), limits);
  for (std::size_t cut = 1; cut < response.size(); ++cut) REQUIRE(world.run() == "200 abcdefghijklmn framed");
}

TEST_CASE("an upstream that accepts but never speaks TLS is given up in time") {
  RawListener listener;
  loop::Loop loop;
  tls::ClientContext tls;
  ClientLimits limits;
  limits.connect_timeout_ms = 30;
  Client client(loop, &tls, limits);
  Notes notes(loop);
  const auto call = client.send({"https", "127.0.0.1", listener.port()}, {"GET", "/", {}, 1, true}, {}, notes);
  loop.run();
  CHECK(notes.text == "!timeout");
}

TEST_CASE("no such name, and no TLS where it is asked for") {
  World unknown({});
  unknown.call = unknown.client.send({"http", "no such name", 80}, {"GET", "/", {}, 1, true}, {}, unknown.notes);
  unknown.loop.run();
  CHECK(unknown.notes.text == "!resolve");

  RawListener listener;
  loop::Loop loop;
  tls::ClientContext tls;
  Client client(loop, &tls, {});
  Notes notes(loop);
  const auto call = client.send({"https", "127.0.0.1", listener.port()}, {"GET", "/", {}, 1, true}, {}, notes);
  std::thread peer([&] {
    RawSocket socket = listener.accept();
    socket.send("HTTP/1.1 200 OK\r\n\r\n");
    socket.shutdown_send();
    socket.receive_all();
  });
  loop.run();
  peer.join();
  CHECK(notes.text == "!tls");
}

TEST_CASE("a client that goes cuts what is under way, silently, and leaves no descriptor") {
  const std::ptrdiff_t before = open_descriptors();
  std::atomic<bool> cut{false};
  {
    ScriptedUpstream upstream({[&](RawSocket& peer) {
      peer.receive_through("\r\n\r\n");
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
      peer.receive_all();
      cut = peer.was_reset();
    }});
    loop::Loop loop;
    Notes notes(loop);
    std::unique_ptr<Call> begun;
    std::unique_ptr<Call> unbegun;
    {
      Client client(loop, nullptr, {});
      const Origin origin{"http", "127.0.0.1", upstream.port};
      begun = client.send(origin, {"GET", "/", {}, 1, true}, {}, notes);
      REQUIRE(run_until(loop, [&] { return notes.text == "200 a"; }));
      unbegun = client.send(origin, {"GET", "/", {}, 1, true}, {}, notes);
    }
    begun->resume();
    run_ready(loop);
    CHECK(notes.text == "200 a");
  }
  CHECK(cut);
  CHECK(open_descriptors() == before);
}
