// Replies out of bytes, however these are cut, and what is refused.
#include "native/redis/reply_reader.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/native/redis/text_of.hpp"

using namespace tidemark;
using redis::Reply;
using redis::ReplyReader;
using tidemark::testing::text_of;

namespace {

// Each reply on its own; the last one "FAILED: " and why where there was an error.
std::vector<std::string> read(std::string_view bytes, std::size_t step, std::size_t max_bytes = 1 << 20) {
  ReplyReader reader(max_bytes);
  std::vector<std::string> out;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    for (;;) {
      Reply reply;
      const ReplyReader::Got got = reader.next(reply);
      if (got == ReplyReader::Got::Nothing) break;
      if (got == ReplyReader::Got::Failed) {
        out.push_back("FAILED: " + reader.error());
        return out;
      }
      out.push_back(text_of(reply));
    }
  }
  return out;
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("every type, in any pieces") {
  const std::string bytes =
      "+OK\r\n-ERR no\r\n:-12\r\n$5\r\na\r\nbc\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n"
      "*3\r\n*2\r\n$1\r\na\r\n*1\r\n:1\r\n$-1\r\n*2\r\n-in\r\n*0\r\n:9223372036854775807\r\n";
  const std::vector<std::string> wanted{"+OK",
                                        "-ERR no",
                                        ":-12",
                                        "a\r\nbc",
                                        "",
                                        "null",
                                        "null",
                                        "[]",
                                        "[[a [:1]] null [-in []]]",
                                        ":9223372036854775807"};
  for (const std::size_t step : {1U, 2U, 3U, 7U, 1000U}) {
    INFO(step);
    CHECK(read(bytes, step) == wanted);
  }
}

TEST_CASE("a large reply among thousands of small ones") {
  const std::string large(300'000, 'x');
  const std::string bytes = repeated(":7\r\n", 5000) + "$" + std::to_string(large.size()) + "\r\n" + large + "\r\n" +
                            repeated("+a\r\n", 5000);
  for (const std::size_t step : {999U, 65536U}) {
    const auto replies = read(bytes, step);
    REQUIRE(replies.size() == 10001);
    CHECK(replies[4999] == ":7");
    CHECK(replies[5000] == large);
    CHECK(replies[10000] == "+a");
  }
}

TEST_CASE("a reply larger than its bound is refused, as soon as it is known") {
  const std::string why = "FAILED: a reply of more than 10000 bytes";
  SECTION("a text, before it is complete") {
    CHECK(read("$20000\r\n" + std::string(10'500, 'x'), 1000, 10'000) == std::vector{why});
    CHECK(read("$9000\r\n" + std::string(9000, 'x') + "\r\n", 1000, 10'000).size() == 1);
  }
  SECTION("a status without an end") { CHECK(read("+" + std::string(10'500, 'x'), 1000, 10'000) == std::vector{why}); }
  SECTION("many small items, which take more memory than bytes") {
    CHECK(read("*2000\r\n" + repeated(":1\r\n", 1000), 100, 10'000) == std::vector{why});
    CHECK(read("*2000\r\n" + repeated(":1\r\n", 1000), 100'000, 10'000) == std::vector{why});
    CHECK(read("*100\r\n" + repeated(":1\r\n", 100), 100, 10'000).size() == 1);
  }
  SECTION("texts in an array, each small enough") {
    CHECK(read("*4\r\n" + repeated("$3000\r\n" + std::string(3000, 'x') + "\r\n", 4), 100, 10'000) == std::vector{why});
  }
  SECTION("but replies one after the other may take more") {
    CHECK(read(repeated("$3000\r\n" + std::string(3000, 'x') + "\r\n", 20), 5000, 10'000).size() == 20);
    CHECK(read(repeated("*50\r\n" + repeated(":1\r\n", 50), 20), 100'000, 10'000).size() == 20);
  }
}

TEST_CASE("an announced count takes no memory") {
  CHECK(read("*2147483647\r\n:1\r\n", 100, 1000).empty());
  CHECK(read("$2147483647\r\nabc", 100, 1000).empty());
}

TEST_CASE("arrays in arrays go as deep as they are taken") {
  CHECK(read(repeated("*1\r\n", 8) + ":1\r\n", 3) == std::vector<std::string>{"[[[[[[[[:1]]]]]]]]"});
  const auto refused = read(repeated("*1\r\n", 9) + ":1\r\n", 3);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].rfind("FAILED: ", 0) == 0);
}

TEST_CASE("what is not the protocol") {
  for (const char* bytes : {"HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "*x\r\n", "$-2\r\n", "\r\n", "#t\r\n", ",1.5\r\n",
                            "%1\r\n:1\r\n:2\r\n", "~1\r\n:1\r\n", "*1\r\n,1.5\r\n", "*1\r\n#t\r\n",
                            "*1\r\n~1\r\n:1\r\n", "(12\r\n", "=5\r\ntxt:a\r\n", ">1\r\n:1\r\n"}) {
    INFO(bytes);
    const auto replies = read(std::string("+OK\r\n") + bytes, 1);
    REQUIRE(replies.size() == 2);
    CHECK(replies[1].rfind("FAILED: ", 0) == 0);
  }
}

TEST_CASE("after an error nothing is read any more") {
  ReplyReader reader(1000);
  Reply reply;
  reader.feed("?\r\n");
  REQUIRE(reader.next(reply) == ReplyReader::Got::Failed);
  const std::string why = reader.error();
  reader.feed("+OK\r\n");
  CHECK(reader.next(reply) == ReplyReader::Got::Failed);
  CHECK(reader.error() == why);
}
