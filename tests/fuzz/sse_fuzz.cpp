// The parser against the slow reference over any bytes, bounds and cuts; the encoder's output against the reference.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/sse/encoder.hpp"
#include "core/sse/parser.hpp"
#include "tests/core/sse/reference_parser.hpp"

namespace {

using tidemark::sse::Limits;
using tidemark::sse::Parser;
using tidemark::sse::Step;
using tidemark::sse::test::Entry;
using tidemark::sse::test::Trace;

void expect_same(const Trace& actual, const Trace& expected, const char* what) {
  if (actual == expected) return;
  std::fprintf(stderr, "%s\n-- got\n%s-- expected\n%s", what, tidemark::sse::test::show(actual).c_str(),
               tidemark::sse::test::show(expected).c_str());
  std::abort();
}

// Cuts after 1 + n bytes for each n of `plan`, over and over.
std::vector<std::string_view> cut(std::string_view input, std::string_view plan) {
  std::vector<std::string_view> chunks;
  for (std::size_t i = 0; !input.empty(); ++i) {
    const auto size = plan.empty() ? input.size() : std::size_t{1} + static_cast<unsigned char>(plan[i % plan.size()]);
    chunks.push_back(input.substr(0, size));
    input.remove_prefix(chunks.back().size());
  }
  return chunks;
}

// Events with ids given to them are what they were, but for their ids.
void check_encoder(const Trace& trace) {
  std::string encoded;
  Trace expected;
  for (const Entry& entry : trace.entries) {
    tidemark::sse::Event event;
    event.block = entry.block;
    event.line_end = entry.line_end;
    event.has_id = entry.has_id;
    tidemark::sse::append_with_id(encoded, event, "e-1");
    expected.entries.push_back(entry);
    expected.last_event_id = "e-1";
  }
  Trace actual = tidemark::sse::test::reference_parse(encoded, Limits{SIZE_MAX, SIZE_MAX});
  actual.retry = {};
  // Blocks differ by their id lines; what those are is said by the encoder's own tests.
  for (Trace* each : {&actual, &expected}) {
    for (Entry& entry : each->entries) {
      entry.id.clear();
      entry.block.clear();
      entry.line_end.clear();
      entry.has_id = true;
    }
  }
  expect_same(actual, expected, "encoded with ids");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(bytes), size);
  if (input.size() < 8) return 0;
  // Four bytes of settings, four of a cutting plan; the rest is the stream.
  const auto setting = [&](std::size_t i) { return static_cast<std::size_t>(bytes[i]); };
  const Limits limits{setting(0) < 128 ? SIZE_MAX : setting(0) - 128, setting(1) < 128 ? SIZE_MAX : setting(1) - 128};
  const auto tail = setting(2) % 2 == 0 ? Parser::Tail::Discard : Parser::Tail::Dispatch;
  const std::string_view plan = input.substr(4, setting(3) % 5);
  input.remove_prefix(8);

  const Trace expected = tidemark::sse::test::reference_parse(input, limits, tail);
  expect_same(tidemark::sse::test::parse_chunks({input}, limits, tail), expected, "in one chunk");
  expect_same(tidemark::sse::test::parse_chunks(cut(input, plan), limits, tail), expected, "cut by plan");
  expect_same(tidemark::sse::test::parse_chunks(cut(input, std::string_view("\0", 1)), limits, tail), expected,
              "byte by byte");
  check_encoder(expected);
  return 0;
}
