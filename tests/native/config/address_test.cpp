// Addresses and base URLs as a configuration writes them.
#include "native/config/address.hpp"

#include "tests/catch.hpp"

using namespace tidemark::config;

TEST_CASE("a listening address is HOST:PORT") {
  struct Case {
    const char* text;
    const char* host;
    int port;
  };
  for (const Case& c : {Case{"127.0.0.1:8787", "127.0.0.1", 8787}, Case{"localhost:0", "localhost", 0},
                        Case{"[::1]:80", "::1", 80}, Case{"0.0.0.0:65535", "0.0.0.0", 65535}}) {
    const auto parsed = parse_host_port(c.text);
    REQUIRE(parsed);
    CHECK(parsed->host == c.host);
    CHECK(parsed->port == c.port);
    CHECK(parsed->text() == c.text);
  }
  for (const char* bad : {"", "8787", ":8787", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "a b:1",
                          "::1:80", "[::1]", "[::1]80", "[]:1", "[127.0.0.1]:1", "host:80x", "host:+1"}) {
    INFO(bad);
    CHECK_FALSE(parse_host_port(bad));
  }
}

TEST_CASE("loopback is told from the rest") {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) CHECK(HostPort{host, 1}.is_loopback());
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "127.example.org", "127.0.0.1.example.org"}) {
    INFO(host);
    CHECK_FALSE(HostPort{host, 1}.is_loopback());
  }
}

TEST_CASE("a base URL has a scheme, a host, and perhaps a port and a path") {
  struct Case {
    const char* text;
    bool tls;
    const char* host;
    int port;
    const char* path;
    const char* authority;
  };
  for (const Case& c : {
           Case{"http://h", false, "h", 80, "", "h"},
           Case{"http://h:80/", false, "h", 80, "", "h"},
           Case{"https://api.example.com/v1", true, "api.example.com", 443, "/v1", "api.example.com"},
           Case{"https://h:8443/a/b//", true, "h", 8443, "/a/b", "h:8443"},
           Case{"http://[::1]:9", false, "::1", 9, "", "[::1]:9"},
           Case{"http://h:443", false, "h", 443, "", "h:443"},
       }) {
    INFO(c.text);
    const auto url = parse_base_url(c.text);
    REQUIRE(url);
    CHECK(url->tls == c.tls);
    CHECK(url->address.host == c.host);
    CHECK(url->address.port == c.port);
    CHECK(url->path == c.path);
    CHECK(url->authority() == c.authority);
  }
  for (const char* bad : {"", "h", "ftp://h", "http://", "http:///v1", "http://u:p@h/", "http://h:0", "http://h:1:2",
                          "http://h/?q", "http://h/#f", "http://h/a b", "http://h?q", "HTTP://h"}) {
    INFO(bad);
    CHECK_FALSE(parse_base_url(bad));
  }
}
