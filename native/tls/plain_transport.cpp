// The transport without TLS.
#include <utility>

#include "native/tls/transport.hpp"

namespace tidemark::tls {
namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(std::unique_ptr<loop::Socket> socket) : socket_(std::move(socket)) {}

  void handshake(std::function<void(const std::string&)> done) override {
    socket_->loop().defer([alive = std::weak_ptr<char>(alive_), done = std::move(done)] {
      if (!alive.expired()) done({});
    });
  }
  loop::IoResult read(char* into, std::size_t size) override { return socket_->read(into, size); }
  loop::IoResult write(std::string_view bytes) override { return socket_->write(bytes); }
  void wait_readable(std::function<void()> ready) override { socket_->wait_readable(std::move(ready)); }
  void wait_writable(std::function<void()> ready) override { socket_->wait_writable(std::move(ready)); }
  void close() override { socket_->close(); }
  void reset() override { socket_->reset(); }

 private:
  std::unique_ptr<loop::Socket> socket_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace

std::unique_ptr<Transport> plain_transport(std::unique_ptr<loop::Socket> socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace tidemark::tls
