// How a link is lost, who is told what, and how it comes back.
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "native/redis/link.hpp"
#include "tests/catch.hpp"
#include "tests/native/loop/raw_socket.hpp"
#include "tests/native/redis/redis_server.hpp"
#include "tests/native/redis/running_link.hpp"

using namespace tidemark;
using namespace tidemark::testing;

TEST_CASE("a server that is not there yet: told once, and tried until it is") {
  if (!RedisServer::available()) return;
  RedisServer server;
  server.stop();
  RunningLink link(server.port());
  link.begin();
  CHECK_FALSE(link.link->is_up());
  link.go_down();
  CHECK(link.reasons[0] == "could not be reached: Connection refused");
  server.start();
  link.come_up();
  CHECK(link.told() == "down;up;");
  CHECK(link.ask({"PING"}) == "+PONG");
}

TEST_CASE("a server that is killed: what waits is told first, in order") {
  if (!RedisServer::available()) return;
  const bool keeps = GENERATE(true, false);
  RedisServer server({.keeps_data = keeps});
  RunningLink link(server.port());
  link.come_up();
  CHECK(link.ask({"SET", "a", "1"}) == "+OK");
  const std::string run_id = link.facts.run_id;
  link.told();
  server.pause();
  for (const char* key : {"b", "c"}) {
    link.link->send({"GET", key}, [&link, key](const redis::Reply* reply) {
      link.events += key + std::string(reply ? " there;" : " lost;");
      CHECK_FALSE(link.link->is_up());
    });
  }
  run_ready(link.loop);
  CHECK(link.told() == "");
  server.kill();
  link.go_down();
  CHECK(link.told() == "b lost;c lost;down;");
  CHECK(link.link->waiting() == 0);
  CHECK_FALSE(link.link->flush());
  server.start();
  link.come_up();
  CHECK(link.told() == "up;");
  CHECK(link.facts.run_id != run_id);
  CHECK(link.ask({"GET", "a"}) == (keeps ? "1" : "null"));
}

TEST_CASE("a server that is stopped and started in an orderly way, again and again") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  for (std::size_t times = 1; times <= 3; ++times) {
    link.come_up();
    server.stop();
    link.go_down(times);
    CHECK(link.reasons.back() == "the server closed the connection");
    CHECK(link.told() == "up;down;");
    server.start();
  }
}

TEST_CASE("a server that is held up: a reply is waited for, and then the link is lost") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.options.reply_timeout_ms = 100;
  link.options.connect_timeout_ms = 40;
  link.come_up();
  const auto client_id = link.facts.client_id;
  link.told();
  link.reasons.clear();
  server.pause();
  link.send({"GET", "a"});
  link.go_down();
  CHECK(link.reasons[0] == "no reply for 100 ms");
  CHECK(link.told() == "lost;down;");
  // The kernel still takes connections: nobody greets there.
  const TimeMs later = link.loop.now_ms() + 120;
  REQUIRE(run_until(link.loop, [&] { return link.loop.now_ms() >= later; }));
  CHECK(link.told() == "");
  server.resume();
  link.come_up();
  CHECK(link.told() == "up;");
  CHECK(link.facts.client_id > client_id);
}

TEST_CASE("a reply is waited for without end where that is wanted, and time without a command does not count") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  SECTION("without end") {
    link.options.reply_timeout_ms = 0;
    link.come_up();
    link.told();
    link.send({"BLPOP", "queue", "0"});
    const TimeMs later = link.loop.now_ms() + 100;
    REQUIRE(run_until(link.loop, [&] { return link.loop.now_ms() >= later; }));
    server.run({"RPUSH", "queue", "x"});
    REQUIRE(run_until(link.loop, [&] { return link.told() == "[queue x];"; }));
  }
  SECTION("between commands") {
    link.options.reply_timeout_ms = 200;
    link.come_up();
    CHECK(link.ask({"PING"}) == "+PONG");
    const TimeMs later = link.loop.now_ms() + 250;
    REQUIRE(run_until(link.loop, [&] { return link.loop.now_ms() >= later; }));
    CHECK(link.ask({"PING"}) == "+PONG");
  }
  SECTION("while this process is held up, and the reply is there") {
    link.options.reply_timeout_ms = 60;
    link.come_up();
    link.told();
    link.send({"SET", "a", "1"});
    link.link->flush();
    const TimeMs overdue = link.loop.now_ms() + 61;
    while (server.run({"GET", "a"}) != "1" || link.loop.now_ms() < overdue) {
    }
    link.loop.post([] {});  // a turn of something else, at the end of which the time is over
    REQUIRE(run_until(link.loop, [&] { return !link.events.empty(); }));
    CHECK(link.told() == "+OK;");
  }
  CHECK(link.reasons.empty());
}

TEST_CASE("a connection that the server closes, with what it said before") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.come_up();
  const auto client_id = link.facts.client_id;
  link.told();
  SECTION("by an administrator") {
    server.run({"CLIENT", "KILL", "ID", std::to_string(client_id)});
    link.go_down();
    CHECK(link.told() == "down;");
  }
  SECTION("at the client's wish") {
    link.send({"ECHO", "a"});
    link.send({"QUIT"});
    link.send({"ECHO", "b"});
    link.go_down();
    CHECK(link.told() == "a;+OK;lost;down;");
  }
  link.come_up();
  CHECK(link.facts.client_id > client_id);
}

