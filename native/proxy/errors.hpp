// The proxy's own refusals: which status, which code, which words, in the shape of the request's dialect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/dialect/dialect.hpp"
#include "native/proxy/resume.hpp"

namespace tidemark::proxy {

enum class Refusal : std::uint8_t {
  KeyInvalid,        // 400 idempotency_key_invalid
  KeyTooShort,       // 400 idempotency_key_too_short
  KeyReused,         // 422 idempotency_key_reused
  ResumeInvalid,     // 400 resume_invalid
  ResumeAhead,       // 409 resume_ahead
  ResumeMismatch,    // 409 resume_mismatch
  ResumeExpired,     // 410 resume_expired
  TokenMissing,      // 401 client_token_invalid
  NoSuchStream,      // 404 stream_not_found
  NoSuchPage,        // 404 not_found: below /tidemark/
  MethodNotAllowed,  // 405 method_not_allowed: below /tidemark/
  Draining,          // 503 shutdown
  LogUnreachable,    // 503 log_unreachable
  LogLimit,          // 503 log_limit
};

Refusal refusal(ResumeError error);

struct RefusalReply {
  int status = 500;
  std::string body;
  std::optional<int> retry_after_s;
};

RefusalReply refuse(Refusal refusal, dialect::Dialect dialect);

/// The code alone, for the log.
std::string_view code(Refusal refusal);

}  // namespace tidemark::proxy
