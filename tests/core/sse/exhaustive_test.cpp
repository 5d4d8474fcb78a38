// Every stream over a small alphabet, in every split in two and byte by byte, against the slow reference.
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/core/sse/reference_parser.hpp"

namespace tidemark::sse {
namespace {

void check(const std::string& stream, const Limits& limits, Parser::Tail tail) {
  const test::Trace expected = test::reference_parse(stream, limits, tail);
  test::for_every_split(stream, false, [&](const std::vector<std::string_view>& chunks) {
    const test::Trace actual = test::parse_chunks(chunks, limits, tail);
    if (actual == expected) return;
    INFO(test::escaped(stream) << " in " << chunks.size() << " chunks, the first of " << chunks[0].size());
    REQUIRE(test::show(actual) == test::show(expected));
  });
}

// Calls each(stream) for every sequence of up to `longest` symbols; returns how many there were.
template <typename Each>
std::size_t for_every_stream(const std::vector<std::string>& alphabet, std::size_t longest, Each each,
                             const std::string& start = "") {
  each(start);
  std::size_t count = 1;
  if (longest == 0) return count;
  for (const std::string& symbol : alphabet) count += for_every_stream(alphabet, longest - 1, each, start + symbol);
  return count;
}

TEST_CASE("all streams of up to seven bytes") {
  const std::size_t count = for_every_stream(
      {"\r", "\n", ":", " ", "d"}, 7, [](const std::string& stream) { check(stream, {}, Parser::Tail::Discard); });
  CHECK(count == 97656);  // (5^8 - 1) / 4
}

TEST_CASE("all streams of up to six fields and line ends") {
  const auto tail = GENERATE(Parser::Tail::Discard, Parser::Tail::Dispatch);
  for_every_stream({"\r", "\n", "data", ":", "id"}, 6, [&](const std::string& stream) { check(stream, {}, tail); });
}

TEST_CASE("all streams of up to six fields and line ends, within narrow bounds") {
  const auto limits = GENERATE(Limits{0, 0}, Limits{4, 5}, Limits{5, 100}, Limits{100, 6}, Limits{6, 9});
  for_every_stream({"\r", "\n", "data:", "\xEF"}, 6,
                   [&](const std::string& stream) { check(stream, limits, Parser::Tail::Dispatch); });
}

TEST_CASE("all beginnings of a byte order mark") {
  for_every_stream({"\xEF", "\xBB", "\xBF", "\n", "data"}, 6,
                   [](const std::string& stream) { check(stream + ":x\n\n", {}, Parser::Tail::Dispatch); });
}

}  // namespace
}  // namespace tidemark::sse
