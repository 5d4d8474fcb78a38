// An event that is recognised before it is parsed is the event that the parser would have found: the same views, the
// same id in force, the same meaning.
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/sse/parser.hpp"
#include "tests/catch.hpp"
#include "tests/core/dialect/stream_pair.hpp"
#include "tests/recordings.hpp"

namespace tidemark::dialect {
namespace {

struct Trace {
  std::string all;
  int recognised = 0;
};

std::string show(const sse::Event& event) {
  std::string out;
  for (const std::string_view part : {event.name, event.data, event.id, event.block, event.line_end}) {
    out += std::string(part) + "|";
  }
  return out + (event.has_id ? "has id" : "");
}

Trace read(std::string_view bytes, Dialect dialect, std::size_t chunk, bool ahead, sse::Limits limits = {}) {
  Trace trace;
  sse::Parser parser(limits);
  Interpreter interpreter(dialect, ahead ? Interpreter::Shortcut::On : Interpreter::Shortcut::Off);
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    parser.feed(bytes.substr(at, chunk));
    for (bool more = true; more;) {
      sse::Event event;
      FrameGuess::Match match;
      if (ahead && interpreter.recognise(parser.ahead(), event, match) && parser.take_ahead(event)) {
        ++trace.recognised;
        trace.all += show(event) + " = " + test::show(interpreter.interpret(match)) + "\n";
      } else {
        switch (parser.next(event)) {
          case sse::Step::Event:
            trace.all += show(event) + " = " + test::show(interpreter.interpret(event)) + "\n";
            break;
          case sse::Step::Comment:
            trace.all += "comment " + std::string(event.block) + "\n";
            break;
          case sse::Step::NeedMore:
          case sse::Step::Failed:
            more = false;
            break;
        }
      }
      trace.all += parser.mid_event() ? "mid " : "";
      trace.all += std::string(parser.last_event_id()) + " " + std::to_string(parser.retry_ms().value_or(7)) + "\n";
    }
  }
  trace.all += test::show(interpreter.answer()) + std::string(sse::describe(parser.error()));
  return trace;
}

void check_same(std::string_view bytes, Dialect dialect, std::size_t chunk, sse::Limits limits = {}) {
  REQUIRE(read(bytes, dialect, chunk, true, limits).all == read(bytes, dialect, chunk, false, limits).all);
}

// With lines around the data that streams may have: 0 as recorded; 1 numbered, as a proxy sends it; 2 with an id of its
// own after the name; 3 CRLF.
std::string framed(const tidemark::test::Recording& recording, int way) {
  std::string out;
  int number = 0;
  const std::string plain = recording.framed();
  for (std::size_t at = 0, end = 0; at < plain.size(); at = end + 2) {
    end = plain.find("\n\n", at);
    std::string block = plain.substr(at, end - at);
    const std::string id = "id: e-" + std::to_string(number++) + "\n";
    if (way == 1) block = id + block;
    if (way == 2) block.insert(block.find("data:"), id);
    if (way == 3) {
      for (std::size_t i = 0; (i = block.find('\n', i)) != std::string::npos; i += 2) block.insert(i, 1, '\r');
      out += block + "\r\n\r\n";
    } else {
      out += block + "\n\n";
    }
  }
  return out;
}

TEST_CASE("recorded streams, framed in four ways: recognised ahead or parsed, all is the same") {
  int recognised[4] = {};
  for (const auto& recording : tidemark::test::recordings()) {
    INFO(recording.file);
    for (int way = 0; way < 4; ++way) {
      const std::string bytes = framed(recording, way);
      for (const std::size_t chunk : {bytes.size(), std::size_t{1400}, std::size_t{97}}) {
        const Trace with = read(bytes, recording.dialect, chunk, true);
        REQUIRE(with.all == read(bytes, recording.dialect, chunk, false).all);
        recognised[way] += with.recognised;
      }
    }
  }
  if (tidemark::test::recordings().empty()) return;
  for (const int way : {0, 1, 2}) CHECK(recognised[way] > 1000);
  CHECK(recognised[3] == 0);
}

TEST_CASE("recorded streams with changed bytes: recognised ahead or parsed, all is the same") {
  constexpr std::string_view kBytes("{}\",:\\u0d \n\n\n\r\0idretvn\x80\xC2", 25);
  Random random(3);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random.next() % bound); };
  for (const auto& recording : tidemark::test::recordings()) {
    INFO(recording.file);
    const std::string whole = framed(recording, static_cast<int>(below(3)));
    for (int round = 0; round < 6; ++round) {
      std::string bytes = whole.substr(0, 6000);
      for (int i = 0; i < 4; ++i) {
        const std::size_t at = below(bytes.size());
        if (below(2) == 0) {
          bytes[at] = kBytes[below(kBytes.size())];
        } else {
          bytes.insert(at, 1, kBytes[below(kBytes.size())]);
        }
      }
      check_same(bytes, recording.dialect, 1 + below(bytes.size()));
    }
  }
}

TEST_CASE("what stands beside the data counts") {
  const auto event = [](std::string_view text) {
    return "data: {\"seq\":1,\"delta\":\"" + std::string(text) + "\"}\n";
  };
  const std::string first = event("a") + "\n";
  for (const std::string& next :
       {first, "id: x\n" + first, "id:\n" + first, "id: \n" + first, "id\n" + first, "event: n\n" + first,
        "retry: 5\n" + first, ": comment\n" + first, event("b") + event("c") + "\n", event("b") + "id: y\n\n",
        event("b"), "\n" + first, event("b") + "\r\n", "data:" + first.substr(6)}) {
    for (const std::string& stream :
         {first + next + first + next + next, next + next + first + next, next + "retry: 6\n\n" + next + next}) {
      INFO(stream);
      for (std::size_t chunk = 1; chunk <= stream.size(); ++chunk) check_same(stream, Dialect::SeqDelta, chunk);
    }
  }
  // An id with the space left out, or with two of them, and one that holds what ends a JSON string.
  for (const std::string_view line : {"id: 1\n", "id:2\n", "id:  3\n", "id: a\"b\n", "id: a\\b\n", "id: a\tb\n"}) {
    const std::string stream =
        "id: 0\n" + first + std::string(line) + first + "id: 4\n" + first + std::string(line) + first;
    INFO(stream);
    check_same(stream, Dialect::SeqDelta, stream.size());
  }
}

TEST_CASE("an event beyond the limits is not taken ahead") {
  const auto event = [](std::size_t size) {
    return "data: {\"seq\":1,\"delta\":\"" + std::string(size, 'a') + "\"}\n\n";
  };
  for (std::size_t size = 1; size < 40; ++size) {
    const std::string stream = event(2) + event(3) + event(size);
    const sse::Limits limits{.max_line_bytes = 50, .max_event_bytes = 50};
    const sse::Limits lines{.max_line_bytes = 40, .max_event_bytes = 1000};
    for (const sse::Limits& each : {limits, lines}) check_same(stream, Dialect::SeqDelta, stream.size(), each);
  }
}

}  // namespace
}  // namespace tidemark::dialect
