// Parsing of Redis URLs.
#include "native/config/redis_url.hpp"

#include <algorithm>
#include <charconv>

namespace tidemark::config {
namespace {

constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint32_t kMostDatabase = 0x7fffffff;

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = hex_digit(text[i + 1]);
    const auto low = hex_digit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

// The rest of the text behind `redis://` or `rediss://`.
std::optional<std::string_view> behind_scheme(std::string_view text, bool& tls) {
  for (const std::string_view scheme : {"redis://", "rediss://"}) {
    if (text.substr(0, scheme.size()) != scheme) continue;
    tls = scheme == "rediss://";
    return text.substr(scheme.size());
  }
  return std::nullopt;
}

bool parse_userinfo(std::string_view text, ParsedRedisUrl& out) {
  constexpr std::string_view kVariable = "env:";
  const std::size_t colon = text.find(':');
  const auto user = percent_decoded(text.substr(0, colon));
  if (!user) return false;
  out.url.user = *user;
  if (colon == std::string_view::npos) return true;
  const std::string_view password = text.substr(colon + 1);
  if (password.substr(0, kVariable.size()) == kVariable) {
    out.password_variable = password.substr(kVariable.size());
    return !out.password_variable.empty();
  }
  const auto decoded = percent_decoded(password);
  if (!decoded) return false;
  out.url.password = *decoded;
  return true;
}

std::optional<HostPort> parse_address(std::string_view text) {
  if (auto whole = parse_host_port(text)) return whole->port == 0 ? std::nullopt : whole;
  return parse_host_port(std::string(text) + ":" + std::to_string(kRedisPort));
}

}  // namespace

std::string RedisUrl::text() const {
  return (tls ? "rediss://" : "redis://") + address.text() + "/" + std::to_string(database);
}

std::optional<ParsedRedisUrl> parse_redis_url(std::string_view text) {
  ParsedRedisUrl out;
  const auto behind = behind_scheme(text, out.url.tls);
  if (!behind) return std::nullopt;
  std::string_view rest = *behind;
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    if (!parse_userinfo(rest.substr(0, at), out)) return std::nullopt;
    rest.remove_prefix(at + 1);
  }
  const std::size_t slash = rest.find('/');
  const auto address = parse_address(rest.substr(0, slash));
  if (!address) return std::nullopt;
  out.url.address = *address;
  if (slash == std::string_view::npos || slash + 1 == rest.size()) return out;
  const std::string_view database = rest.substr(slash + 1);
  const auto [end, error] = std::from_chars(database.data(), database.data() + database.size(), out.url.database);
  const bool whole = error == std::errc{} && end == database.data() + database.size();
  return whole && out.url.database <= kMostDatabase ? std::optional(out) : std::nullopt;
}

std::string without_password(std::string_view text) {
  bool tls = false;
  const std::string_view behind = behind_scheme(text, tls).value_or(text);
  const std::string scheme(text.substr(0, text.size() - behind.size()));
  const std::size_t at = behind.rfind('@');
  if (at != std::string_view::npos) return scheme + "***" + std::string(behind.substr(at));
  // Where the @ was forgotten, what stands behind a colon may be the password.
  const std::string_view address = behind.substr(0, behind.find('/'));
  const bool harmless = scheme.empty() || address.find(':') == std::string_view::npos || parse_host_port(address);
  return harmless ? std::string(text) : scheme + "***";
}

}  // namespace tidemark::config
