// Header lists, and what is for one connection only.
#include "native/http/message.hpp"

#include "tests/catch.hpp"

using namespace tidemark::http;

TEST_CASE("headers keep order and spelling, and are found in any case") {
  Headers headers{{"Host", "a"}, {"X-One", "1"}, {"x-one", "2"}, {"Accept", "*/*"}};
  CHECK(headers.get("HOST") == "a");
  CHECK(headers.get("x-ONE") == "1");
  CHECK(headers.count("X-One") == 2);
  CHECK(headers.find("x-two") == nullptr);
  CHECK(headers.get("x-two").empty());

  headers.set("x-one", "3");
  CHECK(headers == Headers{{"Host", "a"}, {"X-One", "3"}, {"Accept", "*/*"}});
  headers.set("New", "4");
  headers.add("accept", "text/plain");
  CHECK(headers.size() == 5);
  headers.remove("ACCEPT");
  CHECK(headers == Headers{{"Host", "a"}, {"X-One", "3"}, {"New", "4"}});
}

TEST_CASE("only ASCII letters are folded") {
  CHECK(equal_names("Content-Type", "content-TYPE"));
  CHECK_FALSE(equal_names("a[", "a{"));
  CHECK_FALSE(equal_names("a", "ab"));
}

TEST_CASE("hop-by-hop fields and those that Connection names are removed") {
  Headers headers{{"Connection", "close, X-Mine"},
                  {"connection", "other"},
                  {"X-Mine", "1"},
                  {"Other", "2"},
                  {"Keep-Alive", "3"},
                  {"TE", "trailers"},
                  {"Transfer-Encoding", "chunked"},
                  {"Upgrade", "h2c"},
                  {"Proxy-Connection", "x"},
                  {"Trailer", "x"},
                  {"Stays", "4"}};
  remove_hop_by_hop(headers);
  CHECK(headers == Headers{{"Stays", "4"}});
}

TEST_CASE("tokens in lists") {
  CHECK(has_token("keep-alive, Close", "close"));
  CHECK(has_token(" close ", "close"));
  CHECK_FALSE(has_token("closed", "close"));
  CHECK_FALSE(has_token("", "close"));
}
