// Addresses as a configuration writes them: HOST:PORT to listen on, and base URLs of upstreams.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::config {

struct HostPort {
  std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
  std::uint16_t port = 0;

  /// HOST:PORT, an IPv6 address in brackets.
  std::string text() const;
  /// Whether only this machine can reach it: 127.0.0.0/8, ::1 and `localhost`.
  bool is_loopback() const;
};

/// `HOST:PORT` or `[IPV6]:PORT`; port 0 is allowed. nullopt where it is anything else.
std::optional<HostPort> parse_host_port(std::string_view text);

struct BaseUrl {
  bool tls = false;
  HostPort address;
  std::string path;  // empty, or "/v1": never ends in a slash

  /// What `Host` says: the port is left out where it is the scheme's own.
  std::string authority() const;
  std::string text() const;
};

/// `http://HOST[:PORT][/PATH]` or `https://…`; no user, query or fragment. nullopt where it is anything else.
std::optional<BaseUrl> parse_base_url(std::string_view text);

}  // namespace tidemark::config
