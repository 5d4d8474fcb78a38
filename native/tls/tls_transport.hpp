// A TLS client connection on OpenSSL; for the sources of this directory only.
#pragma once

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <string>

#include "native/tls/transport.hpp"

namespace tidemark::tls {

/// OpenSSL reads and writes through a BIO of our own on the socket, so that no signal and no blocking call is possible.
class TlsTransport final : public Transport {
 public:
  /// Takes `ssl`, set up for the peer's name.
  TlsTransport(SSL* ssl, std::unique_ptr<loop::Socket> socket);
  ~TlsTransport() override;
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  void handshake(std::function<void(const std::string& error)> done) override;
  loop::IoResult read(char* into, std::size_t size) override;
  loop::IoResult write(std::string_view bytes) override;
  void wait_readable(std::function<void()> ready) override;
  void wait_writable(std::function<void()> ready) override;
  void close() override;
  void reset() override;

 private:
  friend struct SocketBio;

  /// Which readiness of the socket an operation of TLS waits for: not always the one of its own direction.
  enum class Needs : std::uint8_t { Readable, Writable };
  struct Wait {
    std::function<void()> ready;
    Needs needs;
  };

  void shake();
  loop::IoResult result_of(int returned, Wait& wait);
  std::string reason(int ssl_error) const;
  void arm();
  void became_ready(Needs which);
  void drop_waits();

  SSL* ssl_;
  std::unique_ptr<loop::Socket> socket_;
  std::string socket_error_;
  std::function<void(const std::string&)> shaken_;
  Wait reading_{nullptr, Needs::Readable};
  Wait writing_{nullptr, Needs::Writable};
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace tidemark::tls
