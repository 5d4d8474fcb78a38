// SHA-256 (FIPS 180-4): names principals and tells request bodies apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::proxy {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  void update(std::string_view bytes);
  /// The digest of everything so far; afterwards the object is used up.
  Digest finish();

 private:
  void compress(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t length_ = 0;
};

Digest sha256(std::string_view bytes);
std::string to_hex(const Digest& digest);

}  // namespace tidemark::proxy
