// Forwarding of headers.
#include "native/proxy/forwarding.hpp"

#include <algorithm>
#include <array>

#include "native/proxy/principal.hpp"

namespace tidemark::proxy {
namespace {

constexpr std::array<std::string_view, 4> kAnsweredHere{"x-resume-seq", "last-event-id", "tidemark-epoch",
                                                        "x-tail-fingerprint"};
constexpr std::array<std::string_view, 8> kSetHere{"content-type",   "content-length",    "content-encoding",
                                                   "cache-control",  "x-accel-buffering", "tidemark-stream",
                                                   "tidemark-epoch", "tidemark-resumed"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return http::equal_names(name, one); });
}

void add_key(http::Headers& headers, const Outgoing& outgoing) {
  switch (outgoing.dialect) {
    case dialect::Dialect::AnthropicMessages:
      return headers.add("x-api-key", outgoing.key);
    case dialect::Dialect::Gemini:
      return headers.add("x-goog-api-key", outgoing.key);
    case dialect::Dialect::OpenaiChat:
    case dialect::Dialect::OpenaiResponses:
    case dialect::Dialect::SeqDelta:
    case dialect::Dialect::AiSdkUi:
    case dialect::Dialect::Opaque:
      return headers.add("Authorization", std::string("Bearer ").append(outgoing.key));
  }
}

}  // namespace

http::RequestHead to_upstream(const http::RequestHead& request, const Outgoing& outgoing) {
  http::RequestHead head;
  head.method = request.method;
  head.target = request.target == "*" ? request.target : outgoing.upstream.base.path + request.target;
  const bool own_key = !outgoing.key.empty();
  bool host = false;
  http::Headers passed = request.headers;
  http::remove_hop_by_hop(passed);
  for (const auto& header : passed) {
    // The length is set anew by the client of the upstream; the expectation was answered here.
    if (http::equal_names(header.name, "content-length")) continue;
    if (http::equal_names(header.name, "expect")) continue;
    if (http::equal_names(header.name, "host")) {
      if (!host) head.headers.add(header.name, outgoing.upstream.base.authority());
      host = true;
      continue;
    }
    if (outgoing.stream && http::equal_names(header.name, "accept-encoding")) continue;
    if (outgoing.resumable && is_one_of(header.name, kAnsweredHere)) continue;
    if (own_key && is_credential_header(header.name)) continue;
    if (http::equal_names(header.name, outgoing.token_in)) continue;
    head.headers.add(header.name, header.value);
  }
  if (!host) head.headers.add("Host", outgoing.upstream.base.authority());
  if (own_key) add_key(head.headers, outgoing);
  return head;
}

http::Headers from_upstream(const http::Headers& headers, bool stream) {
  http::Headers passed = headers;
  http::remove_hop_by_hop(passed);
  if (!stream) return passed;
  for (const std::string_view name : kSetHere) passed.remove(name);
  return passed;
}

http::ResponseHead stream_head(const Stream& stream, bool resumed) {
  http::ResponseHead head;
  head.status = 200;
  head.headers = stream.headers;
  head.headers.add("Content-Type", "text/event-stream");
  head.headers.add("Cache-Control", "no-cache, no-transform");
  head.headers.add("X-Accel-Buffering", "no");
  head.headers.add("Tidemark-Stream", stream.id);
  head.headers.add("Tidemark-Epoch", stream.epoch());
  if (!resumed) return head;
  head.headers.add("Tidemark-Resumed", "true");
  head.headers.remove("date");  // of another response: the server gives this one its own
  return head;
}

}  // namespace tidemark::proxy
