// The client side: requests to upstreams over pooled connections, plain or TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/time.hpp"
#include "native/http/message.hpp"
#include "native/loop/loop.hpp"
#include "native/tls/context.hpp"

namespace tidemark::upstream {

struct Origin {
  std::string scheme;  // "http" or "https"
  std::string host;    // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;

  friend bool operator==(const Origin& a, const Origin& b) {
    return a.port == b.port && a.host == b.host && a.scheme == b.scheme;
  }
};

struct ClientLimits {
  TimeMs connect_timeout_ms = 10'000;                         // looking up, connecting and the TLS handshake together
  std::size_t response_head_bytes = std::size_t{256} * 1024;  // a longer head is a protocol failure
  std::size_t idle_per_origin = 32;                           // connections kept
  TimeMs idle_timeout_ms = 30'000;                            // how long
};

enum class FailureKind : std::uint8_t {
  Resolve,   // the name was not found
  Connect,   // nobody accepted the connection
  Tls,       // the handshake failed: certificate, name, protocol
  Reset,     // the connection was lost, or ended inside the response
  Protocol,  // what came is not HTTP, or ambiguous, or too long, or not the gzip that it claims to be
  Timeout,   // connect_timeout_ms
};
std::string_view name(FailureKind kind);

struct Failure {
  FailureKind kind = FailureKind::Reset;
  std::string message;  // one sentence that clients may read: no address, no credential
};

/// What becomes of a call, in this order: on_head, on_body any number of times, then on_end or on_failure (which may
/// also come first). All from the loop, never from inside send(), pause() or resume(). Each may destroy the call.
class CallEvents {
 public:
  virtual ~CallEvents() = default;
  virtual void on_head(const http::ResponseHead& head) = 0;
  /// `bytes` are valid during the call only.
  virtual void on_body(std::string_view bytes) = 0;
  /// The body's proper end. `framed`: it ended by its length or its last chunk; without, by the connection's end, which
  /// can't be told from a cut.
  virtual void on_end(bool framed) = 0;
  virtual void on_failure(const Failure& failure) = 0;
};

/// How long the end of a body that nobody wants is waited for, and how many bytes may come before it.
inline constexpr TimeMs kRestMs = 250;
inline constexpr std::size_t kRestBytes = std::size_t{16} * 1024;

/// One request under way. Destroying it before the end cuts its connection at once; after, it does nothing.
class Call {
 public:
  virtual ~Call() = default;
  /// Nothing is read, and no on_body comes, until resume().
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// What has come already of the body, and was not handed on yet, waits until the tasks deferred so far have run.
  virtual void yield() = 0;
  /// For a body that has said all but its end: no event comes any more, and what still comes is thrown away. The
  /// connection is kept if the end comes within kRestMs and kRestBytes, else cut. Destroying the call does nothing
  /// then. After on_head only.
  virtual void discard_rest() = 0;
};

class Client {
 public:
  /// `tls` may be nullptr where no origin is https. Both outlive the client.
  Client(loop::Loop& loop, tls::ClientContext* tls, const ClientLimits& limits);
  /// Cuts what is under way; no event comes any more.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends `head` with `body`. Host is added where it is missing; Content-Length is set here; Connection and
  /// Transfer-Encoding are taken out. `events` outlives the call. A kept connection that turns out to be dead before
  /// the first byte of its response is replaced once, unseen, unless the whole of a request that is not idempotent has
  /// gone out on it. 1xx responses are skipped. A gzip body is decoded, and
  /// its Content-Encoding and Content-Length taken out, where the request had no Accept-Encoding or the response is an
  /// event stream.
  std::unique_ptr<Call> send(const Origin& origin, const http::RequestHead& head, std::string_view body,
                             CallEvents& events);

  /// Kept connections without a request.
  std::size_t idle_connections() const;
  /// Closes these.
  void close_idle();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::upstream
