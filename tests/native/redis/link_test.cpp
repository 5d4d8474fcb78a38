// What a link does while the server is there: greeting, commands, replies.
#include "native/redis/link.hpp"

#include <cstdlib>
#include <string>

#include "native/tls/context.hpp"
#include "tests/catch.hpp"
#include "tests/native/redis/redis_server.hpp"
#include "tests/native/redis/running_link.hpp"
#include "tests/native/tls/certificates.hpp"

using namespace tidemark;
using namespace tidemark::testing;

TEST_CASE("a link comes up, knows its server, and has every kind of reply") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.come_up();
  CHECK(link.told() == "up;");
  CHECK(server.run({"INFO", "server"}).find("run_id:" + link.facts.run_id + "\r") != std::string::npos);
  CHECK(link.facts.run_id.size() == 40);
  CHECK(server.run({"INFO", "server"}).find("redis_version:" + link.facts.version + "\r") != std::string::npos);
  CHECK(link.ask({"CLIENT", "ID"}) == ":" + std::to_string(link.facts.client_id));
  CHECK(server.run({"CLIENT", "LIST"}).find(" name=test ") != std::string::npos);

  CHECK(link.ask({"SET", "a", std::string_view("b\r\n\0c", 5)}) == "+OK");
  CHECK(link.ask({"GET", "a"}) == std::string("b\r\n\0c", 5));
  CHECK(link.ask({"GET", "none"}) == "null");
  CHECK(link.ask({"SET", "", ""}) == "+OK");
  CHECK(link.ask({"GET", ""}) == "");
  CHECK(link.ask({"NO_SUCH_THING"}).rfind("-ERR unknown command", 0) == 0);
  CHECK(link.ask({"LRANGE", "none", "0", "1"}) == "[]");
  CHECK(link.ask({"BLPOP", "none", "0.001"}) == "null");
  CHECK(link.ask({"XADD", "x", "1-1", "f", "v", "g", "w"}) == "1-1");
  CHECK(link.ask({"XADD", "x", "1-2", "f", "u"}) == "1-2");
  CHECK(link.ask({"XRANGE", "x", "-", "+"}) == "[[1-1 [f v g w]] [1-2 [f u]]]");
  CHECK(link.ask({"EVAL", "return {1, {'two', redis.error_reply('ERR three')}, false, {}}", "0"}) ==
        "[:1 [two -ERR three] null []]");
  CHECK(link.link->is_up());
  CHECK(link.reasons.empty());
}

TEST_CASE("replies come in the order of their commands, also of many at once and of large ones") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.come_up();
  const std::string large(5'000'000, 'x');
  constexpr int kCommands = 20'000;
  int next = 0;
  bool in_order = true;
  for (int i = 0; i < kCommands; ++i) {
    const std::string word = std::to_string(i);
    link.link->send({"ECHO", i == kCommands / 2 ? std::string_view(large) : std::string_view(word)},
                    [&, i, word](const redis::Reply* reply) {
                      const bool same = reply && (i == kCommands / 2 ? reply->text == large : reply->text == word);
                      in_order = in_order && same && next++ == i;
                    });
  }
  CHECK(link.link->waiting() == kCommands);
  REQUIRE(run_until(link.loop, [&] { return link.link->waiting() == 0; }));
  CHECK(next == kCommands);
  CHECK(in_order);
}

TEST_CASE("commands go out with flush(), or at the end of the turn") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.come_up();
  link.told();
  link.link->send({"SET", "flushed", "1"}, nullptr);
  CHECK(link.link->flush());
  // The loop does not run.
  const TimeMs end = link.loop.now_ms() + kPatienceMs;
  while (server.run({"GET", "flushed"}) != "1" && link.loop.now_ms() < end) {
  }
  CHECK(server.run({"GET", "flushed"}) == "1");
  CHECK(link.link->waiting() == 1);
  // A reply may send the next command.
  link.link->send({"ECHO", "a"}, [&](const redis::Reply*) { link.send({"ECHO", "b"}); });
  REQUIRE(run_until(link.loop, [&] { return link.events == "b;"; }));
}

TEST_CASE("a database, and what the endpoint is called") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.endpoint.database = 3;
  link.endpoint.password = "";
  link.come_up();
  CHECK(link.ask({"SET", "where", "here"}) == "+OK");
  CHECK(server.run({"GET", "where"}) == "");
  CHECK(server.run({"-n", "3", "GET", "where"}) == "here");
  CHECK(link.endpoint.text() == "redis://127.0.0.1:" + std::to_string(server.port()) + "/3");
  CHECK(redis::Endpoint{.tls = true, .host = "::1", .port = 1, .user = "u", .password = "p"}.text() ==
        "rediss://[::1]:1/0");
}

