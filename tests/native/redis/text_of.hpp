// What a reply says, for tests.
#pragma once

#include <string>

#include "native/redis/reply.hpp"

namespace tidemark::testing {

/// In one line: nested arrays in brackets, texts as they are.
inline std::string text_of(const redis::Reply& reply) {
  switch (reply.kind) {
    case redis::Reply::Kind::Null:
      return "null";
    case redis::Reply::Kind::Integer:
      return ":" + std::to_string(reply.integer);
    case redis::Reply::Kind::Text:
      return reply.text;
    case redis::Reply::Kind::Status:
      return "+" + reply.text;
    case redis::Reply::Kind::Error:
      return "-" + reply.text;
    case redis::Reply::Kind::Array:
      break;
  }
  std::string out = "[";
  for (const redis::Reply& item : reply.items) out += (out.size() > 1 ? " " : "") + text_of(item);
  return out + "]";
}

}  // namespace tidemark::testing
