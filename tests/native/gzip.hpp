// What an upstream that compresses sends.
#pragma once

#include <zlib.h>

#include <string>

#include "tests/catch.hpp"

namespace tidemark::test {

inline std::string gzip(std::string text) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(compressBound(text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace tidemark::test
