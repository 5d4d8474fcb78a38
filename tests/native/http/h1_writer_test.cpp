// Heads and chunk sizes as they go out.
#include "native/http/h1_writer.hpp"

#include "tests/catch.hpp"

using namespace tidemark::http;

namespace {

std::string written(const ResponseHead& head, Framing framing, std::size_t length = 0, bool keep_alive = true,
                    int minor_version = 1) {
  std::string out;
  write_head(head, framing, length, keep_alive, minor_version, out);
  return out;
}

}  // namespace

TEST_CASE("framing and persistence of a response are the writer's") {
  ResponseHead head;
  head.headers = {{"X", "1"}, {"Connection", "keep-alive"}, {"Transfer-Encoding", "chunked"}, {"content-length", "9"}};
  CHECK(written(head, Framing::Length, 3) == "HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 3\r\n\r\n");
  CHECK(written(head, Framing::Chunked) == "HTTP/1.1 200 OK\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(written(head, Framing::None) == "HTTP/1.1 200 OK\r\nX: 1\r\ncontent-length: 9\r\n\r\n");
  CHECK(written(head, Framing::UntilEnd, 0, false) == "HTTP/1.1 200 OK\r\nX: 1\r\nConnection: close\r\n\r\n");
  CHECK(written(head, Framing::Length, 0, true, 0) ==
        "HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
}

TEST_CASE("a status without a usual phrase, and one with its own") {
  ResponseHead head;
  head.status = 529;
  CHECK(written(head, Framing::None) == "HTTP/1.1 529 \r\n\r\n");
  head.reason = "Overloaded";
  CHECK(written(head, Framing::None) == "HTTP/1.1 529 Overloaded\r\n\r\n");
}

TEST_CASE("no value can begin another line") {
  ResponseHead head;
  head.reason = "a\r\nb";
  head.headers = {{"X", std::string("1\r\nEvil: 2\0", 11)}};
  CHECK(written(head, Framing::None) == "HTTP/1.1 200 a  b\r\nX: 1  Evil: 2 \r\n\r\n");
}

TEST_CASE("requests: Host, length, and no hop-by-hop framing") {
  const auto sent = [](RequestHead head, std::size_t length) {
    std::string out;
    write_head(head, length, "up:1", out);
    return out;
  };
  RequestHead head;
  head.method = "POST";
  head.target = "/v1";
  head.headers = {{"A", "1"}, {"Connection", "close"}, {"Content-Length", "77"}};
  CHECK(sent(head, 5) == "POST /v1 HTTP/1.1\r\nHost: up:1\r\nA: 1\r\nContent-Length: 5\r\n\r\n");
  CHECK(sent(head, 0) == "POST /v1 HTTP/1.1\r\nHost: up:1\r\nA: 1\r\nContent-Length: 0\r\n\r\n");
  head.method = "GET";
  head.headers = {{"host", "own"}};
  CHECK(sent(head, 0) == "GET /v1 HTTP/1.1\r\nhost: own\r\n\r\n");
}

TEST_CASE("chunk sizes are written against their end") {
  for (const auto& [size, text] : {std::pair<std::size_t, std::string>{1, "1\r\n"},
                                   {15, "f\r\n"},
                                   {16, "10\r\n"},
                                   {16384, "4000\r\n"},
                                   {0xffffffff, "ffffffff\r\n"}}) {
    std::string room(kChunkSizeRoom, '.');
    const std::size_t start = write_chunk_size(size, room.data());
    CHECK(room.substr(start) == text);
  }
}
