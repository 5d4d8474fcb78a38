// TLS clients: one context with the trusted roots, from which connections are made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "native/loop/socket.hpp"
#include "native/tls/transport.hpp"

namespace tidemark::tls {

/// What a connection is for, as it is offered to the peer (ALPN).
enum class Speaks : std::uint8_t { Http, Anything };

/// TLS 1.2 and later, the peer verified against the system's roots (SSL_CERT_FILE and SSL_CERT_DIR name others) and
/// against the name that was asked for.
class ClientContext {
 public:
  explicit ClientContext(Speaks speaks = Speaks::Http);
  ~ClientContext();
  ClientContext(const ClientContext&) = delete;
  ClientContext& operator=(const ClientContext&) = delete;

  /// A transport over `socket` for `host` (a name: sent as SNI and verified; an address: verified). Start it with
  /// handshake().
  std::unique_ptr<Transport> connect(std::unique_ptr<loop::Socket> socket, const std::string& host);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::tls
