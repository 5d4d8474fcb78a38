// The upstreams in the order of their configuration, each with its breaker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/retry/breaker.hpp"
#include "native/config/config.hpp"
#include "native/observe/logger.hpp"
#include "native/upstream/client.hpp"

namespace tidemark::proxy {

class Upstreams {
 public:
  Upstreams(const config::Config& config, observe::Logger& logger);

  std::size_t size() const { return list_.size(); }
  const config::Upstream& operator[](std::size_t index) const { return list_[index].config; }
  upstream::Origin origin(std::size_t index) const;
  const retry::Breaker& breaker(std::size_t index) const { return list_[index].breaker; }
  std::uint64_t attempts(std::size_t index) const { return list_[index].attempts; }

  /// Asks the breaker. Where the request is allowed, outcome() follows exactly once with its ticket.
  retry::Admission admit(std::size_t index, TimeMs now);
  /// Opening is logged as a warning, closing as information.
  void outcome(std::size_t index, std::uint64_t ticket, retry::Outcome outcome, TimeMs now);

 private:
  struct One {
    config::Upstream config;
    retry::Breaker breaker;
    std::uint64_t attempts = 0;
  };
  std::vector<One> list_;
  observe::Logger& logger_;
};

}  // namespace tidemark::proxy
