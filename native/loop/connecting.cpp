// Connecting by name: look-up in the background, then one address after the other.
#include "native/loop/socket.hpp"

#include <asio/ip/tcp.hpp>
#include <utility>
#include <vector>

#include "native/loop/loop_impl.hpp"
#include "native/loop/socket_impl.hpp"

namespace tidemark::loop {

using asio::ip::tcp;

struct Connecting::Impl : std::enable_shared_from_this<Connecting::Impl> {
  Impl(Loop& owner, Done handler)
      : loop(owner), done(std::move(handler)), resolver(owner.impl().context), socket(owner.impl().context) {}

  void start(const std::string& host, std::uint16_t port) {
    asio::error_code not_an_address;
    const auto address = asio::ip::make_address(host, not_an_address);
    if (!not_an_address) {
      endpoints.emplace_back(address, port);
      try_next({});
      return;
    }
    resolver.async_resolve(
        host, std::to_string(port), asio::ip::resolver_base::numeric_service,
        [self = shared_from_this()](const asio::error_code& error, const tcp::resolver::results_type& found) {
          if (!self->done) return;
          if (error) return self->finish(nullptr, false, error.message());
          for (const auto& entry : found) self->endpoints.push_back(entry.endpoint());
          self->try_next({});
        });
  }

  void try_next(const asio::error_code& last_error) {
    if (next == endpoints.size()) {
      // May still be inside the constructor.
      loop.defer([self = shared_from_this(), error = last_error.message()] { self->finish(nullptr, true, error); });
      return;
    }
    const tcp::endpoint endpoint = endpoints[next++];
    asio::error_code error;
    socket.close(error);
    socket.open(endpoint.protocol(), error);
    if (error) return try_next(error);
    socket.async_connect(endpoint, [self = shared_from_this()](const asio::error_code& failed) {
      if (!self->done) return;
      if (failed) return self->try_next(failed);
      self->finish(std::make_unique<Socket>(std::make_shared<Socket::Impl>(self->loop, std::move(self->socket))), true,
                   {});
    });
  }

  void finish(std::unique_ptr<Socket> connected, bool resolved, const std::string& error) {
    const auto call = std::exchange(done, nullptr);
    if (call) call(std::move(connected), resolved, error);
  }

  void give_up() {
    if (done) loop.retire(std::make_shared<Done>(std::exchange(done, nullptr)));
    resolver.cancel();
    asio::error_code ignored;
    socket.close(ignored);
  }

  Loop& loop;
  Done done;
  tcp::resolver resolver;
  tcp::socket socket;
  std::vector<tcp::endpoint> endpoints;
  std::size_t next = 0;
};

Connecting::Connecting(Loop& loop, const std::string& host, std::uint16_t port, Done done)
    : impl_(std::make_shared<Impl>(loop, std::move(done))) {
  impl_->start(host, port);
}

Connecting::~Connecting() { impl_->give_up(); }

}  // namespace tidemark::loop
