// Names from getentropy().
#include "native/proxy/random_name.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace tidemark::proxy {
namespace {

template <std::size_t N>
std::array<std::uint8_t, N> draw() {
  std::array<std::uint8_t, N> bytes;
  // Fails only for more than 256 bytes or on a kernel without getrandom: then nothing here can be trusted.
  if (getentropy(bytes.data(), N) != 0) std::abort();
  return bytes;
}

template <std::size_t N>
std::string spell(const char (&alphabet)[N], std::uint8_t mask, const std::uint8_t* bytes, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += alphabet[bytes[i] & mask];
  return out;
}

}  // namespace

std::string draw_stream_id() {
  const auto bytes = draw<32>();
  return spell("0123456789abcdef", 15, bytes.data(), bytes.size());
}

std::string draw_epoch() {
  const auto bytes = draw<12>();  // 60 bits
  return spell("abcdefghijkmnpqrstuvwxyz23456789", 31, bytes.data(), bytes.size());
}

std::string draw_number_epoch() { return std::to_string((draw_seed() >> 24) | 1); }  // never 0

std::uint64_t draw_seed() {
  const auto bytes = draw<sizeof(std::uint64_t)>();
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), bytes.size());
  return seed;
}

}  // namespace tidemark::proxy
