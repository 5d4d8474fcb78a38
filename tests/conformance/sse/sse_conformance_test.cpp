// Runs cases.json (format: tests/conformance/README.md) against the parser, in every split, and against the reference.
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/core/sse/reference_parser.hpp"

namespace tidemark::sse {
namespace {

using test::Entry;
using test::Trace;
using tidemark::test::bytes;
using tidemark::test::Json;
using tidemark::test::require_keys;

constexpr std::size_t kCutInTwo = 4096;
constexpr std::size_t kCutInThree = 40;

std::string bytes_under(const Json& object, const char* key) {
  return object.contains(key) ? bytes(object.at(key)) : std::string();
}

Error error_from(const std::string& name) {
  if (name == "line_too_long") return Error::LineTooLong;
  if (name == "event_too_large") return Error::EventTooLarge;
  REQUIRE(name.empty());
  return Error::None;
}

Trace expected_trace(const Json& item) {
  Trace trace;
  for (const Json& entry : item.at("trace")) {
    require_keys(entry, {"data", "event", "id", "comment", "block", "line_end"});
    const bool is_event = entry.contains("data");
    trace.entries.push_back({is_event ? Step::Event : Step::Comment, bytes_under(entry, "event"),
                             bytes_under(entry, "data"), bytes_under(entry, "id"),
                             bytes_under(entry, is_event ? "block" : "comment"), bytes_under(entry, "line_end")});
  }
  trace.error = error_from(item.value("error", ""));
  if (item.contains("retry")) trace.retry = item.at("retry").get<std::uint64_t>();
  trace.last_event_id = bytes_under(item, "last_event_id");
  return trace;
}

// `trace` without what the case does not speak of.
Trace as_far_as(const Json& item, Trace trace) {
  const Json& wanted = item.at("trace");
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    Entry& entry = trace.entries[i];
    entry.has_id = false;
    if (i >= wanted.size()) continue;
    if (entry.step == Step::Event && !wanted[i].contains("block")) entry.block.clear();
    if (!wanted[i].contains("line_end")) entry.line_end.clear();
  }
  return trace;
}

TEST_CASE("the event stream cases, in every split") {
  const std::vector<std::string> keys{"name", "input", "limits", "tail", "trace", "error", "retry", "last_event_id"};
  tidemark::test::for_every_case("sse/cases.json", 100, keys, [](const Json& item) {
    const std::string input = bytes(item.at("input"));
    Limits limits;
    if (item.contains("limits")) {
      limits = {item["limits"].at("max_line_bytes").get<std::size_t>(),
                item["limits"].at("max_event_bytes").get<std::size_t>()};
    }
    const auto tail = item.value("tail", "discard") == "dispatch" ? Parser::Tail::Dispatch : Parser::Tail::Discard;
    const Trace expected = expected_trace(item);

    const Trace reference = test::reference_parse(input, limits, tail);
    CHECK(test::show(as_far_as(item, reference)) == test::show(expected));

    const auto check = [&](const std::vector<std::string_view>& chunks) {
      const Trace trace = test::parse_chunks(chunks, limits, tail);
      if (trace == reference) return;
      INFO("in " << chunks.size() << " chunks, the first of " << (chunks.empty() ? 0 : chunks[0].size()));
      REQUIRE(test::show(trace) == test::show(reference));
    };
    if (input.size() <= kCutInTwo) {
      test::for_every_split(input, input.size() <= kCutInThree, check);
    } else {
      check({input});
      for (const std::size_t size : {1u, 2u, 3u, 7u, 1400u, 16384u}) check(test::in_chunks_of(input, size));
    }
  });
}

}  // namespace
}  // namespace tidemark::sse
