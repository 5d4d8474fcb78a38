// Sockets: Asio tells readiness, the system calls are ours.
#include "native/loop/socket.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "native/loop/loop_impl.hpp"
#include "native/loop/socket_impl.hpp"

namespace tidemark::loop {

using asio::ip::tcp;

Socket::Impl::Impl(Loop& owner, tcp::socket opened) : loop(owner), socket(std::move(opened)) {
  asio::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
}

void Socket::Impl::wait(Interest interest, std::function<void()> ready) {
  if (!socket.is_open()) return;
  Waiting& waiting = waits[static_cast<std::size_t>(interest)];
  waiting.ready = std::move(ready);
  if (waiting.armed) return;
  waiting.armed = true;
  constexpr tcp::socket::wait_type kAsioNames[] = {tcp::socket::wait_read, tcp::socket::wait_write,
                                                   tcp::socket::wait_error};
  socket.async_wait(kAsioNames[static_cast<std::size_t>(interest)],
                    [self = shared_from_this(), interest](const asio::error_code& error) {
                      self->waits[static_cast<std::size_t>(interest)].armed = false;
                      if (!error) self->became_ready(interest);
                    });
}

void Socket::Impl::became_ready(Interest interest) {
  if (!socket.is_open()) return;
  // Asio ends a wait for errors at urgent data too. Waiting again would spin, since that data stays; a write will tell.
  if (interest == Interest::Lost && !is_lost()) return;
  const auto ready = std::exchange(waits[static_cast<std::size_t>(interest)].ready, nullptr);
  if (ready) ready();
}

bool Socket::Impl::is_lost() {
  pollfd asked{socket.native_handle(), 0, 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

void Socket::Impl::close() {
  for (Waiting& waiting : waits) {
    // A callback may hold what is being closed: it ends with the turn.
    if (waiting.ready) loop.retire(std::make_shared<std::function<void()>>(std::exchange(waiting.ready, nullptr)));
  }
  asio::error_code ignored;
  socket.close(ignored);
}

namespace {

IoResult failure(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR) return {IoStatus::WouldBlock, 0, {}};
  return {IoStatus::Failed, 0, std::generic_category().message(error)};
}

}  // namespace

Socket::Socket(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Socket::~Socket() { impl_->close(); }

IoResult Socket::read(char* into, std::size_t size) {
  const ssize_t got = ::recv(impl_->socket.native_handle(), into, size, 0);
  if (got > 0) return {IoStatus::Done, static_cast<std::size_t>(got), {}};
  if (got == 0) return {IoStatus::Eof, 0, {}};
  return failure(errno);
}

IoResult Socket::write(std::string_view bytes) {
  const ssize_t put = ::send(impl_->socket.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (put >= 0) return {IoStatus::Done, static_cast<std::size_t>(put), {}};
  return failure(errno);
}

std::size_t Socket::unacknowledged() const {
  int count = 0;
  return ::ioctl(impl_->socket.native_handle(), SIOCOUTQ, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

std::size_t Socket::unsent() const {
  int count = 0;
  return ::ioctl(impl_->socket.native_handle(), SIOCOUTQNSD, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

void Socket::wait_readable(std::function<void()> ready) { impl_->wait(Interest::Read, std::move(ready)); }
void Socket::wait_writable(std::function<void()> ready) { impl_->wait(Interest::Write, std::move(ready)); }
void Socket::wait_lost(std::function<void()> lost) { impl_->wait(Interest::Lost, std::move(lost)); }

bool Socket::peer_finished() const {
  pollfd asked{impl_->socket.native_handle(), POLLRDHUP, 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & POLLRDHUP) != 0;
}

void Socket::shutdown_send() {
  asio::error_code ignored;
  impl_->socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void Socket::close() { impl_->close(); }

void Socket::reset() {
  asio::error_code ignored;
  impl_->socket.set_option(asio::socket_base::linger(true, 0), ignored);
  impl_->close();
}

bool Socket::is_open() const { return impl_->socket.is_open(); }

std::string Socket::peer_address() const {
  asio::error_code error;
  const tcp::endpoint peer = impl_->socket.remote_endpoint(error);
  if (error) return {};
  const std::string address = peer.address().to_string();
  return (peer.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(peer.port());
}

Loop& Socket::loop() const { return impl_->loop; }

}  // namespace tidemark::loop
