// What the upstream leg of a stream is to ask for.
#pragma once

#include <optional>
#include <string>

#include "core/base/time.hpp"
#include "core/dialect/dialect.hpp"
#include "native/http/message.hpp"

namespace tidemark::proxy {

struct RunRequest {
  http::RequestHead head;  // as the client sent it
  std::string body;        // as it goes upstream
  bool expects_stream = false;
  bool resumable = false;                   // an Idempotency-Key names the answer, should it be a stream
  std::optional<dialect::Dialect> dialect;  // as the path tells; what an upstream is configured to speak comes first
  TimeMs client_timeout_ms = 0;             // X-Stainless-Timeout; 0: not given
  bool repeated_enough = false;             // X-Stainless-Retry-Count says that the client repeats it itself
  std::string token_in;                     // the header that held a client token; empty: none
};

}  // namespace tidemark::proxy
