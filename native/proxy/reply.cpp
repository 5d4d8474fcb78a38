// Own answers.
#include "native/proxy/reply.hpp"

#include <utility>

namespace tidemark::proxy {

void reply(const Context& context, downstream::Exchange& exchange, int status, std::string_view content_type,
           std::string body, const http::Headers& headers) {
  http::ResponseHead head;
  head.status = status;
  head.headers.add("Content-Type", std::string(content_type));
  for (const http::Header& header : headers) head.headers.add(header.name, header.value);
  context.cors.permit(exchange.head(), head.headers);
  exchange.respond(std::move(head), std::move(body));
}

void reply_refusal(const Context& context, downstream::Exchange& exchange, Refusal refusal, dialect::Dialect dialect) {
  RefusalReply answer = refuse(refusal, dialect);
  http::Headers headers;
  add_retry_after(headers, answer.retry_after_s);
  if (refusal == Refusal::TokenMissing) headers.add("WWW-Authenticate", "Bearer");
  context.counters.count(RequestKind::Refused);
  context.logger.write(observe::Level::Info, observe::Line("request refused")
                                                 .text("method", exchange.head().method)
                                                 .text("path", loggable_path(exchange.head().target))
                                                 .number("status", answer.status)
                                                 .text("code", code(refusal)));
  reply(context, exchange, answer.status, "application/json", std::move(answer.body), headers);
}

std::string_view loggable_path(std::string_view target) {
  constexpr std::string_view kStreams = "/tidemark/streams/";
  if (target.substr(0, kStreams.size()) == kStreams) return kStreams;
  return target.substr(0, target.find('?'));
}

void add_retry_after(http::Headers& headers, std::optional<int> seconds) {
  if (!seconds) return;
  headers.add("Retry-After", std::to_string(*seconds));
  headers.add("retry-after-ms", std::to_string(*seconds * 1000));
}

}  // namespace tidemark::proxy
