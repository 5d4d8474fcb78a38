// Parsing of addresses and base URLs.
#include "native/config/address.hpp"

#include <algorithm>
#include <charconv>

namespace tidemark::config {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

bool is_host_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool is_ipv6_byte(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

bool is_path_byte(char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; }

struct Split {
  std::string_view host;
  std::string_view port;  // empty, or what follows the colon
  bool has_port = false;
};

std::optional<Split> split(std::string_view text) {
  Split out;
  std::string_view rest;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    out.host = text.substr(1, close - 1);
    if (out.host.find(':') == std::string_view::npos || !std::all_of(out.host.begin(), out.host.end(), is_ipv6_byte)) {
      return std::nullopt;
    }
    rest = text.substr(close + 1);
  } else {
    const std::size_t colon = text.find(':');
    out.host = text.substr(0, colon);
    if (out.host.empty() || !std::all_of(out.host.begin(), out.host.end(), is_host_byte)) return std::nullopt;
    rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
  }
  if (rest.empty()) return out;
  if (rest.front() != ':') return std::nullopt;
  out.port = rest.substr(1);
  out.has_port = true;
  return out;
}

std::string bracketed(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

}  // namespace

std::string HostPort::text() const { return bracketed(host) + ":" + std::to_string(port); }

bool HostPort::is_loopback() const {
  if (host == "localhost" || host == "::1") return true;
  return host.rfind("127.", 0) == 0 && std::count(host.begin(), host.end(), '.') == 3 &&
         std::all_of(host.begin(), host.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const auto parts = split(text);
  if (!parts || !parts->has_port) return std::nullopt;
  const auto port = parse_port(parts->port);
  if (!port) return std::nullopt;
  return HostPort{std::string(parts->host), *port};
}

std::string BaseUrl::authority() const {
  return address.port == (tls ? kHttpsPort : kHttpPort) ? bracketed(address.host) : address.text();
}

std::string BaseUrl::text() const { return (tls ? "https://" : "http://") + authority() + path; }

std::optional<BaseUrl> parse_base_url(std::string_view text) {
  BaseUrl url;
  if (text.substr(0, 8) == "https://") {
    url.tls = true;
    text.remove_prefix(8);
  } else if (text.substr(0, 7) == "http://") {
    text.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  const std::size_t slash = text.find('/');
  const auto parts = split(text.substr(0, slash));
  if (!parts) return std::nullopt;
  url.address.host = std::string(parts->host);
  url.address.port = url.tls ? kHttpsPort : kHttpPort;
  if (parts->has_port) {
    const auto port = parse_port(parts->port);
    if (!port || *port == 0) return std::nullopt;
    url.address.port = *port;
  }
  if (slash != std::string_view::npos) {
    std::string_view path = text.substr(slash);
    if (!std::all_of(path.begin(), path.end(), is_path_byte)) return std::nullopt;
    while (!path.empty() && path.back() == '/') path.remove_suffix(1);
    url.path = std::string(path);
  }
  return url;
}

}  // namespace tidemark::config
