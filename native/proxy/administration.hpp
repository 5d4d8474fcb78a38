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
  /// A request that a stream's page was asked for with, and how long it may take till it is clear what becomes of it.
  struct Errand {
    std::shared_ptr<downstream::Exchange> exchange;
    std::string id;
    TimeMs give_up_at = kNever;
    int tries = 0;  // at a stream that is to be taken over first
  };
  void look(const Errand& errand);
  void found(const Errand& errand, const std::shared_ptr<Stream>& stream);
  void tell(const Errand& errand, const Stream& stream);
  void follow(const Errand& errand, const std::shared_ptr<Stream>& stream);

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
