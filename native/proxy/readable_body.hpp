// What a response's body says, as far as it is looked at, while its bytes are handed on as they came.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/session/relay.hpp"
#include "native/http/gzip.hpp"
#include "native/http/message.hpp"

namespace tidemark::proxy {

class ReadableBody {
 public:
  /// A body with these headers begins.
  session::BodyCoding begin(const http::Headers& headers);
  /// What the next bytes say. Empty where they are not compressed or can't be read, and once the text that is looked at
  /// (dialect::kMaxChallengeBytes) is complete; at most that much in all. Valid until the next call.
  std::string_view read(std::string_view bytes);

 private:
  std::unique_ptr<http::GzipDecoder> gzip_;
  std::size_t left_ = 0;
  std::string text_;
};

}  // namespace tidemark::proxy
