// Principals and client tokens.
#include "native/proxy/principal.hpp"

#include <array>

#include "native/tls/sha256.hpp"

namespace tidemark::proxy {
namespace {

constexpr std::array<std::string_view, 4> kCredentialHeaders{"authorization", "x-api-key", "api-key", "x-goog-api-key"};

constexpr std::string_view kBearer = "bearer ";

}  // namespace

bool is_credential_header(std::string_view name) {
  for (const std::string_view known : kCredentialHeaders) {
    if (http::equal_names(name, known)) return true;
  }
  return false;
}

std::string principal_of(const http::Headers& headers, std::string_view principal_header) {
  if (!principal_header.empty()) {
    const std::string_view value = headers.get(principal_header);
    return value.empty() ? std::string(kAnonymous) : tls::to_hex(tls::sha256(value));
  }
  for (const std::string_view name : kCredentialHeaders) {
    const std::string_view value = headers.get(name);
    if (!value.empty()) return tls::to_hex(tls::sha256(value));
  }
  return std::string(kAnonymous);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  // Digests are compared, so that not even the length shows.
  const tls::Digest left = tls::sha256(a);
  const tls::Digest right = tls::sha256(b);
  unsigned difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) difference |= static_cast<unsigned>(left[i] ^ right[i]);
  return difference == 0;
}

bool shows_token(const http::Headers& headers, const std::vector<std::string>& tokens, std::string_view& shown_in) {
  bool shown = false;
  for (const std::string_view name : kCredentialHeaders) {
    std::string_view value = headers.get(name);
    if (value.empty()) continue;
    if (name == "authorization") {
      if (!http::equal_names(value.substr(0, kBearer.size()), kBearer)) continue;
      value.remove_prefix(kBearer.size());
    }
    for (const std::string& token : tokens) {
      if (!equal_in_constant_time(value, token)) continue;
      shown = true;
      shown_in = name;
    }
  }
  return shown;
}

}  // namespace tidemark::proxy
