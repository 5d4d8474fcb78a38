// The encoder: exact bytes, and that what it writes is read back.
#include "core/sse/encoder.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/core/sse/reference_parser.hpp"
#include "tests/core/sse/stream_generator.hpp"

namespace tidemark::sse {
namespace {

// The first block of `stream`, with an id.
std::string with_id(const std::string& stream, Parser::Tail tail = Parser::Tail::Discard) {
  Parser parser;
  Event event;
  parser.feed(stream);
  Step step = parser.next(event);
  if (step == Step::NeedMore) step = parser.end(tail, event);
  REQUIRE((step == Step::Event || step == Step::Comment));
  std::string out = "before|";
  append_with_id(out, event, "e-1");
  return out.substr(7);
}

TEST_CASE("the id comes first, every other byte stays") {
  CHECK(with_id("data: a\n\n") == "id: e-1\ndata: a\n\n");
  CHECK(with_id("data: a\r\n\r\n") == "id: e-1\r\ndata: a\r\n\r\n");
  CHECK(with_id("data: a\r\r") == "id: e-1\rdata: a\r\r");
  CHECK(with_id("event:x\n:c\nother\ndata:a\n\n") == "id: e-1\nevent:x\n:c\nother\ndata:a\n\n");
  CHECK(with_id("data: a\r\ndata: b\n\n") == "id: e-1\ndata: a\r\ndata: b\n\n");
  CHECK(with_id("\xEF\xBB\xBF\ndata: a\n\n") == "id: e-1\ndata: a\n\n");
}

TEST_CASE("the block's own id lines are left out in all their forms") {
  CHECK(with_id("id: 1\ndata: a\n\n") == "id: e-1\ndata: a\n\n");
  CHECK(with_id("id\ndata: a\nid:\n\n") == "id: e-1\ndata: a\n\n");
  CHECK(with_id("data: a\r\nid:2\r\ndata: b\r\n\r\n") == "id: e-1\r\ndata: a\r\ndata: b\r\n\r\n");
  CHECK(with_id(std::string("id: a\0b\rdata: a\r\r", 17)) == "id: e-1\rdata: a\r\r");
  CHECK(with_id("idx: 1\nid : 2\n id: 3\nid: 4\ndata: a\n\n") == "id: e-1\nidx: 1\nid : 2\n id: 3\ndata: a\n\n");
  CHECK(with_id("id: 4\n\n") == "id: e-1\n\n");
}

TEST_CASE("a left-out last line does not make the blank line melt into the line before it") {
  CHECK(with_id("data: a\rid: 2\n\n") == "id: e-1\rdata: a\r\r");
  CHECK(with_id("data: a\nid: 2\r\r") == "id: e-1\ndata: a\n\n");
}

TEST_CASE("a block that the end of the stream cut is completed") {
  CHECK(with_id("data: a", Parser::Tail::Dispatch) == "id: e-1\ndata: a\n\n");
  CHECK(with_id("data: a\r\ndata: b", Parser::Tail::Dispatch) == "id: e-1\r\ndata: a\r\ndata: b\r\n\r\n");
  CHECK(with_id("data: a\r\nid: 9", Parser::Tail::Dispatch) == "id: e-1\r\ndata: a\r\n\r\n");
}

TEST_CASE("events and comments made here") {
  std::string out;
  append_event(out, "", "a");
  CHECK(out == "data: a\n\n");
  out.clear();
  append_event(out, "ping", "");
  CHECK(out == "event: ping\ndata: \n\n");
  out.clear();
  append_event(out, "x", "a\nb\r\nc\rd\n", "e-2");
  CHECK(out == "id: e-2\nevent: x\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
  out.clear();
  append_comment(out, "tidemark end=complete reason=terminal-marker");
  CHECK(out == ": tidemark end=complete reason=terminal-marker\n\n");
}

TEST_CASE("random streams, given ids, are read back with them and are otherwise the same") {
  test::StreamGenerator random(7);
  std::size_t events = 0;
  for (int round = 0; round < 10000; ++round) {
    const std::string stream = random.stream();
    const test::Trace before = test::reference_parse(stream, {}, Parser::Tail::Dispatch);
    std::string encoded;
    for (std::size_t i = 0; i < before.entries.size(); ++i) {
      const test::Entry& entry = before.entries[i];
      Event event;
      event.block = entry.block;
      event.line_end = entry.line_end;
      event.has_id = entry.has_id;
      append_with_id(encoded, event, "e-" + std::to_string(i));
      append_comment(encoded, "between");
    }
    const test::Trace after = test::reference_parse(encoded);
    INFO(test::escaped(stream) << " became " << test::escaped(encoded));
    REQUIRE(after.entries.size() == 2 * before.entries.size());
    for (std::size_t i = 0; i < before.entries.size(); ++i) {
      const test::Entry& entry = after.entries[2 * i];
      const bool same = entry.step == before.entries[i].step && entry.name == before.entries[i].name &&
                        entry.data == before.entries[i].data && entry.has_id &&
                        (entry.step == Step::Comment || entry.id == "e-" + std::to_string(i)) &&
                        after.entries[2 * i + 1].block == ": between\n";
      if (!same) REQUIRE(test::show(after) == test::show(before));
      events += entry.step == Step::Event ? 1 : 0;
    }
  }
  CHECK(events > 5000);
}

TEST_CASE("events made here are read back") {
  test::StreamGenerator random(8);
  for (int round = 0; round < 2000; ++round) {
    const std::string data = random.stream();
    std::string lines;  // as a reader must see them: every line end an LF
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (data[i] == '\n' && i > 0 && data[i - 1] == '\r') continue;
      lines += data[i] == '\r' ? '\n' : data[i];
    }
    std::string encoded;
    append_event(encoded, "name", data, "id 1");
    const test::Trace trace = test::reference_parse(encoded);
    INFO(test::escaped(data));
    REQUIRE(trace.entries.size() == 1);
    REQUIRE(trace.entries[0].data == lines);
    REQUIRE(trace.entries[0].name == "name");
    REQUIRE(trace.last_event_id == "id 1");
  }
}

}  // namespace
}  // namespace tidemark::sse
