// The URL of a Redis server, as a configuration writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "native/config/address.hpp"

namespace tidemark::config {

struct RedisUrl {
  bool tls = false;
  HostPort address;
  std::string user;  // empty: `default`
  std::string password;
  std::uint32_t database = 0;

  /// redis://HOST:PORT/DB, without user and password.
  std::string text() const;
};

struct ParsedRedisUrl {
  RedisUrl url;
  std::string password_variable;  // the password was written as env:NAME
};

/// `redis://[USER[:PASSWORD]@]HOST[:PORT][/DB]` or `rediss://…`, percent-encoded in user and password; the port is 6379
/// where it is left out. What stands before the last @ is user and password, whatever is in it. nullopt where it is
/// anything else.
std::optional<ParsedRedisUrl> parse_redis_url(std::string_view text);

/// A text that was meant to be such a URL as a message may show it: whatever could be a password is masked.
std::string without_password(std::string_view text);

}  // namespace tidemark::config
