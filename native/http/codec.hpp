// What every HTTP codec is to its connection: bytes in, actions out. HTTP/1 has one stream at a time, id 0; the ids are
// there for HTTP/2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "native/http/message.hpp"

namespace tidemark::http {

/// Streams of the client leg and of the upstream leg: never to be mixed up.
enum class ServerStreamId : std::uint32_t {};
enum class ClientStreamId : std::uint32_t {};

enum class Fault : std::uint8_t {
  BadMessage,      // not HTTP, or it can be read in two ways
  HeadTooLarge,    // CodecLimits::head_bytes
  BodyTooLarge,    // CodecLimits::body_bytes
  UnknownMethod,   // not one that llhttp knows, or CONNECT
  UnknownVersion,  // neither HTTP/1.0 nor HTTP/1.1
  CutShort,        // the connection ended inside the message
};

struct CodecLimits {
  std::size_t head_bytes =
      std::size_t{64} * 1024;  // start line, fields and the empty line; the trailers and chunk sizes likewise
  std::size_t body_bytes = static_cast<std::size_t>(-1);
};

/// Per message: Head, Body any number of times, End; or Failed instead of what would come next, after which the decoder
/// takes nothing more.
template <class StreamId, class MessageHead>
struct Action {
  enum class Kind : std::uint8_t { Head, Body, End, Failed };
  Kind kind = Kind::Head;
  StreamId stream{};
  MessageHead head;           // Head
  std::string_view bytes;     // Body: a part of what was fed, valid as long as that is
  bool framed = true;         // End: false where only the connection's end ended the body
  bool keep_alive = true;     // End: whether the connection may be used again
  Fault fault{};              // Failed
  std::string_view why = {};  // Failed: a phrase that goes on "the message ..."
};
using RequestAction = Action<ServerStreamId, RequestHead>;
using ResponseAction = Action<ClientStreamId, ResponseHead>;

/// The server's side of a connection.
class RequestDecoder {
 public:
  virtual ~RequestDecoder() = default;
  /// Appends what `bytes` mean; returns how many were consumed. Stops after the end of a message: the rest is for the
  /// next call. Chunked bodies come without their chunk sizes, trailers are checked and dropped.
  virtual std::size_t feed(std::string_view bytes, std::vector<RequestAction>& actions) = 0;
};

/// The client's side of a connection.
class ResponseDecoder {
 public:
  virtual ~ResponseDecoder() = default;
  /// Before the first byte of each response: what was asked. A response to HEAD has no body.
  virtual void expect(std::string_view method) = 0;
  /// As RequestDecoder::feed. Interim responses (1xx) are skipped.
  virtual std::size_t feed(std::string_view bytes, std::vector<ResponseAction>& actions) = 0;
  /// The connection has ended: End, unframed, or Failed.
  virtual void finish(std::vector<ResponseAction>& actions) = 0;
};

}  // namespace tidemark::http