TEST_CASE("a server that has no room for one more says so") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.come_up();
  CHECK(link.ask({"CONFIG", "SET", "maxclients", "1"}) == "+OK");
  RunningLink other(server.port());
  other.begin();
  other.go_down();
  CHECK(other.reasons[0] == "the server says ERR max number of clients reached");
  CHECK(link.ask({"CONFIG", "SET", "maxclients", "100"}) == "+OK");
  other.come_up();
  CHECK(link.reasons.empty());
}

TEST_CASE("a link that is dropped") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.come_up();
  link.told();
  link.link->send({"ECHO", "a"}, [&](const redis::Reply*) {
    link.events += "a;";
    link.link->drop("as the test wants");
    link.link->drop("once more");
  });
  link.send({"ECHO", "b"});
  link.go_down();
  CHECK(link.reasons[0] == "as the test wants");
  CHECK(link.told() == "a;lost;down;");
  link.come_up();
  CHECK(link.ask({"ECHO", "c"}) == "c");
  CHECK(link.told() == "up;");
}

TEST_CASE("what a server does not take is kept up to a bound") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.options.max_unsent_bytes = 1 << 20;
  link.come_up();
  link.told();
  const std::string large(512 << 10, 'x');
  for (int i = 0; i < 100; ++i) link.ask({"SET", "a", large});
  CHECK(link.reasons.empty());
  server.pause();
  std::size_t sent = 0;
  for (; link.reasons.empty() && sent < 1000; ++sent) {
    if (!link.link->is_up()) break;
    link.link->send({"SET", "a", large}, [&](const redis::Reply* reply) { link.events += reply ? "?" : "."; });
    run_ready(link.loop);
  }
  CHECK(link.reasons.at(0) == "more than 1048576 bytes that the server does not take");
  CHECK(link.told() == std::string(sent, '.') + "down;");
  server.resume();
  link.come_up();
}

TEST_CASE("a reply that is larger than its bound") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.options.max_reply_bytes = 100'000;
  link.come_up();
  link.told();
  link.send({"EVAL", "return string.rep('x', 90000)", "0"});
  REQUIRE(run_until(link.loop, [&] { return link.link->waiting() == 0; }));
  CHECK(link.told() == std::string(90000, 'x') + ";");
  link.send({"EVAL", "return string.rep('x', 200000)", "0"});
  link.go_down();
  CHECK(link.reasons[0] == "a reply of more than 100000 bytes");
  CHECK(link.told() == "lost;down;");
  link.come_up();
}

TEST_CASE("a server that still reads its data is not up") {
  if (!RedisServer::available()) return;
  // It answers between pieces of a kilobyte, and takes a millisecond for each key.
  RedisServer server({.keeps_data = true,
                      .arguments = {"--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024",
                                    "--aof-use-rdb-preamble", "yes"}});
  server.run({"EVAL", "for i = 1, 300 do redis.call('SET', 'key' .. i, string.rep('x', 1000)) end", "0"});
  server.run({"BGREWRITEAOF"});
  while (server.run({"INFO", "persistence"}).find("aof_rewrite_in_progress:0") == std::string::npos) {
  }
  server.stop();
  server.start_without_waiting();
  RunningLink link(server.port());
  link.begin();
  bool refused = false;
  REQUIRE(run_until(link.loop, [&] {
    for (const std::string& reason : link.reasons) refused = refused || reason.find("LOADING") != std::string::npos;
    return link.link->is_up();
  }));
  CHECK(link.ask({"GET", "key300"}) == std::string(1000, 'x'));
}

TEST_CASE("a link may be destroyed wherever it calls, and tells nobody anything after") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  SECTION("in a reply") {
    link.come_up();
    link.told();
    link.link->send({"ECHO", "a"}, [&](const redis::Reply*) {
      link.events += "a;";
      link.link.reset();
    });
    link.send({"ECHO", "b"});
    REQUIRE(run_until(link.loop, [&] { return !link.link; }));
    run_ready(link.loop);
    CHECK(link.told() == "a;");
  }
  SECTION("when a command is lost") {
    link.come_up();
    link.told();
    server.pause();
    link.link->send({"ECHO", "a"}, [&](const redis::Reply*) { link.link.reset(); });
    link.send({"ECHO", "b"});
    server.kill();
    REQUIRE(run_until(link.loop, [&] { return !link.link; }));
    run_ready(link.loop);
    CHECK(link.told() == "");
  }
  SECTION("as it comes up, and as it goes down") {
    const auto destroyed = [&] { return !link.link; };
    const auto make = [&] {
      link.link = std::make_unique<redis::Link>(
          link.loop, nullptr, link.endpoint, link.options,
          redis::Link::Events{[&](const auto&) { link.link.reset(); }, [&](const auto&) { link.link.reset(); }});
    };
    make();
    REQUIRE(run_until(link.loop, destroyed));
    server.stop();
    make();
    REQUIRE(run_until(link.loop, destroyed));
    run_ready(link.loop);
  }
  SECTION("with everything under way") {
    link.begin();
    link.link.reset();
    run_ready(link.loop);
    link.come_up();
    link.send({"ECHO", "a"});
    link.told();
    link.link.reset();
    run_ready(link.loop);
    CHECK(link.told() == "");
  }
}

