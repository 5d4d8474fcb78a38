// Streaming gzip: every split, several members, damage, and the bound on output.
#include "native/http/gzip.hpp"

#include <algorithm>
#include <string>

#include "tests/catch.hpp"
#include "tests/native/gzip.hpp"

using tidemark::http::GzipDecoder;

using tidemark::test::gzip;

namespace {

bool decode(GzipDecoder& decoder, std::string_view input, std::string& text) {
  for (;;) {
    std::string_view output;
    const auto state = decoder.decode(input, output);
    if (output.size() > GzipDecoder::kOutput) return false;
    text += output;
    if (state == GzipDecoder::State::Failed) return false;
    if (state == GzipDecoder::State::Hungry) return true;
  }
}

}  // namespace

TEST_CASE("gzip over every split") {
  const std::string text = "data: {\"a\":1}\n\ndata: [DONE]\n\n";
  const std::string bytes = gzip(text) + gzip("and more") + std::string(3, '\0');
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    GzipDecoder decoder;
    std::string got;
    REQUIRE(decode(decoder, std::string_view(bytes).substr(0, cut), got));
    REQUIRE(decode(decoder, std::string_view(bytes).substr(cut), got));
    REQUIRE(got == text + "and more");
    REQUIRE(decoder.complete());
  }
}

TEST_CASE("what expands a thousandfold comes in bounded pieces") {
  const std::string bytes = gzip(std::string(10'000'000, 'a'));
  REQUIRE(bytes.size() < 20'000);
  GzipDecoder decoder;
  std::string got;
  CHECK(decode(decoder, bytes, got));
  CHECK(got.size() == 10'000'000);
  CHECK(decoder.complete());
}

TEST_CASE("damage and cuts show") {
  std::string bytes = gzip("hello, hello, hello");
  {
    GzipDecoder decoder;
    std::string got;
    CHECK(decode(decoder, std::string_view(bytes).substr(0, bytes.size() - 1), got));
    CHECK_FALSE(decoder.complete());
  }
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // in the checksum
  GzipDecoder damaged;
  std::string got;
  CHECK_FALSE(decode(damaged, bytes, got));
  GzipDecoder never;
  CHECK_FALSE(decode(never, "data: plain\n\n", got));
}
