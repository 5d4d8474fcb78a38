// CORS.
#include "native/proxy/cors.hpp"

#include <algorithm>

namespace tidemark::proxy {
namespace {

constexpr std::string_view kMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";
constexpr std::string_view kReadable =
    "Tidemark-Stream, Tidemark-Epoch, Tidemark-Resumed, Retry-After, retry-after-ms, x-should-retry, x-request-id, "
    "request-id";
constexpr std::string_view kSendable =
    "Authorization, Content-Type, Idempotency-Key, X-Resume-Seq, Last-Event-ID, Tidemark-Epoch, X-Tail-Fingerprint, "
    "x-api-key, anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access, OpenAI-Beta";

}  // namespace

Cors::Cors(std::vector<std::string> allow_origins, Unconfigured unconfigured)
    : origins_(std::move(allow_origins)), decides_(!origins_.empty() || unconfigured == Unconfigured::Nobody) {
  any_ = std::find(origins_.begin(), origins_.end(), "*") != origins_.end();
}

bool Cors::allows(std::string_view origin) const {
  return any_ || std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

bool Cors::is_preflight(const http::RequestHead& request) {
  return request.method == "OPTIONS" && request.headers.has("origin") &&
         request.headers.has("access-control-request-method");
}

void Cors::allow_origin(const http::RequestHead& request, http::Headers& response) const {
  const std::string* origin = request.headers.find("origin");
  if (!any_) response.add("Vary", "Origin");
  if (origin != nullptr && allows(*origin)) response.add("Access-Control-Allow-Origin", any_ ? "*" : *origin);
}

http::ResponseHead Cors::preflight(const http::RequestHead& request) const {
  http::ResponseHead head;
  head.status = 204;
  allow_origin(request, head.headers);
  if (!allows(request.headers.get("origin"))) return head;
  head.headers.add("Access-Control-Allow-Methods", std::string(kMethods));
  // What the page asks for is what it may send: headers carry no permission here, credentials do.
  const std::string* asked = request.headers.find("access-control-request-headers");
  head.headers.add("Access-Control-Allow-Headers", asked != nullptr ? *asked : std::string(kSendable));
  head.headers.add("Vary", "Access-Control-Request-Headers");
  head.headers.add("Access-Control-Max-Age", "7200");
  return head;
}

void Cors::permit(const http::RequestHead& request, http::Headers& response) const {
  if (!decides_) return;
  for (const char* name :
       {"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers"}) {
    response.remove(name);
  }
  allow_origin(request, response);
  const std::string* origin = request.headers.find("origin");
  if (origin != nullptr && allows(*origin)) response.add("Access-Control-Expose-Headers", std::string(kReadable));
}

}  // namespace tidemark::proxy
