// Headers on their way through: what ends at the proxy, what is added, what becomes the upstream's (contract § 2.3).
#pragma once

#include <string>
#include <string_view>

#include "core/dialect/dialect.hpp"
#include "native/config/config.hpp"
#include "native/http/message.hpp"
#include "native/proxy/stream.hpp"

namespace tidemark::proxy {

struct Outgoing {
  const config::Upstream& upstream;
  dialect::Dialect dialect;   // in whose header `key` goes
  std::string_view key;       // one of the upstream's; empty: the client's own credential is passed through
  bool stream = false;        // without Accept-Encoding
  bool resumable = false;     // without the headers that say where to resume: they were answered here
  std::string_view token_in;  // the header that held a client token: left out
};

/// The request as the upstream gets it: hop-by-hop headers (also those that `Connection` names) left out, the rest in
/// order with their values untouched, `Host` the upstream's, the target appended to the base path.
http::RequestHead to_upstream(const http::RequestHead& request, const Outgoing& outgoing);

/// The upstream's headers as they may go on to the client: hop-by-hop ones left out. For a stream, those that the proxy
/// sets itself are left out too (Content-Type, Content-Length, Content-Encoding, Cache-Control, X-Accel-Buffering,
/// Tidemark-*).
http::Headers from_upstream(const http::Headers& headers, bool stream);

/// The head of a stream's response.
http::ResponseHead stream_head(const Stream& stream, bool resumed);

}  // namespace tidemark::proxy
