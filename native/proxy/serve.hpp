// The proxy as a whole: everything made and joined, run until a signal, and closed in good order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "native/config/config.hpp"
#include "native/loop/loop.hpp"
#include "native/observe/logger.hpp"

namespace tidemark::proxy {

/// One proxy on one loop.
class Service {
 public:
  Service(loop::Loop& loop, const config::Config& config, observe::Logger& logger);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// An error, or an empty string.
  std::string listen();
  std::uint16_t port() const;

  /// Stops accepting: no new connections; on those that are open, requests are refused, readyz says so, and probes are
  /// answered. Lets streams end for `drain_seconds`; what is left then ends with reason `shutdown`. Calls `closed` when
  /// all is done. The second time: no more waiting.
  void drain(std::function<void()> closed);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tidemark::proxy
