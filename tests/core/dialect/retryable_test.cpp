// Which errors are worth another attempt.
#include "core/dialect/retryable.hpp"

#include "tests/catch.hpp"

namespace tidemark::dialect {
namespace {

TEST_CASE("server trouble, overload, timeouts and rate limits are worth another attempt") {
  for (const char* code : {"server_error",
                           "internal_server_error",
                           "INTERNAL",
                           "overloaded_error",
                           "engine_overloaded",
                           "timeout",
                           "request_timeout",
                           "DEADLINE_EXCEEDED",
                           "rate_limit_exceeded",
                           "RateLimitError",
                           "too_many_requests",
                           "UNAVAILABLE",
                           "service_unavailable",
                           "RESOURCE_EXHAUSTED",
                           "api_error",
                           "network_error",
                           "ThrottlingException",
                           "500",
                           "502",
                           "503",
                           "504",
                           "529",
                           "429",
                           "408"}) {
    INFO(code);
    CHECK(is_retryable(code, "", 0));
    CHECK(is_retryable("", code, 0));
    CHECK(is_retryable(code, "invalid_request_error", 400));  // the code is the more precise of the two
  }
}

TEST_CASE("quota, billing, invalid requests, authentication and too much context are final") {
  for (const char* code : {"insufficient_quota",
                           "billing_error",
                           "billing_hard_limit_reached",
                           "invalid_request_error",
                           "INVALID_ARGUMENT",
                           "BadRequestError",
                           "authentication_error",
                           "invalid_api_key",
                           "permission_error",
                           "not_found_error",
                           "NotFoundError",
                           "request_too_large",
                           "content_policy_violation",
                           "context_length_exceeded",
                           "enforced_spend_limit_reached",
                           "400",
                           "401",
                           "402",
                           "403",
                           "404"}) {
    INFO(code);
    CHECK_FALSE(is_retryable(code, "", 0));
    CHECK_FALSE(is_retryable("", code, 0));
    CHECK_FALSE(is_retryable(code, "server_error", 503));
  }
  CHECK_FALSE(is_retryable("rate_limit_exceeded", "insufficient_quota", 429));
}

TEST_CASE("an unknown code leaves it to the type, an unknown type to the status") {
  CHECK(is_retryable("x", "server_error", 0));
  CHECK_FALSE(is_retryable("x", "invalid_request_error", 503));
  CHECK(is_retryable("x", "y", 503));
  CHECK(is_retryable("", "", 429));
  CHECK_FALSE(is_retryable("", "", 400));
  CHECK_FALSE(is_retryable("x", "y", 0));
  CHECK_FALSE(is_retryable("", "", 0));
  CHECK_FALSE(is_retryable("moderation_generate", "", 0));  // "rate" within a word is no rate limit
}

}  // namespace
}  // namespace tidemark::dialect
