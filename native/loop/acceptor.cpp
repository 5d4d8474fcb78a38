// Listening sockets.
#include "native/loop/socket.hpp"

#include <asio/ip/tcp.hpp>
#include <utility>

#include "native/loop/loop_impl.hpp"
#include "native/loop/socket_impl.hpp"

namespace tidemark::loop {

using asio::ip::tcp;

struct Acceptor::Impl : std::enable_shared_from_this<Acceptor::Impl> {
  Impl(Loop& owner, std::function<void(std::unique_ptr<Socket>)> handler)
      : loop(owner), on_connection(std::move(handler)), acceptor(owner.impl().context), pause(owner) {}

  void wait() {
    acceptor.async_wait(tcp::acceptor::wait_read, [self = shared_from_this()](const asio::error_code& error) {
      if (!error && self->acceptor.is_open()) self->accept_some();
    });
  }

  void accept_some() {
    constexpr int kAtOnce = 64;  // leaves room for the others of the turn
    for (int taken = 0; taken < kAtOnce; ++taken) {
      asio::error_code error;
      tcp::socket socket = acceptor.accept(error);
      if (error == asio::error::would_block || error == asio::error::try_again) break;
      if (error == asio::error::no_descriptors || error == asio::error::no_buffer_space ||
          error == asio::error::no_memory) {
        constexpr TimeMs kPause = 100;
        pause.set(loop.now_ms() + kPause, [this] { wait(); });
        return;
      }
      if (error) continue;  // a connection that was gone before it was taken
      on_connection(std::make_unique<Socket>(std::make_shared<Socket::Impl>(loop, std::move(socket))));
      if (!acceptor.is_open()) return;
    }
    wait();
  }

  Loop& loop;
  std::function<void(std::unique_ptr<Socket>)> on_connection;
  tcp::acceptor acceptor;
  Timer pause;
};

Acceptor::Acceptor(Loop& loop, std::function<void(std::unique_ptr<Socket>)> on_connection)
    : impl_(std::make_shared<Impl>(loop, std::move(on_connection))) {}

Acceptor::~Acceptor() { close(); }

std::string Acceptor::listen(const std::string& host, std::uint16_t port) {
  const std::string where = host + ":" + std::to_string(port) + ": ";
  asio::error_code error;
  const auto found =
      impl_->loop.impl().resolver.resolve(host, std::to_string(port), asio::ip::resolver_base::numeric_service, error);
  if (error) return where + error.message();
  const tcp::endpoint endpoint = found.begin()->endpoint();
  tcp::acceptor& acceptor = impl_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error) {
    close();
    return where + error.message();
  }
  impl_->wait();
  return {};
}

std::uint16_t Acceptor::port() const {
  asio::error_code error;
  const tcp::endpoint endpoint = impl_->acceptor.local_endpoint(error);
  return error ? std::uint16_t{0} : endpoint.port();
}

void Acceptor::close() {
  impl_->pause.cancel();
  asio::error_code ignored;
  impl_->acceptor.close(ignored);
}

}  // namespace tidemark::loop
