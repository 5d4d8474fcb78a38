// Redis URLs as a configuration writes them.
#include "native/config/redis_url.hpp"

#include "tests/catch.hpp"

using namespace tidemark::config;

TEST_CASE("a Redis URL has a host, and perhaps a user, a password, a port and a database") {
  struct Case {
    const char* text;
    const char* shown;
    const char* user;
    const char* password;
  };
  for (const Case& c : {
           Case{"redis://h", "redis://h:6379/0", "", ""},
           Case{"redis://h/", "redis://h:6379/0", "", ""},
           Case{"rediss://redis.example:6380/12", "rediss://redis.example:6380/12", "", ""},
           Case{"redis://[::1]", "redis://[::1]:6379/0", "", ""},
           Case{"redis://[::1]:1/2", "redis://[::1]:1/2", "", ""},
           Case{"redis://u@h", "redis://h:6379/0", "u", ""},
           Case{"redis://u:p@h:1", "redis://h:1/0", "u", "p"},
           Case{"redis://:p@h", "redis://h:6379/0", "", "p"},
           Case{"redis://@h", "redis://h:6379/0", "", ""},
           Case{"redis://:@h", "redis://h:6379/0", "", ""},
           Case{"redis://a%3ab:p%40%2F%25+@h/3", "redis://h:6379/3", "a:b", "p@/%+"},
           Case{"redis://u:a:b/c@d?e#f@h:1/3", "redis://h:1/3", "u", "a:b/c@d?e#f"},
           Case{"redis://u:env%3AX@h", "redis://h:6379/0", "u", "env:X"},
       }) {
    INFO(c.text);
    const auto parsed = parse_redis_url(c.text);
    REQUIRE(parsed);
    CHECK(parsed->url.text() == c.shown);
    CHECK(parsed->url.user == c.user);
    CHECK(parsed->url.password == c.password);
    CHECK(parsed->password_variable.empty());
  }
  const auto variable = parse_redis_url("rediss://u:env:REDIS_PASSWORD@h:1/3");
  REQUIRE(variable);
  CHECK(variable->password_variable == "REDIS_PASSWORD");
  CHECK(variable->url.password.empty());
  CHECK(variable->url.tls);
  CHECK(variable->url.database == 3);
}

TEST_CASE("what is no Redis URL") {
  for (const char* bad : {"",
                          "redis:",
                          "redis://",
                          "redis:///0",
                          "redis://u:p@",
                          "redis://u:p@/0",
                          "redis://h:0",
                          "redis://h:65536",
                          "redis://h:",
                          "redis://h:x",
                          "redis://h/x",
                          "redis://h/-1",
                          "redis://h/+1",
                          "redis://h/1/2",
                          "redis://h/2147483648",
                          "redis://h/99999999999",
                          "redis://h?db=1",
                          "redis://h/0?x",
                          "redis://h/0#x",
                          "redis://::1:6379",
                          "redis://a b",
                          "redis://u:%@h",
                          "redis://u:%4@h",
                          "redis://%zz@h",
                          "redis://u:env:@h",
                          "REDIS://h",
                          "http://h",
                          "unix:///s"}) {
    INFO(bad);
    CHECK_FALSE(parse_redis_url(bad));
  }
}

TEST_CASE("a URL is shown without what may be a password") {
  CHECK(without_password("redis://h:1/0") == "redis://h:1/0");
  CHECK(without_password("redis://u:p@h:1/0") == "redis://***@h:1/0");
  CHECK(without_password("rediss://u:p/q@r@h") == "rediss://***@h");
  CHECK(without_password("redis://u:p") == "redis://***");
  CHECK(without_password("redis://u:p/q") == "redis://***");
  CHECK(without_password("redis://h/x") == "redis://h/x");
  CHECK(without_password("sqlite:") == "sqlite:");
  CHECK(without_password("u:p@h") == "***@h");
}
