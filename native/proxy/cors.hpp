// Cross-origin requests: which pages may ask, what they may send, and what they may read (Fetch standard § 3.2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "native/http/message.hpp"

namespace tidemark::proxy {

class Cors {
 public:
  /// Who decides where no origin is configured.
  enum class Unconfigured : bool {
    Upstream,  // the upstream: clients bring their own credentials
    Nobody,    // no page may ask: it would spend keys that are not its user's
  };
  /// "*" among the origins allows every one.
  Cors(std::vector<std::string> allow_origins, Unconfigured unconfigured);

  /// Whether preflights are answered here.
  bool decides() const { return decides_; }

  bool allows(std::string_view origin) const;
  static bool is_preflight(const http::RequestHead& request);
  /// The 204 that answers a preflight; without the permission where the origin is not allowed.
  http::ResponseHead preflight(const http::RequestHead& request) const;
  /// Adds what lets the page of an allowed origin read the response, in place of what the upstream says about that.
  /// Does nothing where the upstream decides.
  void permit(const http::RequestHead& request, http::Headers& response) const;

 private:
  void allow_origin(const http::RequestHead& request, http::Headers& response) const;

  std::vector<std::string> origins_;
  bool any_ = false;
  bool decides_ = false;
};

}  // namespace tidemark::proxy
