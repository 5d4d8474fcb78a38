// What a link does while the server is there: greeting, commands, replies.
#include "native/redis/link.hpp"

#include "tests/catch.hpp"
#include "tests/native/redis/redis_server.hpp"
#include "tests/native/redis/running_link.hpp"

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
