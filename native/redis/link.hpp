// A connection to a Redis server that comes back by itself. Commands go out in the order of send(), and so do replies
// come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "native/loop/loop.hpp"
#include "native/redis/reply.hpp"
#include "native/tls/context.hpp"

namespace tidemark::redis {

struct Endpoint {
  bool tls = false;  // rediss://
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 6379;
  std::string user;      // empty: `default`
  std::string password;  // where the user is empty too: no AUTH
  unsigned database = 0;

  /// redis://HOST:PORT/DB, without user and password.
  std::string text() const;
};

struct LinkOptions {
  std::string client_name;                              // as CLIENT LIST shows it
  TimeMs connect_timeout_ms = 2000;                     // looking up, connecting, TLS and greeting together
  TimeMs reply_timeout_ms = 5000;                       // nothing comes while a command waits; 0: for ever
  TimeMs retry_first_ms = 50;                           // from a loss to the first try; doubles up to:
  TimeMs retry_most_ms = 1000;                          //
  std::size_t max_unsent_bytes = std::size_t{8} << 20;  // more that the server does not take: the connection is lost
  std::size_t max_reply_bytes = std::size_t{64} << 20;  // of one reply, likewise
};

/// What a server says of itself when the link comes up (INFO server, CLIENT ID).
struct ServerFacts {
  std::string run_id;          // another after each start of the server
  TimeMs uptime_ms = 0;        // at least; whole seconds
  std::int64_t client_id = 0;  // of this connection
  std::string version;
};

class Link {
 public:
  struct Events {
    /// Commands may be sent from now on.
    std::function<void(const ServerFacts&)> up;
    /// After every command under way has been told. `why` is one line, without a credential. Called once a loss, and
    /// once where the first try fails; then tries go on in silence until up().
    std::function<void(const std::string& why)> down;
  };
  /// Null where the link was lost first: the command may have been carried out or not. Never from inside send(). May
  /// send, flush, drop() and destroy the link, as Events may. Send nothing where it is null: the link is down.
  using Done = std::function<void(const Reply* reply)>;
  using Command = std::vector<std::string_view>;

  /// Begins to connect. `tls` may be null where the endpoint is plain. Both outlive the link.
  Link(loop::Loop& loop, tls::ClientContext* tls, Endpoint endpoint, LinkOptions options, Events events);
  /// Tells nobody anything.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool is_up() const;
  /// Puts the command behind those before it; they go out at the end of this turn, or with flush(). The words are
  /// copied. `done` may be empty. Precondition: is_up().
  void send(const Command& command, Done done);
  /// Hands the kernel what has been sent so far. False where it did not take all of it, or the link is down: the rest
  /// follows when it does.
  bool flush();
  /// Commands without their reply.
  std::size_t waiting() const;
  /// Lets the connection go as if it had been lost, in a turn of its own: down(why), and tries again. No reply is told
  /// any more, and what is sent until then is lost too. Does nothing where there is no connection.
  void drop(const std::string& why);
  /// Hands over what is buffered, waiting at most so long for all of it to be carried out, and closes. Blocks: for the
  /// end of a process. Nobody is told anything any more. The link is down afterwards and stays so.
  void close_after_sending(TimeMs at_most_ms);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::redis
