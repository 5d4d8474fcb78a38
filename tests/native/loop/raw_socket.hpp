// Plain blocking sockets on loopback, for the other end of what is tested. A call that waits longer than the limit
// fails the test instead of hanging it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::testing {

inline constexpr int kPatienceMs = 20'000;

class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {}
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), received_(std::move(other.received_)) {}
  ~RawSocket() { close(); }

  static RawSocket connect(std::uint16_t port, int receive_buffer = 0) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer > 0) ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const sockaddr_in peer = loopback(port);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0) throw std::runtime_error("connect");
    return RawSocket(fd);
  }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("send");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Until `mark` has come: everything up to its end, the rest is kept. Without it, what came before the end.
  std::string receive_through(std::string_view mark) {
    std::size_t found = received_.find(mark);
    while (found == std::string::npos && receive_some()) found = received_.find(mark);
    if (found == std::string::npos) return std::exchange(received_, {});
    std::string text = received_.substr(0, found + mark.size());
    received_.erase(0, text.size());
    return text;
  }
  /// Until the connection ends; was_reset() tells how.
  std::string receive_all() {
    while (receive_some()) {
    }
    return std::exchange(received_, {});
  }
  bool was_reset() const { return reset_; }
  void shutdown_send() const { ::shutdown(fd_, SHUT_WR); }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

 private:
  bool receive_some() {
    pollfd asked{fd_, POLLIN, 0};
    if (::poll(&asked, 1, kPatienceMs) <= 0) throw std::runtime_error("nothing came in time");
    char buffer[16 * 1024];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    reset_ = got < 0;
    if (got > 0) received_.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }

  int fd_;
  bool reset_ = false;
  std::string received_;
};

class RawListener {
 public:
  RawListener() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in here = RawSocket::loopback(0);
    ::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&here), sizeof here);
    ::listen(socket_.fd(), 64);
    socklen_t size = sizeof here;
    ::getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&here), &size);
    port_ = ntohs(here.sin_port);
  }
  std::uint16_t port() const { return port_; }
  RawSocket accept() const {
    pollfd asked{socket_.fd(), POLLIN, 0};
    if (::poll(&asked, 1, kPatienceMs) <= 0) throw std::runtime_error("nobody came in time");
    return RawSocket(::accept(socket_.fd(), nullptr, nullptr));
  }
  /// From another thread too: accept() then returns a socket that is not open.
  void stop() const { ::shutdown(socket_.fd(), SHUT_RDWR); }
  void close() { socket_.close(); }

 private:
  RawSocket socket_;
  std::uint16_t port_ = 0;
};

}  // namespace tidemark::testing
