// What others than the upstream order: stop, leaving, shutdown; and inputs that come too late.
#include <string>
#include <vector>

#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("relay: stop ends at once, before and after the commit") {
  const RelaySample sample = chat_sample();
  RelayWorld early(relay_options(sample.dialect));
  early.start().head().bytes(sample.preamble).stop();
  CHECK(early.commit_head == 0);
  CHECK(early.events.empty());
  CHECK(early.ended(EndState::Stopped, EndReason::ClientStop));
  CHECK(early.cut == std::vector<unsigned>{1});

  RelayWorld late(relay_options(sample.dialect));
  late.start().head().bytes(sample.preamble + sample.text).stop();
  CHECK(late.body() == sample.preamble + sample.text);
  CHECK(late.ended(EndState::Stopped, EndReason::ClientStop));
  CHECK(late.cut == std::vector<unsigned>{1});
  late.stop().bytes(sample.more_text).eof();
  CHECK(late.body() == sample.preamble + sample.text);

  RelayWorld waiting(relay_options(sample.dialect));
  waiting.start().unreachable().stop();
  CHECK(waiting.ended(EndState::Stopped, EndReason::ClientStop));
  CHECK(waiting.cut.empty());
}

TEST_CASE("relay: abandoned before the commit it leaves nothing, after it a truthful end") {
  const RelaySample sample = anthropic_sample();
  RelayWorld early(relay_options(sample.dialect));
  early.start().head().abandon();
  CHECK(early.refused);
  CHECK(early.relay.error().status == 499);
  CHECK(early.cut == std::vector<unsigned>{1});
  CHECK(early.outcomes.at(1) == retry::Outcome::Neutral);

  RelayWorld late(relay_options(sample.dialect));
  late.start().head().bytes(sample.preamble + sample.text).abandon();
  CHECK(late.ended(EndState::Truncated, EndReason::ClientStop));
  CHECK(late.body().find("message_stop") != std::string::npos);
}

TEST_CASE("relay: a shutdown tells the truth") {
  for (const RelaySample& sample : model_samples()) {
    RelayWorld early(relay_options(sample.dialect));
    early.start().shutdown();
    CHECK(early.refused);
    CHECK(early.relay.error().status == (sample.dialect == Dialect::AnthropicMessages ? 529 : 503));

    RelayWorld preamble(relay_options(sample.dialect));
    preamble.start().head().bytes(sample.preamble).wait(2000).shutdown();
    CHECK(preamble.ended(EndState::Truncated, EndReason::Shutdown));
    CHECK(preamble.body().size() > sample.message.size());

    RelayWorld late(relay_options(sample.dialect));
    late.start().head().bytes(sample.preamble + sample.text).shutdown();
    CHECK(late.ended(EndState::Truncated, EndReason::Shutdown));
    CHECK(late.cut == std::vector<unsigned>{1});

    RelayWorld done(relay_options(sample.dialect));
    done.start().head().bytes(sample.whole()).shutdown();
    CHECK(done.ended(EndState::Complete, EndReason::TerminalMarker));
  }
}

TEST_CASE("relay: inputs about another attempt are ignored") {
  const RelaySample sample = chat_sample();
  RelayWorld world(relay_options(sample.dialect));
  world.start().head().eof();
  REQUIRE(world.attempt() == 2);
  world.after([&] { world.relay.handle_bytes(world.now, 1, sample.whole()); });
  world.after([&] { world.relay.handle_eof(world.now, 1); });
  world.after([&] { world.relay.handle_failure(world.now, 1, session::AttemptFailure::Broken, "late"); });
  CHECK(world.attempt() == 2);
  CHECK(world.relay.state() == RelayState::Asking);
}

}  // namespace
}  // namespace tidemark::test