TEST_CASE("a peer that is no Redis server") {
  RawListener listener;
  RunningLink link(listener.port());
  const std::string greeting = "CLIENT\r\n$7\r\nSETNAME";
  const auto accept_and_greet = [&] {
    RawSocket socket = listener.accept();
    socket.receive_through("INFO\r\n$6\r\nserver\r\n");
    socket.send("+OK\r\n+PONG\r\n:1\r\n$12\r\nrun_id:abc\r\n\r\n");
    return socket;
  };
  SECTION("it says nothing") {
    link.options.connect_timeout_ms = 50;
    link.begin();
    link.go_down();
    CHECK(link.reasons[0] == "not connected within 50 ms");
  }
  SECTION("it resets the connection") {
    link.begin();
    std::thread peer([&] {
      RawSocket socket = listener.accept();
      socket.receive_through(greeting);
      socket.reset();
    });
    link.go_down();
    peer.join();
    CHECK(link.reasons[0] == "the connection was lost: Connection reset by peer");
  }
  SECTION("it speaks something else") {
    link.begin();
    std::thread peer([&] {
      RawSocket socket = listener.accept();
      socket.receive_through(greeting);
      socket.send("HTTP/1.1 400 Bad Request\r\n\r\n");
      socket.receive_all();
    });
    link.go_down();
    peer.join();
    CHECK(link.reasons[0].rfind("not the Redis protocol: ", 0) == 0);
  }
  SECTION("it repeats the password") {
    link.endpoint.password = "s3cret";
    link.begin();
    std::thread peer([&] {
      RawSocket socket = listener.accept();
      socket.receive_through(greeting);
      socket.send("-ERR unknown command 'AUTH' with 's3cret'\tand 's3cret'\r\n");
      socket.receive_all();
    });
    link.go_down();
    peer.join();
    CHECK(link.reasons[0] == "the server says ERR unknown command 'AUTH' with '***' and '***'");
  }
  SECTION("it does not say its run_id") {
    link.begin();
    std::thread peer([&] {
      RawSocket socket = listener.accept();
      socket.receive_through("INFO\r\n$6\r\nserver\r\n");
      socket.send("+OK\r\n+PONG\r\n:1\r\n$14\r\nredis_mode:x\r\n\r\n");
      socket.receive_all();
    });
    link.go_down();
    peer.join();
    CHECK(link.reasons[0] == "the server does not say its run_id");
  }
  SECTION("it answers what nobody asked") {
    link.begin();
    std::thread peer([&] {
      RawSocket socket = accept_and_greet();
      socket.send("+OK\r\n");
      socket.receive_all();
    });
    link.go_down();
    peer.join();
    CHECK(link.told() == "up;down;");
    CHECK(link.reasons[0] == "a reply that nothing was sent for");
  }
  SECTION("it answers one command and not the next: the time counts from the answer") {
    link.options.reply_timeout_ms = 80;
    link.begin();
    std::promise<void> answered;
    std::thread peer([&] {
      RawSocket socket = accept_and_greet();
      socket.receive_through("second\r\n");
      socket.send("+OK\r\n");
      answered.set_value();
      socket.receive_all();
    });
    link.come_up();
    link.send({"first"});
    link.send({"second"});
    link.link->flush();
    const TimeMs sent = link.loop.now_ms();
    answered.get_future().wait();
    while (link.loop.now_ms() < sent + 40) {
    }
    const TimeMs heard = link.loop.now_ms();
    link.go_down();
    CHECK(link.told() == "up;+OK;lost;down;");
    CHECK(link.loop.now_ms() >= heard + 80);
    peer.join();
  }
  SECTION("it is gone after an answer: that one counts") {
    link.begin();
    std::promise<void> sent;
    std::thread peer([&] {
      RawSocket socket = accept_and_greet();
      socket.receive_through("first\r\n");
      socket.send("+OK\r\n");
      socket.reset();
      sent.set_value();
    });
    link.come_up();
    link.send({"first"});
    CHECK(link.link->flush());
    sent.get_future().wait();
    link.send({"second"});
    CHECK_FALSE(link.link->flush());
    link.go_down();
    peer.join();
    CHECK(link.told() == "up;+OK;lost;down;");
  }
  SECTION("it sees an orderly end when the link is closed, though it had answered") {
    link.begin();
    bool was_reset = true;
    std::thread peer([&] {
      RawSocket socket = accept_and_greet();
      socket.receive_through("first\r\n");
      socket.send("+OK\r\n");
      socket.receive_all();
      was_reset = socket.was_reset();
    });
    link.come_up();
    link.send({"first"});
    link.link->close_after_sending(1000);
    peer.join();
    CHECK_FALSE(was_reset);
  }
}
