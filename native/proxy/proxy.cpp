// Admission of requests.
#include "native/proxy/proxy.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/retry/retry_after.hpp"
#include "native/proxy/principal.hpp"
#include "native/proxy/reply.hpp"
#include "native/proxy/request_body.hpp"

namespace tidemark::proxy {
namespace {

constexpr std::string_view kOwnPages = "/tidemark/";
constexpr std::size_t kLongestKey = 255;
constexpr std::size_t kShortestAnonymousKey = 20;

/// For what is said here, without an upstream.
dialect::Dialect dialect_of(const Context& context, std::string_view target) {
  return context.upstreams.dialect(0, dialect::from_path(target)).value_or(dialect::Dialect::Opaque);
}

/// How long the client waits for a head, as its SDK says in seconds, perhaps with a fraction; 0 where it says nothing.
TimeMs client_timeout(const http::Headers& headers) {
  constexpr TimeMs kDay = 86'400'000;
  TimeMs shortest = 0;
  for (const char* name : {"x-stainless-timeout", "x-stainless-read-timeout"}) {
    const std::string_view text = headers.get(name);
    // A number of seconds reads like a Retry-After; a date does not begin with a digit.
    const bool number = !text.empty() && text[0] >= '0' && text[0] <= '9';
    const TimeMs ms = number ? retry::parse_retry_after(text, {}, 0).value_or(0) : 0;
    if (ms > 0 && (shortest == 0 || ms < shortest)) shortest = std::min(ms, kDay);
  }
  return shortest;
}

/// Clients repeat a failed request twice unless told otherwise: at the last of it, repeating here only adds to the
/// load.
constexpr int kRepeatedEnough = 2;

bool repeated_enough(const http::Headers& headers) {
  const std::string_view text = headers.get("x-stainless-retry-count");
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc::result_out_of_range) return true;
  return error == std::errc{} && end == text.data() + text.size() && count >= kRepeatedEnough;
}

bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= kLongestKey &&
         std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

ResumeFields resume_fields(const http::Headers& headers, const std::optional<BodyFacts>& body) {
  ResumeFields fields;
  fields.resume_seq = headers.get("x-resume-seq");
  fields.last_event_id = headers.get("last-event-id");
  fields.epoch = headers.get("tidemark-epoch");
  fields.tail_fingerprint = headers.get("x-tail-fingerprint");
  if (!body) return fields;
  if (fields.resume_seq.empty() && fields.last_event_id.empty()) fields.resume_seq = body->resume_seq.value_or("");
  if (fields.tail_fingerprint.empty()) fields.tail_fingerprint = body->tail_fingerprint.value_or("");
  fields.received_length = body->received_length.value_or("");
  return fields;
}

tls::Digest digest_of(const http::RequestHead& head, std::string_view body) {
  return tls::sha256({head.method, " ", head.target, std::string_view("\0", 1), body});
}

}  // namespace

void Proxy::handle(std::shared_ptr<downstream::Exchange> exchange) {
  const http::RequestHead& head = exchange->head();
  if (context_.cors.decides() && Cors::is_preflight(head)) {
    context_.counters.count(RequestKind::Administration);
    return exchange->respond(context_.cors.preflight(head), std::string());
  }
  const std::string_view path = std::string_view(head.target).substr(0, head.target.find('?'));
  const bool own = path.substr(0, kOwnPages.size()) == kOwnPages;
  if (own && Administration::is_probe(path)) return administration_.handle(exchange, path);

  std::string_view token_in;
  const auto& tokens = context_.config.client_tokens;
  if (!tokens.empty() && !shows_token(head.headers, tokens, token_in)) {
    return reply_refusal(context_, *exchange, Refusal::TokenMissing, dialect_of(context_, head.target));
  }
  if (own) return administration_.handle(exchange, path);
  forward(exchange, token_in);
}

void Proxy::forward(const std::shared_ptr<downstream::Exchange>& exchange, std::string_view token_in) {
  NewStream request;
  RunRequest& run = request.run;
  run.head = exchange->head();
  run.dialect = dialect::from_path(run.head.target);
  run.client_timeout_ms = client_timeout(run.head.headers);
  run.repeated_enough = repeated_enough(run.head.headers);
  run.token_in = token_in;
  const dialect::Dialect dialect = dialect_of(context_, run.head.target);

  request.principal = principal_of(run.head.headers, context_.config.principal_header);
  run.body = exchange->take_body();
  const bool post = run.head.method == "POST";
  const auto facts = post ? read_body(run.body) : std::nullopt;
  run.expects_stream =
      post && ((facts && facts->stream) || dialect::from_path(run.head.target) == dialect::Dialect::Gemini);
  if (const std::string* key = post ? run.head.headers.find("idempotency-key") : nullptr) {
    const bool valid = is_key(*key);
    const bool guarded = request.principal != kAnonymous || key->size() >= kShortestAnonymousKey;
    // A request that may be none for a stream keeps its key as it is: it need not be meant for us.
    if (run.expects_stream && !valid) return reply_refusal(context_, *exchange, Refusal::KeyInvalid, dialect);
    if (run.expects_stream && !guarded) return reply_refusal(context_, *exchange, Refusal::KeyTooShort, dialect);
    if (valid && guarded) request.key = *key;
  }
  run.resumable = !request.key.empty();
  if (!run.expects_stream && !run.resumable) return streams_.admit(exchange, std::move(request), {});

  if (facts && facts->has_resume_fields) run.body = without_resume_fields(run.body);
  request.request = digest_of(run.head, run.body);
  const auto point = read_resume_point(resume_fields(run.head.headers, facts));
  if (!point.ok()) return reply_refusal(context_, *exchange, refusal(point.error()), dialect);
  streams_.admit(exchange, std::move(request), point.value());
}

}  // namespace tidemark::proxy