TEST_CASE("the password of the server, and users of their own") {
  if (!RedisServer::available()) return;
  RedisServer server({.password = "s3cret"});
  server.run({"ACL", "SETUSER", "tide", "on", ">mark", "~*", "+@all"});
  RunningLink link(server.port());
  SECTION("the password") {
    link.endpoint.password = "s3cret";
    link.come_up();
    CHECK(link.ask({"ACL", "WHOAMI"}) == "default");
  }
  SECTION("a user") {
    link.endpoint.user = "tide";
    link.endpoint.password = "mark";
    link.come_up();
    CHECK(link.ask({"ACL", "WHOAMI"}) == "tide");
  }
  SECTION("a user without a password") {
    server.run({"ACL", "SETUSER", "open", "on", "nopass", "~*", "+@all"});
    link.endpoint.user = "open";
    link.come_up();
    CHECK(link.ask({"ACL", "WHOAMI"}) == "open");
  }
  SECTION("none, until none is needed") {
    link.begin();
    link.go_down();
    CHECK(link.reasons[0] == "the server says NOAUTH Authentication required.");
    server.run({"CONFIG", "SET", "requirepass", ""});
    link.come_up();
    CHECK(link.told() == "down;up;");
  }
  SECTION("the wrong one, until it is right") {
    link.endpoint.password = "wr0ng";
    link.begin();
    link.go_down();
    CHECK(link.reasons[0] == "the server says WRONGPASS invalid username-password pair or user is disabled.");
    server.run({"CONFIG", "SET", "requirepass", "wr0ng"});
    link.come_up();
    CHECK(link.told() == "down;up;");
  }
  SECTION("a user who may not ask what the link must know") {
    server.run({"ACL", "SETUSER", "tide", "-info"});
    link.endpoint.user = "tide";
    link.endpoint.password = "mark";
    link.begin();
    link.go_down();
    CHECK(link.reasons[0].rfind("the server says NOPERM ", 0) == 0);
  }
}

TEST_CASE("TLS, with a certificate that is verified") {
  if (!RedisServer::available()) return;
  const Certificates& files = Certificates::get();
  const std::string name = GENERATE("good", "own");
  RedisServer server({.tls = true, .certificate = files.path(name + ".pem"), .key = files.path(name + ".key")});
  ::setenv("SSL_CERT_FILE", files.path("ca.pem").c_str(), 1);
  tls::ClientContext context(tls::Speaks::Anything);
  RunningLink link(server.port());
  link.tls = &context;
  link.endpoint.tls = true;
  link.endpoint.host = "localhost";
  if (name == "good") {
    link.come_up();
    const std::string large(3'000'000, 'x');
    CHECK(link.ask({"SET", "large", large}) == "+OK");
    CHECK(link.ask({"GET", "large"}) == large);
    server.kill();
    link.go_down();
    server.start();
    link.come_up();
    CHECK(link.ask({"GET", "large"}) == "null");
  } else {
    link.begin();
    link.go_down();
    CHECK(link.reasons[0].rfind("no TLS: certificate refused: self", 0) == 0);
  }
}

TEST_CASE("no TLS where the server speaks it, and TLS where it does not") {
  if (!RedisServer::available()) return;
  const Certificates& files = Certificates::get();
  const bool server_speaks = GENERATE(true, false);
  RedisServer server({.tls = server_speaks, .certificate = files.path("good.pem"), .key = files.path("good.key")});
  tls::ClientContext context(tls::Speaks::Anything);
  RunningLink link(server.port());
  link.tls = &context;
  link.endpoint.tls = !server_speaks;
  link.options.connect_timeout_ms = 100;  // nobody says anything where the server waits for TLS
  link.begin();
  link.go_down();
  INFO(link.reasons[0]);
  CHECK_FALSE(link.link->is_up());
}

TEST_CASE("what is sent last reaches the server before the link is closed") {
  if (!RedisServer::available()) return;
  RedisServer server;
  RunningLink link(server.port());
  link.options.max_unsent_bytes = std::size_t{64} << 20;
  link.come_up();
  link.told();
  SECTION("more than the kernel takes at once, with replies that nobody has read") {
    const std::string large(100'000, 'x');
    for (int i = 0; i < 200; ++i) link.send({"SET", "key" + std::to_string(i), large});
    for (int i = 0; i < 20; ++i) link.send({"GET", "key0"});
    link.send({"SET", "last", "here"});
    link.link->close_after_sending(kPatienceMs);
    CHECK(server.run({"DBSIZE"}) == "201");
    CHECK(server.run({"GET", "last"}) == "here");
  }
  SECTION("a server that does not answer is not waited for without end") {
    server.pause();
    link.send({"SET", "last", "here"});
    link.link->close_after_sending(10);
    server.resume();
    const TimeMs end = link.loop.now_ms() + kPatienceMs;
    while (server.run({"GET", "last"}) != "here" && link.loop.now_ms() < end) {
    }
    CHECK(server.run({"GET", "last"}) == "here");
  }
  SECTION("a server that is gone") {
    server.kill();
    link.send({"SET", "last", "here"});
    link.link->close_after_sending(kPatienceMs);
  }
  CHECK_FALSE(link.link->is_up());
  CHECK_FALSE(link.link->flush());
  CHECK(link.link->waiting() == 0);
  run_ready(link.loop);
  CHECK(link.told() == "");
}
