// What Redis answers (the protocol RESP2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::redis {

struct Reply {
  enum class Kind : std::uint8_t { Null, Integer, Text, Status, Error, Array };
  Kind kind = Kind::Null;
  std::int64_t integer = 0;
  std::string text;          // of Text, Status and Error
  std::vector<Reply> items;  // of Array

  bool is(Kind other) const { return kind == other; }
};

}  // namespace tidemark::redis
