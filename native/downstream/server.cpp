// The server: connections and how many.
#include "native/downstream/server.hpp"

#include <utility>

#include "native/downstream/connection.hpp"
#include "native/http/date.hpp"

namespace tidemark::downstream {

Server::Impl::Impl(loop::Loop& the_loop, const ServerLimits& the_limits, Handler& the_handler)
    : loop(the_loop),
      limits(the_limits),
      handler(the_handler),
      acceptor(the_loop, [this](std::unique_ptr<loop::Socket> socket) { accept(std::move(socket)); }) {}

void Server::Impl::accept(std::unique_ptr<loop::Socket> socket) {
  // So many are told why; beyond, refusing must cost nothing.
  constexpr std::size_t kRefusedAtOnce = 64;
  const bool full = connections.size() - refused >= limits.connections;
  if (full && refused >= kRefusedAtOnce) return socket->reset();
  const auto connection = std::make_shared<Connection>(*this, std::move(socket));
  connection->place = connections.size();
  connections.push_back(connection);
  if (full) {
    connection->refuse();
  } else {
    connection->start();
  }
}

const std::string& Server::Impl::date() {
  const std::int64_t second = loop.unix_now_ms() / 1000;
  if (second != date_second) date_text = http::format_date(second);
  date_second = second;
  return date_text;
}

Server::Server(loop::Loop& loop, const ServerLimits& limits, Handler& handler)
    : impl_(std::make_unique<Impl>(loop, limits, handler)) {}

Server::~Server() {
  while (!impl_->connections.empty()) impl_->connections.back()->close(true);
}

std::string Server::listen(const std::string& host, std::uint16_t port) { return impl_->acceptor.listen(host, port); }
std::uint16_t Server::port() const { return impl_->acceptor.port(); }

void Server::stop_accepting() {
  impl_->draining = true;
  impl_->acceptor.close();
}

void Server::close_all() {
  while (!impl_->connections.empty()) impl_->connections.back()->close();
}

std::size_t Server::connections() const { return impl_->connections.size() - impl_->refused; }
std::size_t Server::exchanges() const { return impl_->exchanges; }
Backlog Server::backlog() const { return impl_->backlog; }

}  // namespace tidemark::downstream
