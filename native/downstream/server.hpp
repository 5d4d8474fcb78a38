// The server side: accepts connections, reads whole requests within limits, and writes responses at the reader's pace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/time.hpp"
#include "native/downstream/exchange.hpp"
#include "native/loop/loop.hpp"

namespace tidemark::downstream {

/// Contract § 2.3. What is beyond a limit is answered by the server itself, in the shape of an OpenAI error, and its
/// connection closed. Every response without a Date gets one.
struct ServerLimits {
  std::size_t request_head_bytes = std::size_t{64} * 1024;  // 431
  std::size_t body_bytes = std::size_t{32} * 1024 * 1024;   // 413
  TimeMs head_timeout_ms = 10'000;   // from the connection, or the first byte of a further request: 408
  TimeMs body_timeout_ms = 60'000;   // without any byte of a body that is under way: 408
  TimeMs idle_timeout_ms = 75'000;   // between requests: closed
  TimeMs reader_stall_ms = 120'000;  // a reader that takes nothing of what it is sent: reset; 0: never
  std::size_t connections = 10'000;  // 503 with Retry-After
};

class Handler {
 public:
  virtual ~Handler() = default;
  /// A request with its whole body.
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
};

/// What waits for clients whose sockets take no more.
struct Backlog {
  std::size_t clients = 0;
  std::size_t bytes = 0;  // of buffers; with a body source at most 17 kB a client, else what is left of the body
};

class Server {
 public:
  /// `handler` and `loop` outlive the server.
  Server(loop::Loop& loop, const ServerLimits& limits, Handler& handler);
  /// Cuts every connection; on_closed is not called any more.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Port 0: a free one. Returns an error, or an empty string.
  std::string listen(const std::string& host, std::uint16_t port);
  /// The bound port.
  std::uint16_t port() const;

  /// No new connections; those that are open are closed after the response under way, or after one more where none is.
  void stop_accepting();
  /// Cuts every connection.
  void close_all();
  /// Open connections, those being refused left out.
  std::size_t connections() const;
  /// Of these, the ones with a request that is being answered.
  std::size_t exchanges() const;
  Backlog backlog() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::downstream
