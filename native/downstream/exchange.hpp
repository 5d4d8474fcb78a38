// One request and its answer, as a handler sees them; an interface, so that a handler can be tested without sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "native/http/message.hpp"

namespace tidemark::downstream {

/// What a body source has to say when it is asked for bytes.
enum class Pull : std::uint8_t {
  More,     // ask again when what was appended is written; with nothing appended it is taken for Pending
  Pending,  // nothing more now (bytes may have been appended): Exchange::wake() is called when there is
  End,      // the body is complete (the last bytes may have been appended)
  Abort,    // the body is cut: what was appended is written, then the connection closes without a proper end
};

/// A response body that is asked for bytes only while the reader's socket takes them.
class BodySource {
 public:
  virtual ~BodySource() = default;
  /// Appends at most `max` bytes to `out`; never clears it, something else may be in front. Always called from the
  /// loop, never from inside Exchange::respond() or wake().
  virtual Pull pull(std::string& out, std::size_t max) = 0;
  /// The client may have gone, and a write would tell: if there is something that clients ignore, the next pull brings
  /// it.
  virtual void nudge() {}
};

/// A request whose head and body have arrived, waiting for its answer. Answer it exactly once, now or later, on the
/// loop's thread. Every call is harmless after the connection has gone. If the last reference is dropped without an
/// answer, the connection is closed.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// The request. Both are empty once respond() has been called: an open stream holds nothing of it.
  virtual const http::RequestHead& head() const = 0;
  virtual const std::string& body() const = 0;
  /// Moves the body out; body() is empty afterwards.
  virtual std::string take_body() = 0;
  /// `ADDRESS:PORT` of the client.
  virtual std::string peer() const = 0;

  /// A whole answer. Content-Length is set; hop-by-hop headers are the server's business.
  virtual void respond(http::ResponseHead head, std::string body) = 0;
  /// A streamed answer: chunked for HTTP/1.1 unless `head` has a Content-Length, to which the source must keep; ended
  /// by closing for HTTP/1.0. For HEAD, 204 and 304 the source is not asked. It is destroyed when the response is over
  /// or the client has left.
  virtual void respond(http::ResponseHead head, std::unique_ptr<BodySource> source) = 0;

  /// The source that last said Pending has more to say. Cheap, and may be called at any time.
  virtual void wake() = 0;
  /// Of the answer so far, the bytes that have not left yet, and that a reset throws away.
  virtual std::size_t unsent() const = 0;
  /// Resets the connection (RST) at once, before or after any byte of the answer.
  virtual void reset() = 0;
  /// `gone` runs once if the client has left (reset, hang-up, write error) before the whole answer was written. A
  /// client that only shut down its sending half has not left; one that closed in an orderly way shows it at the next
  /// write, which comes a second later at most. Runs from the loop; replaced by a further call.
  virtual void on_closed(std::function<void()> gone) = 0;
  /// `finished` runs once if the client shuts down its sending half, or closes, before there is an answer. One second
  /// later an interim response (100) goes out, which a client that has closed refuses: on_closed then says so. Runs
  /// from the loop; replaced by a further call.
  virtual void on_finished_sending(std::function<void()> finished) = 0;
  /// True when the client has left or the answer is finished.
  virtual bool closed() const = 0;
};

}  // namespace tidemark::downstream
