// A connected byte stream, plain or TLS: what an HTTP connection reads from and writes to.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "native/loop/socket.hpp"

namespace tidemark::tls {

/// The rules for waits are those of loop::Socket. A TLS connection that ends without its closing alert has Failed: a
/// cut can't pass for an end.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Calls `done` once, never from inside, with an error or an empty string. Nothing else may be called before.
  virtual void handshake(std::function<void(const std::string& error)> done) = 0;
  virtual loop::IoResult read(char* into, std::size_t size) = 0;
  virtual loop::IoResult write(std::string_view bytes) = 0;
  virtual void wait_readable(std::function<void()> ready) = 0;
  virtual void wait_writable(std::function<void()> ready) = 0;
  /// In an orderly way, with the closing alert.
  virtual void close() = 0;
  /// With a reset (RST): the peer learns at once that nothing more is wanted.
  virtual void reset() = 0;
};

std::unique_ptr<Transport> plain_transport(std::unique_ptr<loop::Socket> socket);

}  // namespace tidemark::tls
