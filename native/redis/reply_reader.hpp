// Replies out of bytes; for the sources of this directory only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "native/redis/reply.hpp"

namespace tidemark::redis {

/// Takes RESP2. Whoever finds an error drops the reader with its connection.
class ReplyReader {
 public:
  /// A reply that takes more than `max_reply_bytes`, in memory or as it comes, is an error.
  explicit ReplyReader(std::size_t max_reply_bytes);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  /// Copies the bytes.
  void feed(std::string_view bytes);
  enum class Got : std::uint8_t {
    Reply,    // into `out`
    Nothing,  // more bytes are needed
    Failed,   // error() says why
  };
  Got next(Reply& out);
  const std::string& error() const { return error_; }

  struct Impl;

 private:
  Got fail(std::string why);

  std::unique_ptr<Impl> impl_;
  std::string error_;
};

}  // namespace tidemark::redis
