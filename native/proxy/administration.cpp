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

// For a stop that another replica has to carry out, and for a page of a stream that it is about to begin.
constexpr TimeMs kPatienceMs = 5000;
constexpr int kTries = 3;

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

bool follows(const http::RequestHead& head) {
  return head.method == "GET" && head.headers.get("accept").find("text/event-stream") != std::string_view::npos;
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
  if (stream_page) {
    const TimeMs patience = follows(exchange->head()) ? context_.config.hold_max_ms : kPatienceMs;
    return look({exchange, decoded(path.substr(kStreams.size())), context_.loop.now_ms() + patience, kTries});
  }
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

void Administration::look(const Errand& errand) {
  const auto refuse = [this](const Errand& to, Refusal refusal) {
    reply_refusal(context_, *to.exchange, refusal, dialect::Dialect::Opaque);
  };
  if (errand.tries == 0) return refuse(errand, Refusal::LogUnreachable);
  Seeker seeker;
  seeker.exchange = errand.exchange;
  seeker.principal = principal_of(errand.exchange->head().headers, context_.config.principal_header);
  seeker.id = errand.id;
  seeker.give_up_at = errand.give_up_at;
  const bool stops = errand.exchange->head().method == "DELETE";
  if (stops || !follows(errand.exchange->head())) {
    seeker.unopened = stops ? Seeker::Unopened::Stop : Seeker::Unopened::Tell;
  }
  seeker.done = [this, errand, refuse](const Sought& sought) {
    switch (sought.answer) {
      case Sought::Answer::Found:
        return found(errand, sought.stream);
      case Sought::Answer::Claimed:
        return tell(errand, *sought.stream);
      case Sought::Answer::Free:
      case Sought::Answer::Absent:
      case Sought::Answer::Reused:
        return refuse(errand, Refusal::NoSuchStream);
      case Sought::Answer::Away:
        return refuse(errand, Refusal::LogUnreachable);
      case Sought::Answer::Full:
        return refuse(errand, Refusal::LogLimit);
    }
  };
  streams_.seek(std::move(seeker));
}

void Administration::found(const Errand& errand, const std::shared_ptr<Stream>& stream) {
  if (follows(errand.exchange->head())) return follow(errand, stream);
  if (errand.exchange->head().method == "DELETE" && !streams_.stop(stream)) {
    return streams_.when_changed(stream, errand.give_up_at, [this, errand](bool in_time) {
      if (errand.exchange->closed()) return;
      if (in_time) return look(errand);
      reply_refusal(context_, *errand.exchange, Refusal::LogUnreachable, dialect::Dialect::Opaque);
    });
  }
  tell(errand, *stream);
}

void Administration::tell(const Errand& errand, const Stream& stream) {
  http::Headers headers;
  headers.add("Cache-Control", "no-store");
  reply(context_, *errand.exchange, 200, kJson, describe(stream, context_.log), headers);
}

void Administration::follow(const Errand& errand, const std::shared_ptr<Stream>& stream) {
  const http::RequestHead& head = errand.exchange->head();
  ResumeFields fields;
  fields.resume_seq = head.headers.get("x-resume-seq");
  fields.last_event_id = head.headers.get("last-event-id");
  fields.epoch = head.headers.get("tidemark-epoch");
  fields.tail_fingerprint = head.headers.get("x-tail-fingerprint");
  // An EventSource that reconnects has the old query still, and a newer Last-Event-ID.
  if (fields.resume_seq.empty() && fields.last_event_id.empty()) fields.resume_seq = after_of(head.target).value_or("");
  const auto point = read_resume_point(fields);
  if (!point.ok()) return reply_refusal(context_, *errand.exchange, refusal(point.error()), stream->dialect);
  Errand next = errand;
  --next.tries;
  streams_.attach(errand.exchange, stream, point.value(), nullptr, [this, next] { look(next); });
}

}  // namespace tidemark::proxy
