// The proxy's own answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/dialect/dialect.hpp"
#include "native/downstream/exchange.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/errors.hpp"

namespace tidemark::proxy {

/// A whole answer with its content type, CORS headers added.
void reply(const Context& context, downstream::Exchange& exchange, int status, std::string_view content_type,
           std::string body, const http::Headers& headers = {});

/// An error of the proxy's own, with Retry-After and retry-after-ms where it has one; counted and logged.
void reply_refusal(const Context& context, downstream::Exchange& exchange, Refusal refusal, dialect::Dialect dialect);

/// The path of a request as it may be logged: without query, and without the name of a stream.
std::string_view loggable_path(std::string_view target);

/// `Retry-After` in seconds and `retry-after-ms`.
void add_retry_after(http::Headers& headers, std::optional<int> seconds);

}  // namespace tidemark::proxy
