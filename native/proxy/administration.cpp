// Routing below /tidemark/, and streams by id.
#include "native/proxy/administration.hpp"

#include "native/observe/prometheus.hpp"
#include "native/proxy/principal.hpp"
#include "native/proxy/reply.hpp"

namespace tidemark::proxy {
namespace {

constexpr std::string_view kHealthz = "/tidemark/healthz";
constexpr std::string_view kReadyz = "/tidemark/readyz";
constexpr std::string_view kMetrics = "/tidemark/metrics";
constexpr std::string_view kStatus = "/tidemark/status";
constexpr std::string_view kStreams = "/tidemark/streams/";
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kJson = "application/json";

/// The value of `after` in a query; nullopt where it is not there.
std::optional<std::string> after_of(std::string_view target) {
  std::string_view rest = target.substr(std::min(target.find('?'), target.size()));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view one = rest.substr(0, end);
    if (one.substr(0, 6) == "after=") return std::string(one.substr(6));
    rest.remove_prefix(end);
  }
  return std::nullopt;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
  return -1;
}

/// Percent-decoded: a key may hold characters that a path does not.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    if (!escape) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return out;
}

bool is_read(const std::string& method) { return method == "GET" || method == "HEAD"; }

}  // namespace

bool Administration::is_probe(std::string_view path) { return path == kHealthz || path == kReadyz; }

void Administration::handle(const std::shared_ptr<downstream::Exchange>& exchange, std::string_view path) {
  const bool stream_page = path.substr(0, kStreams.size()) == kStreams && path.size() > kStreams.size();
  const bool page = path == kHealthz || path == kReadyz || path == kMetrics || path == kStatus;
  if (!page && !stream_page) return reply_refusal(context_, *exchange, Refusal::NoSuchPage, dialect::Dialect::Opaque);
  const std::string& method = exchange->head().method;
  if (!is_read(method) && !(stream_page && method == "DELETE")) {
    return reply_refusal(context_, *exchange, Refusal::MethodNotAllowed, dialect::Dialect::Opaque);
  }
  context_.counters.count(RequestKind::Administration);
  if (stream_page) return stream(exchange, path.substr(kStreams.size()));
  if (path == kHealthz) return reply(context_, *exchange, 200, kText, "ok\n");
  if (path == kReadyz) {
    const bool ready = !context_.draining && context_.log.reachable();
    return reply(context_, *exchange, ready ? 200 : 503, kText, ready ? "ready\n" : "not ready\n");
  }
  if (path == kMetrics) {
    return reply(context_, *exchange, 200, observe::PrometheusText::kContentType, metrics_page(context_));
  }
  reply(context_, *exchange, 200, kJson, status_page(context_));
}

void Administration::stream(const std::shared_ptr<downstream::Exchange>& exchange, std::string_view id) {
  const http::RequestHead& head = exchange->head();
  const std::string principal = principal_of(head.headers, context_.config.principal_header);
  const auto stream = streams_.find(principal, decoded(id));
  if (!stream) return reply_refusal(context_, *exchange, Refusal::NoSuchStream, dialect::Dialect::Opaque);
  if (head.method == "DELETE") {
    streams_.stop(stream);
  } else if (head.method == "GET" && head.headers.get("accept").find("text/event-stream") != std::string_view::npos) {
    return follow(exchange, stream);
  }
  http::Headers headers;
  headers.add("Cache-Control", "no-store");
  reply(context_, *exchange, 200, kJson, describe(*stream, context_.log), headers);
}

void Administration::follow(const std::shared_ptr<downstream::Exchange>& exchange,
                            const std::shared_ptr<Stream>& stream) {
  const http::RequestHead& head = exchange->head();
  ResumeFields fields;
  fields.resume_seq = head.headers.get("x-resume-seq");
  fields.last_event_id = head.headers.get("last-event-id");
  fields.epoch = head.headers.get("tidemark-epoch");
  fields.tail_fingerprint = head.headers.get("x-tail-fingerprint");
  // An EventSource that reconnects has the old query still, and a newer Last-Event-ID.
  if (fields.resume_seq.empty() && fields.last_event_id.empty()) fields.resume_seq = after_of(head.target).value_or("");
  const auto point = read_resume_point(fields);
  if (!point.ok()) return reply_refusal(context_, *exchange, refusal(point.error()), stream->dialect);
  streams_.attach(exchange, stream, point.value());
}

}  // namespace tidemark::proxy
