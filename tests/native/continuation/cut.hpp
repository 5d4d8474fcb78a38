// A cut answer with everything that a test does not care about filled in.
#pragma once

#include <string>
#include <string_view>

#include "native/continuation/continuation.hpp"

namespace tidemark::continuation {

inline config::Upstream upstream_at(std::string_view base_url) {
  config::Upstream upstream;
  upstream.name = "u";
  upstream.base = *config::parse_base_url(base_url);
  return upstream;
}

inline std::string_view usual_target(dialect::Dialect dialect) {
  switch (dialect) {
    case dialect::Dialect::OpenaiResponses:
      return "/v1/responses";
    case dialect::Dialect::AnthropicMessages:
      return "/v1/messages";
    case dialect::Dialect::Gemini:
      return "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse";
    default:
      return "/v1/chat/completions";
  }
}

/// The views must outlive what is returned.
inline CutAnswer cut_answer(const config::Upstream& upstream, dialect::Dialect dialect, std::string_view body,
                            std::string_view text) {
  CutAnswer cut{upstream};
  cut.dialect = dialect;
  cut.target = usual_target(dialect);
  cut.body = body;
  cut.text = text;
  return cut;
}

/// What a request cannot be continued for; empty where it can.
inline std::string why_not(const Result<ContinuedRequest, std::string_view>& built) {
  return built.ok() ? "" : std::string(built.error());
}

}  // namespace tidemark::continuation
