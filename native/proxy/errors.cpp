// The table of refusals.
#include "native/proxy/errors.hpp"

#include "core/dialect/ending.hpp"
#include "native/proxy/random_name.hpp"

namespace tidemark::proxy {
namespace {

struct Row {
  int status;
  std::string_view type;  // OpenAI shape
  std::string_view code;
  std::string_view anthropic_type;  // empty: the code, since that shape has no other place for it
  std::string_view message;
  int retry_after_s;  // 0: none
};

constexpr std::string_view kInvalid = "invalid_request_error";
constexpr std::string_view kUnavailable = "upstream_unavailable";
constexpr std::string_view kOverloaded = "overloaded_error";

const Row& row(Refusal refusal) {
  static constexpr Row kRows[] = {
      {400, kInvalid, "idempotency_key_invalid", "", "Idempotency-Key must be 1 to 255 visible ASCII characters.", 0},
      {400, kInvalid, "idempotency_key_too_short", "",
       "Without a credential the Idempotency-Key is all that guards the answer: it must be at least 20 characters "
       "long.",
       0},
      {422, kInvalid, "idempotency_key_reused", "", "This Idempotency-Key was used for another request.", 0},
      {400, kInvalid, "resume_invalid", "", "The watermark must be an integer of at least -1.", 0},
      {409, kInvalid, "resume_ahead", "", "The watermark lies beyond the end of the stream.", 0},
      {409, kInvalid, "resume_mismatch", "", "What was received is not a part of this stream.", 0},
      {410, kInvalid, "resume_expired", "", "The stream is no longer there to be resumed.", 0},
      {401, "authentication_error", "client_token_invalid", "authentication_error",
       "A client token is needed: Authorization: Bearer TOKEN.", 0},
      {404, kInvalid, "stream_not_found", "not_found_error", "There is no such stream.", 0},
      {404, kInvalid, "not_found", "not_found_error", "There is no such page.", 0},
      {405, kInvalid, "method_not_allowed", kInvalid, "This method is not allowed here.", 0},
      {503, kUnavailable, "shutdown", kOverloaded, "The proxy is shutting down.", 1},
      {503, kUnavailable, "log_unreachable", kOverloaded,
       "Whether another replica has this stream can't be told at the moment.", 1},
      {503, kUnavailable, "log_limit", kOverloaded, "There is no room for one more stream.", 5},
  };
  return kRows[static_cast<std::size_t>(refusal)];
}

}  // namespace

Refusal refusal(ResumeError error) {
  switch (error) {
    case ResumeError::Invalid:
      return Refusal::ResumeInvalid;
    case ResumeError::Ahead:
      return Refusal::ResumeAhead;
    case ResumeError::Mismatch:
      return Refusal::ResumeMismatch;
    case ResumeError::Expired:
      return Refusal::ResumeExpired;
  }
  return Refusal::ResumeInvalid;
}

RefusalReply refuse(Refusal refusal, dialect::Dialect dialect) {
  const Row& facts = row(refusal);
  const bool anthropic = dialect == dialect::Dialect::AnthropicMessages;
  RefusalReply reply;
  reply.status = anthropic && facts.anthropic_type == kOverloaded ? 529 : facts.status;
  if (facts.retry_after_s > 0) reply.retry_after_s = facts.retry_after_s;
  const std::string request_id = anthropic ? "req_" + draw_stream_id() : std::string();
  dialect::ErrorFacts error;
  error.status = reply.status;
  error.type = anthropic ? (facts.anthropic_type.empty() ? facts.code : facts.anthropic_type) : facts.type;
  error.code = facts.code;
  error.message = facts.message;
  error.retry_after_s = reply.retry_after_s;
  error.request_id = request_id;
  reply.body = dialect::error_body(dialect, error);
  return reply;
}

std::string_view code(Refusal refusal) { return row(refusal).code; }

}  // namespace tidemark::proxy
