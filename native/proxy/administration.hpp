// The proxy's own pages: /tidemark/healthz, readyz, metrics, status, and streams by id (contract § 3.2, § 6).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "native/downstream/exchange.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/streams.hpp"

namespace tidemark::proxy {

class Administration {
 public:
  Administration(Context& context, Streams& streams) : context_(context), streams_(streams) {}

  /// healthz and readyz, which need no token.
  static bool is_probe(std::string_view path);
  /// `path`: without the query.
  void handle(const std::shared_ptr<downstream::Exchange>& exchange, std::string_view path);

 private:
  void stream(const std::shared_ptr<downstream::Exchange>& exchange, std::string_view id);
  void follow(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream);

  Context& context_;
  Streams& streams_;
};

/// A stream's state as JSON (contract § 3.2).
std::string describe(const Stream& stream, const log::StreamLog& log);
/// /tidemark/status: upstreams, breaker states, streams by state, log use.
std::string status_page(const Context& context);
/// /tidemark/metrics.
std::string metrics_page(const Context& context);

}  // namespace tidemark::proxy
