// Responses as bytes: what they mean over every split, with and without the connection's end.
#include <string>

#include "tests/catch.hpp"
#include "tests/native/http/decode.hpp"

using namespace tidemark::http;
using namespace tidemark::http::testing;

namespace {

enum class Then { Open, Ended };

std::string decode(std::string_view bytes, std::size_t cut, Then then, std::string_view method = "GET") {
  H1ResponseDecoder decoder(CodecLimits{.head_bytes = 1000});
  decoder.expect(method);
  Trace<ResponseAction> trace;
  feed_cut(decoder, bytes, cut, trace);
  if (then == Then::Ended) {
    std::vector<ResponseAction> actions;
    decoder.finish(actions);
    trace.add(actions);
  }
  return trace.take();
}

void check_every_split(std::string_view bytes, const std::string& expected, Then then = Then::Open,
                       std::string_view method = "GET") {
  INFO(bytes);
  CHECK(decode(bytes, kEveryByte, then, method) == expected);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string got = decode(bytes, cut, then, method);
    if (got != expected) {
      INFO("cut at " << cut);
      CHECK(got == expected);
      return;
    }
  }
}

}  // namespace

TEST_CASE("well-formed responses, over every split") {
  check_every_split("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
                    "head 200 OK\n  Content-Length=3\nbody abc\nend\n");
  check_every_split("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "head 200 \n  Content-Length=0\nend\n");
  check_every_split("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "head 200 \n  Content-Length=0\nend\n");
  check_every_split("HTTP/1.1 529 Site is overloaded\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
                    "head 529 Site is overloaded\n  Transfer-Encoding=Chunked\nbody a\nend\n");
  check_every_split("HTTP/1.1 204 No Content\r\n\r\n", "head 204 No Content\nend\n");
  check_every_split("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
                    "head 304 Not Modified\n  Content-Length=9\nend\n");
}

TEST_CASE("a body without a length lasts to the connection's end, and says so") {
  check_every_split("HTTP/1.1 200 OK\r\nX: y\r\n\r\nabc", "head 200 OK\n  X=y\nbody abc\nend unframed\n", Then::Ended);
  check_every_split("HTTP/1.0 200 OK\r\n\r\n", "head 200 OK\nend unframed\n", Then::Ended);
}

TEST_CASE("a response that ends early is cut short") {
  check_every_split("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
                    "head 200 OK\n  Content-Length=3\nbody ab\nfailed CutShort\n", Then::Ended);
  check_every_split("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
                    "head 200 OK\n  Transfer-Encoding=chunked\nbody a\nfailed CutShort\n", Then::Ended);
  check_every_split("HTTP/1.1 200 OK\r\nContent-Len", "failed CutShort\n", Then::Ended);
  check_every_split("", "failed CutShort\n", Then::Ended);
}

TEST_CASE("interim responses are skipped") {
  check_every_split(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
      "1\r\n\r\na",
      "head 200 OK\n  Content-Length=1\nbody a\nend\n");
  check_every_split("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
                    "failed BadMessage\n");
}

TEST_CASE("a response to HEAD has no body") {
  check_every_split("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "head 200 OK\n  Content-Length=3\nend\n",
                    Then::Open, "HEAD");
  check_every_split("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                    "head 200 OK\n  Transfer-Encoding=chunked\nend\n", Then::Open, "HEAD");
  check_every_split("HTTP/1.1 200 OK\r\n\r\n", "head 200 OK\nend\n", Then::Open, "HEAD");
}

TEST_CASE("ambiguous responses are refused") {
  for (const std::string& bytes : {
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 27),
           std::string("HTTP/1.1 200 OK\nX: a\r\n\r\n"),
           std::string("HTTP/1.1 20 OK\r\n\r\n"),
           std::string("HTTP/1.1 2000 OK\r\n\r\n"),
           std::string("SSH-2.0-OpenSSH\r\n"),
       }) {
    check_every_split(bytes, "failed BadMessage\n");
  }
  check_every_split("HTTP/2.0 200 OK\r\n\r\n", "failed UnknownVersion\n");
  check_every_split("HTTP/1.1 200 OK\r\nX: " + std::string(1000, 'a') + "\r\n\r\n", "failed HeadTooLarge\n");
}

TEST_CASE("whether the connection can be used again") {
  const auto kept = [](std::string_view bytes, bool ended = false) {
    H1ResponseDecoder decoder({});
    decoder.expect("GET");
    std::vector<ResponseAction> actions;
    decoder.feed(bytes, actions);
    if (ended) decoder.finish(actions);
    REQUIRE(actions.back().kind == ResponseAction::Kind::End);
    return actions.back().keep_alive;
  };
  CHECK(kept("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  CHECK(kept("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
  CHECK_FALSE(kept("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
  CHECK_FALSE(kept("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
  CHECK(kept("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"));
  CHECK_FALSE(kept("HTTP/1.1 200 OK\r\n\r\nabc", true));
}
