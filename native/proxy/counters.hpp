// What the proxy counts for /tidemark/metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace tidemark::proxy {

enum class RequestKind : std::uint8_t {
  Started,         // a stream begins
  Attached,        // a reader joins a stream that was there
  PassedThrough,   // the upstream's own response is handed on
  Refused,         // answered with an error of the proxy's own
  Administration,  // /tidemark/…, preflights
};
inline constexpr std::size_t kRequestKinds = 5;

constexpr std::string_view name(RequestKind kind) {
  constexpr std::array<std::string_view, kRequestKinds> kNames{"started", "attached", "passed-through", "refused",
                                                               "administration"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct Counters {
  std::array<std::uint64_t, kRequestKinds> requests{};
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> ends;   // by state and reason
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> seams;  // by form and verdict
  std::uint64_t events = 0;
  std::uint64_t taken_over = 0;  // streams that another replica had left
  std::uint64_t lost = 0;        // streams that were fed here, to another replica
  std::size_t running = 0;       // upstream legs
  std::size_t readers = 0;

  void count(RequestKind kind) { ++requests[static_cast<std::size_t>(kind)]; }
};

}  // namespace tidemark::proxy
