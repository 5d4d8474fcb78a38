// What the shared vectors cannot say about the parser: views, timing of reports, reset, and random streams.
#include "core/sse/parser.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/core/sse/reference_parser.hpp"
#include "tests/core/sse/stream_generator.hpp"

namespace tidemark::sse {
namespace {

using test::StreamGenerator;

bool inside(std::string_view view, std::string_view chunk) {
  return view.data() >= chunk.data() && view.data() + view.size() <= chunk.data() + chunk.size();
}

TEST_CASE("a block that lies in one chunk is not copied") {
  const std::string chunk = "event: a\ndata: one\n\ndata: two\r\n\r\n: c\n\n";
  Parser parser;
  Event event;
  parser.feed(chunk);
  for (const std::string_view data : {"one", "two"}) {
    REQUIRE(parser.next(event) == Step::Event);
    CHECK(event.data == data);
    CHECK(inside(event.data, chunk));
    CHECK(inside(event.block, chunk));
  }
  REQUIRE(parser.next(event) == Step::Comment);
  CHECK(inside(event.block, chunk));
  CHECK(parser.next(event) == Step::NeedMore);
}

TEST_CASE("views outlive the chunk of an earlier feed") {
  Parser parser;
  Event event;
  {
    const std::string first = "event: na";
    parser.feed(first);
    REQUIRE(parser.next(event) == Step::NeedMore);
  }
  const std::string second = "me\ndata: a\ndata: b\n\ndata: c\n\n";
  parser.feed(second);
  REQUIRE(parser.next(event) == Step::Event);
  CHECK(event.name == "name");
  CHECK(event.data == "a\nb");
  CHECK(event.block == "event: name\ndata: a\ndata: b\n");
  REQUIRE(parser.next(event) == Step::Event);
  CHECK(inside(event.data, second));
}

TEST_CASE("an event is reported with the byte that completes it") {
  for (const std::string stream : {"data: a\n\n", "data: a\r\n\r\n", "data: a\r\r\n", "data: a\r\r"}) {
    const std::size_t completing = stream.rfind('a') + (stream.substr(8, 2) == "\n\r" ? 3 : 2);
    Parser parser;
    Event event;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      parser.feed(std::string_view(stream).substr(i, 1));
      INFO(test::escaped(stream) << " at " << i);
      REQUIRE(parser.next(event) == (i == completing ? Step::Event : Step::NeedMore));
      if (i == completing) REQUIRE(parser.next(event) == Step::NeedMore);
    }
    CHECK_FALSE(parser.mid_event());
  }
}

TEST_CASE("mid_event tells whether something would be lost") {
  Parser parser;
  Event event;
  const auto after = [&](std::string_view chunk) {
    parser.feed(chunk);
    while (parser.next(event) != Step::NeedMore) {
    }
    return parser.mid_event();
  };
  CHECK_FALSE(parser.mid_event());
  CHECK(after("\xEF"));
  CHECK_FALSE(after("\xBB\xBF"));
  CHECK_FALSE(after("\n"));
  CHECK(after("d"));
  CHECK(after("ata: x\n"));
  CHECK_FALSE(after("\n"));
  CHECK(after(":\r"));
  CHECK(after("\n"));
  CHECK_FALSE(after("\r"));
  CHECK_FALSE(after("\n"));
}

TEST_CASE("reset starts a new stream and keeps what an EventSource keeps") {
  Parser parser;
  Event event;
  parser.feed("\xEF\xBB\xBFid: 5\nretry: 70\ndata: a\n\nid: 6\ndata: lost\r");
  REQUIRE(parser.next(event) == Step::Event);
  REQUIRE(parser.next(event) == Step::NeedMore);
  parser.reset();
  CHECK_FALSE(parser.mid_event());
  CHECK(parser.last_event_id() == "5");
  CHECK(parser.retry_ms() == std::optional<std::uint64_t>(70));

  // Its own byte order mark; an LF that belongs to no CR; no line of the old block.
  parser.feed("\xEF\xBB\xBF\ndata: b\n\n");
  REQUIRE(parser.next(event) == Step::Event);
  CHECK(event.data == "b");
  CHECK(event.id == "5");
  CHECK(event.block == "data: b\n");
  CHECK(parser.next(event) == Step::NeedMore);
}

TEST_CASE("a parser that has failed stays failed until reset") {
  Parser parser(Limits{8, 100});
  Event event;
  parser.feed("data: a\n\ndata: too long\n\ndata: b\n\n");
  REQUIRE(parser.next(event) == Step::Event);
  REQUIRE(parser.next(event) == Step::Failed);
  CHECK(parser.error() == Error::LineTooLong);
  CHECK_FALSE(parser.mid_event());
  parser.feed("data: c\n\n");
  CHECK(parser.next(event) == Step::Failed);
  CHECK(parser.end(Parser::Tail::Dispatch, event) == Step::Failed);
  parser.reset();
  CHECK(parser.error() == Error::None);
  parser.feed("data: d\n\n");
  REQUIRE(parser.next(event) == Step::Event);
  CHECK(event.data == "d");
}

TEST_CASE("a comment step tells nothing of the event before it") {
  Parser parser;
  Event event;
  parser.feed("event: e\nid: 1\ndata: a\n\n: c\n\n");
  REQUIRE(parser.next(event) == Step::Event);
  REQUIRE(parser.next(event) == Step::Comment);
  CHECK(event.block == ": c\n");
  CHECK((event.name.empty() && event.data.empty() && event.id.empty()));
  CHECK_FALSE(event.has_id);
}

TEST_CASE("a copied parser goes on by itself") {
  Parser parser;
  Event event;
  parser.feed("data: a");
  REQUIRE(parser.next(event) == Step::NeedMore);
  Parser copy = parser;
  parser.feed("1\n\n");
  copy.feed("2\n\n");
  REQUIRE(parser.next(event) == Step::Event);
  CHECK(event.data == "a1");
  REQUIRE(copy.next(event) == Step::Event);
  CHECK(event.data == "a2");
}

TEST_CASE("every error has its sentence") {
  CHECK_FALSE(describe(Error::None).empty());
  CHECK(describe(Error::LineTooLong).find("line") != std::string_view::npos);
  CHECK(describe(Error::EventTooLarge).find("event") != std::string_view::npos);
  CHECK(describe(Error::LineTooLong) != describe(Error::EventTooLarge));
}

TEST_CASE("random streams in random pieces within random bounds are parsed as the reference parses them") {
  StreamGenerator random(20261130);
  std::size_t events = 0;
  std::size_t failures = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string stream = random.stream();
    const Limits limits = round % 3 == 0 ? Limits{random.below(40), random.below(80)} : Limits{};
    const auto tail = random.below(2) == 0 ? Parser::Tail::Discard : Parser::Tail::Dispatch;
    const test::Trace expected = test::reference_parse(stream, limits, tail);
    const test::Trace actual = test::parse_chunks(random.chunks(stream), limits, tail);
    events += expected.entries.size();
    failures += expected.error == Error::None ? 0 : 1;
    if (actual == expected) continue;
    INFO("round " << round << ": " << test::escaped(stream));
    REQUIRE(test::show(actual) == test::show(expected));
  }
  CHECK(events > 20000);
  CHECK(failures > 1000);
}

}  // namespace
}  // namespace tidemark::sse
