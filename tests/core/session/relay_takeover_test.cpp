// A stream that another process has fed and left: its log is read again, and then it goes on as after any cut.
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"
#include "tests/recordings.hpp"

namespace tidemark::test {
namespace {

using Events = std::vector<RelayWorld::Appended>;

/// The first `count` events of a log, read by a relay of another process. By deadlines that it had and this one has
/// not, more may have gone out then than an answer's content.
RelayWorld taken_over(const RelayOptions& options, const Events& log, std::size_t count) {
  RelayWorld world(options);
  world.start().head();
  for (std::size_t i = 0; i < count; ++i) world.bytes(log[i].bytes);
  world.after([&] { world.relay.taken_over(); });
  return world;
}

void check_same(const RelayWorld& world, const Events& log, std::size_t count) {
  REQUIRE(world.events.size() == count);
  CHECK(world.relay.next_seq() == static_cast<seam::Seq>(count));
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(world.events[i].seq == static_cast<seam::Seq>(i));
    CHECK(world.events[i].bytes == log[i].bytes);
  }
}

TEST_CASE("relay: a log that is read again becomes itself, wherever it ends") {
  for (const Recording& recording : recordings()) {
    CAPTURE(recording.file);
    RelayWorld first(relay_options(recording.dialect));
    first.start().head().bytes(recording.framed()).eof();
    const std::size_t step = std::max<std::size_t>(1, first.events.size() / 40);
    for (std::size_t count = 0; count < first.events.size(); count += count < 12 ? 1 : step) {
      CAPTURE(count);
      check_same(taken_over(relay_options(recording.dialect), first.events, count), first.events, count);
    }
  }
}

TEST_CASE("relay: what was taken over is continued, and the client sees one answer") {
  for (const RelaySample& sample : {chat_sample(), anthropic_sample()}) {
    CAPTURE(dialect::name(sample.dialect));
    RelayOptions options = relay_options(sample.dialect);
    options.continuation = {seam::Form::Prefix};
    RelayWorld first(options);
    first.start().head().bytes(sample.preamble + sample.text);
    RelayWorld second = taken_over(options, first.events, first.events.size());
    check_same(second, first.events, first.events.size());
    CHECK(second.relay.text() == "Hello");
    second.reset();
    REQUIRE(second.attempt() == 2);
    CHECK(second.forms.back() == seam::Form::Prefix);
    second.head().bytes(sample.preamble + sample.more_text + sample.end).eof();
    CHECK(second.ended(EndState::Complete, EndReason::TerminalMarker));
    REQUIRE(second.relay.seams().size() == 1);
    for (std::size_t i = 0; i < second.events.size(); ++i) CHECK(second.events[i].seq == static_cast<seam::Seq>(i));
    CHECK(second.body().find("Hello") < second.body().find(" world"));
  }
}

TEST_CASE("relay: what was taken over and may not be continued ends truthfully; a stop stays a stop") {
  for (const RelaySample& sample : {chat_sample(), anthropic_sample(), responses_sample()}) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld first(relay_options(sample.dialect));
    first.start().head().bytes(sample.preamble + sample.text);
    const std::size_t count = first.events.size();

    RelayWorld lost = taken_over(relay_options(sample.dialect), first.events, count);
    lost.reset();
    CHECK(lost.end == EndState::Truncated);
    CHECK(lost.attempt() == 1);
    CHECK(lost.events.size() > count);

    RelayWorld stopped = taken_over(relay_options(sample.dialect), first.events, count);
    stopped.stop();
    CHECK(stopped.ended(EndState::Stopped, EndReason::ClientStop));

    RelayWorld closed = taken_over(relay_options(sample.dialect), first.events, count);
    closed.shutdown();
    CHECK(closed.ended(EndState::Truncated, EndReason::Shutdown));
  }
}

TEST_CASE("relay: an answer that was whole before its end was noted is complete") {
  for (const RelaySample& sample : {chat_sample(), anthropic_sample(), responses_sample()}) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld first(relay_options(sample.dialect));
    first.start().head().bytes(sample.whole()).eof();
    RelayWorld second = taken_over(relay_options(sample.dialect), first.events, first.events.size());
    if (!second.over()) second.reset();
    CHECK(second.ended(EndState::Complete, EndReason::TerminalMarker));
    CHECK(second.events.size() == first.events.size());
  }
}

TEST_CASE("relay: what was held back and had gone out by a deadline is there again") {
  const RelaySample sample = anthropic_sample();
  RelayWorld first(relay_options(sample.dialect));
  first.start().head().bytes(sample.preamble).wait(30000);
  REQUIRE_FALSE(first.events.empty());
  check_same(taken_over(relay_options(sample.dialect), first.events, first.events.size()), first.events,
             first.events.size());
}

}  // namespace
}  // namespace tidemark::test
