// SHA-256 (FIPS 180-4), by OpenSSL: names principals and tells request bodies apart.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tidemark::tls {

using Digest = std::array<std::uint8_t, 32>;

/// Of the parts, one after another. Throws std::bad_alloc where OpenSSL has no memory.
Digest sha256(std::initializer_list<std::string_view> parts);
inline Digest sha256(std::string_view bytes) { return sha256({bytes}); }

/// 64 lower-case hex digits.
std::string to_hex(const Digest& digest);

}  // namespace tidemark::tls
