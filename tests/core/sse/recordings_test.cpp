// Real answers of real providers, framed with each kind of line end and cut everywhere.
#include "tests/recordings.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"
#include "tests/core/sse/reference_parser.hpp"
#include "tests/core/sse/stream_generator.hpp"

namespace tidemark::sse {
namespace {

constexpr std::size_t kCutEverywhere = 3000;  // up to this many bytes, all splits in two

std::string with_line_ends(const std::string& stream, std::string_view line_end) {
  std::string out;
  for (const char c : stream) {
    if (c == '\n') {
      out += line_end;
    } else {
      out += c;
    }
  }
  return out;
}

TEST_CASE("recorded streams come out as they were recorded, however they are framed and cut") {
  const std::vector<tidemark::test::Recording> recordings = tidemark::test::recordings();
  if (recordings.empty()) {
    WARN("no recordings: nothing was tested");
    return;
  }
  std::size_t cut_everywhere = 0;
  test::StreamGenerator random(1);
  for (const auto& recording : recordings) {
    std::vector<std::string> wanted = recording.data;
    if (recording.dialect == dialect::Dialect::OpenaiChat) wanted.emplace_back("[DONE]");
    for (const std::string_view line_end : {"\n", "\r\n", "\r"}) {
      INFO(recording.file << " with " << test::escaped(line_end));
      const std::string stream = with_line_ends(recording.framed(), line_end);
      const test::Trace expected = test::reference_parse(stream);
      REQUIRE(expected.entries.size() == wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(expected.entries[i].data == wanted[i]);

      const auto check = [&](const std::vector<std::string_view>& chunks) {
        if (!(test::parse_chunks(chunks) == expected)) FAIL("in " << chunks.size() << " chunks");
      };
      if (stream.size() <= kCutEverywhere) {
        test::for_every_split(stream, false, check);
        ++cut_everywhere;
      }
      for (const std::size_t size : {1u, 7u, 1400u, 16384u}) check(test::in_chunks_of(stream, size));
      for (int i = 0; i < 10; ++i) check(random.chunks(stream));
    }
  }
  CHECK(cut_everywhere > 0);
}

}  // namespace
}  // namespace tidemark::sse
