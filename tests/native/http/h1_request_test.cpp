// Requests as bytes: what they mean over every split, and what is refused.
#include <string>

#include "tests/catch.hpp"
#include "tests/native/http/decode.hpp"

using namespace tidemark::http;
using namespace tidemark::http::testing;

namespace {

std::string decode(std::string_view bytes, std::size_t cut, const CodecLimits& limits = {}) {
  H1RequestDecoder decoder(limits);
  Trace<RequestAction> trace;
  feed_cut(decoder, bytes, cut, trace);
  return trace.take();
}

void check_every_split(std::string_view bytes, const std::string& expected, const CodecLimits& limits = {}) {
  INFO(bytes);
  CHECK(decode(bytes, kEveryByte, limits) == expected);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string got = decode(bytes, cut, limits);
    if (got != expected) {
      INFO("cut at " << cut);
      CHECK(got == expected);
      return;
    }
  }
}

}  // namespace

TEST_CASE("well-formed requests, over every split") {
  check_every_split("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "head GET / 1.1 keep\n  Host=a\nend\n");
  check_every_split("\r\n\r\nGET /x?y=%20 HTTP/1.1\r\nHost: a\r\nX:\t v w \t\r\nEmpty:\r\n\r\n",
                    "head GET /x?y=%20 1.1 keep\n  Host=a\n  X=v w\n  Empty=\nend\n");
  check_every_split("POST / HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\n\r\nhello",
                    "head POST / 1.1 keep\n  host=a\n  Content-Length=5\nbody hello\nend\n");
  check_every_split(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: v\r\n\r\n",
      "head POST / 1.1 keep\n  Host=a\n  Transfer-Encoding=chunked\nbody abcde\nend\n");
  check_every_split("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
                    "head POST / 1.1 keep\n  Host=a\n  Content-Length=0\nend\n");
  check_every_split("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n",
                    "head GET / 1.1 close\n  Host=a\n  Connection=x, close\nend\n");
  check_every_split("GET / HTTP/1.0\r\n\r\n", "head GET / 1.0 close\nend\n");
  check_every_split("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                    "head GET / 1.0 keep\n  Connection=keep-alive\nend\n");
  check_every_split("GET http://other.example/a?b HTTP/1.1\r\nHost: a\r\n\r\n",
                    "head GET /a?b 1.1 keep\n  Host=a\nend\n");
  check_every_split("GET HTTPS://other.example?b HTTP/1.1\r\nHost: a\r\n\r\n",
                    "head GET /?b 1.1 keep\n  Host=a\nend\n");
  check_every_split("GET http://other.example HTTP/1.1\r\nHost: a\r\n\r\n", "head GET / 1.1 keep\n  Host=a\nend\n");
  check_every_split("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "head OPTIONS * 1.1 keep\n  Host=a\nend\n");
}

TEST_CASE("requests that follow one another at once") {
  check_every_split(
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nabGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
      "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\nGET /4 HTTP/1.1\r\nHost: "
      "a\r\n\r\n",
      "head POST /1 1.1 keep\n  Host=a\n  Content-Length=2\nbody ab\nend\nhead GET /2 1.1 keep\n  Host=a\nend\n"
      "head POST /3 1.1 keep\n  Host=a\n  Transfer-Encoding=chunked\nbody z\nend\nhead GET /4 1.1 keep\n  "
      "Host=a\nend\n");
}

TEST_CASE("an offered upgrade is passed over, with what follows still HTTP") {
  check_every_split(
      "GET /1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
      "head GET /1 1.1 keep\n  Host=a\n  Connection=Upgrade\n  Upgrade=h2c\nend\nhead GET /2 1.1 keep\n  "
      "Host=a\nend\n");
}

TEST_CASE("heads that can be read in two ways are refused, over every split") {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string cases[] = {
      post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
      post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
      post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
      post + "Content-Length: 1, 1\r\n\r\n",
      post + "Content-Length: +1\r\n\r\n",
      post + "Content-Length: -1\r\n\r\n",
      post + "Content-Length: 0x1\r\n\r\n",
      post + "Content-Length: 1 1\r\n\r\n",
      post + "Content-Length:\r\n\r\n",
      post + "Content-Length: 99999999999999999999999\r\n\r\n",
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n",
      post + "Transfer-Encoding: chunked, identity\r\n\r\n",
      post + "Transfer-Encoding: identity\r\n\r\n",
      post + "Transfer-Encoding: xchunked\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      get + "X: a\r\n folded\r\n\r\n",
      get + "X: a\r\n\tfolded\r\n\r\n",
      "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
      get + std::string("X: a\0b\r\n\r\n", 10),
      get + "X: a\rb\r\n\r\n",
      get + "X: a\r\r\n\r\n",
      get + "X: a\x01\r\n\r\n",
      get + "X: a\x7f\r\n\r\n",
      get + "X: a\n\r\n",
      get + "\n",
      get + "X : a\r\n\r\n",
      get + "X\r\n\r\n",
      get + ": a\r\n\r\n",
      get + "X(y): a\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / x HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\tx HTTP/1.1\r\nHost: a\r\n\r\n",
      " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
      "GET /\r\nHost: a\r\n\r\n",
      "GET\r\n\r\n",
      "GET / http/1.1\r\nHost: a\r\n\r\n",
      "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
      "\x16\x03\x01\x02\r\n",
      "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
  };
  for (const std::string& bytes : cases) check_every_split(bytes, "failed BadMessage\n");
}

TEST_CASE("what is not HTTP/1.0 or 1.1, or not a known method, has its own fault") {
  check_every_split("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "failed UnknownVersion\n");
  check_every_split("GET / HTTP/1.2\r\nHost: a\r\n\r\n", "failed UnknownVersion\n");
  check_every_split("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "failed UnknownMethod\n");
  check_every_split("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "failed UnknownMethod\n");
}

TEST_CASE("chunks that can be read in two ways are refused") {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string cases[] = {
      "3\nabc\r\n0\r\n\r\n",         "3\r\nabc\n0\r\n\r\n",
      "3\r\nabc\r\n0\n\r\n",         "3\rabc\r\n0\r\n\r\n",
      "3\r\nabcd\r\n0\r\n\r\n",      "3;a\rb\r\nabc\r\n0\r\n\r\n",
      "3;a\nb\r\nabc\r\n0\r\n\r\n",  "g\r\nabc\r\n0\r\n\r\n",
      "-1\r\nabc\r\n0\r\n\r\n",      "0x3\r\nabc\r\n0\r\n\r\n",
      "\r\n3\r\nabc\r\n0\r\n\r\n",   "3\r\nabc\r\n0\r\nT: a\rb\r\n\r\n",
      "3\r\nabc\r\n0\r\nT: a\n\r\n", "3\r\nabc\r\n0\r\nT: a\r\n b\r\n\r\n",
      "3;\x01\r\nabc\r\n0\r\n\r\n",  "fffffffffffffffff\r\nabc\r\n0\r\n\r\n",
  };
  for (const std::string& chunks : cases) {
    for (std::size_t cut = 0; cut <= head.size() + chunks.size(); ++cut) {
      const std::string got = decode(head + chunks, cut);
      INFO(chunks << " cut at " << cut);
      REQUIRE(got.find("failed BadMessage\n") != std::string::npos);
      REQUIRE(got.find("end\n") == std::string::npos);
    }
  }
}

TEST_CASE("the head's limit counts every byte, empty lines before it too") {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string good = "head GET / 1.1 keep\n  Host=a\nend\n";
  check_every_split(head, good, {.head_bytes = head.size()});
  check_every_split(head, "failed HeadTooLarge\n", {.head_bytes = head.size() - 1});
  check_every_split("\r\n" + head, good, {.head_bytes = head.size() + 2});
  check_every_split("\r\n" + head, "failed HeadTooLarge\n", {.head_bytes = head.size() + 1});
  check_every_split(std::string(101, 'a'), "failed HeadTooLarge\n", {.head_bytes = 100});
}

TEST_CASE("the body's limit, by length and by chunks") {
  const CodecLimits limits{.body_bytes = 4};
  check_every_split("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd",
                    "head POST / 1.1 keep\n  Host=a\n  Content-Length=4\nbody abcd\nend\n", limits);
  check_every_split("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", "failed BodyTooLarge\n", limits);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(decode(chunked + "4\r\nabcd\r\n0\r\n\r\n", kEveryByte, limits).find("body abcd\nend\n") != std::string::npos);
  for (const std::size_t cut : {std::size_t{0}, chunked.size(), chunked.size() + 9, kEveryByte}) {
    CHECK(decode(chunked + "4\r\nabcd\r\n1\r\ne\r\n0\r\n\r\n", cut, limits).find("failed BodyTooLarge\n") !=
          std::string::npos);
  }
}

TEST_CASE("chunk extensions and trailers have the head's limit") {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const CodecLimits limits{.head_bytes = 100};
  const std::string extension = "1;" + std::string(200, 'x') + "\r\na\r\n0\r\n\r\n";
  CHECK(decode(head + extension, kEveryByte, limits).find("failed HeadTooLarge\n") != std::string::npos);
  const std::string trailer = "1\r\na\r\n0\r\nT: " + std::string(200, 'x') + "\r\n\r\n";
  CHECK(decode(head + trailer, kEveryByte, limits).find("failed HeadTooLarge\n") != std::string::npos);
}

TEST_CASE("a decoder that has failed takes nothing more") {
  H1RequestDecoder decoder({});
  std::vector<RequestAction> actions;
  decoder.feed("?\n", actions);
  CHECK(actions.back().kind == RequestAction::Kind::Failed);
  const std::size_t count = actions.size();
  CHECK(decoder.feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n", actions) == 0);
  CHECK(actions.size() == count);
}
