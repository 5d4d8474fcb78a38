// Non-blocking TCP sockets with readiness callbacks, listening sockets, and connecting by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "native/loop/loop.hpp"

namespace tidemark::loop {

enum class IoStatus : std::uint8_t {
  Done,        // `bytes` were moved, at least one
  WouldBlock,  // wait for readiness
  Eof,         // reading: the peer has shut down its sending half
  Failed,      // the connection is lost; see `error`
};

struct IoResult {
  IoStatus status = IoStatus::WouldBlock;
  std::size_t bytes = 0;
  std::string error;  // where it failed: what the system says
};

/// A connected socket, TCP_NODELAY and keepalive set. Waits are one-shot, at most one of each kind at a time; a waiting
/// callback is dropped, not called, when the socket is closed or destroyed, and is never called from inside wait_*. A
/// lost connection makes every wait ready. A callback may destroy its socket.
class Socket {
 public:
  struct Impl;
  explicit Socket(std::shared_ptr<Impl> impl);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  IoResult read(char* into, std::size_t size);
  IoResult write(std::string_view bytes);
  /// Of what was written, the bytes that the peer's system has not taken yet; 0 where it is not known.
  std::size_t unacknowledged() const;
  /// Of what was written, the bytes that have not left yet, and that a reset throws away; 0 where it is not known.
  std::size_t unsent() const;
  void wait_readable(std::function<void()> ready);
  void wait_writable(std::function<void()> ready);
  /// `lost` is called once when the connection is lost in both directions (reset, or closed by both sides). A peer that
  /// has shut down its sending half only, or that closed and has not yet refused any bytes, is not lost.
  void wait_lost(std::function<void()> lost);
  /// Whether the peer has shut down its sending half, or closed: the two look alike until it refuses a byte.
  bool peer_finished() const;
  /// No more will be written; the peer sees EOF.
  void shutdown_send();
  void close();
  /// Closes with a reset (RST) instead of an orderly end.
  void reset();
  bool is_open() const;
  /// `ADDRESS:PORT`, or an empty string where it is not known any more.
  std::string peer_address() const;
  Loop& loop() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// A connection attempt under way, or the addresses being looked up; destroying it gives it up.
class Connecting {
 public:
  struct Impl;
  /// Gets a socket, or nullptr with what went wrong; `resolved` tells whether the name was found.
  using Done = std::function<void(std::unique_ptr<Socket> socket, bool resolved, const std::string& error)>;
  /// Resolves `host` (a name, or an address, IPv6 without brackets) and tries its addresses in turn. `done` is called
  /// once, never from inside the constructor, and may destroy this object.
  Connecting(Loop& loop, const std::string& host, std::uint16_t port, Done done);
  ~Connecting();
  Connecting(const Connecting&) = delete;
  Connecting& operator=(const Connecting&) = delete;

 private:
  std::shared_ptr<Impl> impl_;
};

/// A listening socket. When descriptors run out it waits and tries again.
class Acceptor {
 public:
  struct Impl;
  Acceptor(Loop& loop, std::function<void(std::unique_ptr<Socket>)> on_connection);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// `host` is an address or a name that resolves to one (this lookup blocks: it is for start-up). Port 0: a free one.
  /// Returns an error, or an empty string.
  std::string listen(const std::string& host, std::uint16_t port);
  /// The bound port; 0 when not listening.
  std::uint16_t port() const;
  void close();

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::loop
