// Attempts at upstreams that speak differently: each is read in its own dialect, and what the client has seen decides.
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("relay: each attempt is read in the dialect of its upstream") {
  for (const RelaySample& first : model_samples()) {
    for (const RelaySample& second : model_samples()) {
      CAPTURE(dialect::name(first.dialect), dialect::name(second.dialect));
      RelayWorld world(relay_options(first.dialect));
      world.speaks = {first.dialect, second.dialect};
      world.start().head().bytes(first.preamble).eof();
      REQUIRE(world.attempt() == 2);
      world.head().bytes(second.whole()).eof();
      CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
      CHECK(world.body() == second.whole());
      CHECK(world.relay.dialect() == second.dialect);
    }
  }
}

TEST_CASE("relay: an upstream that is not known to speak anything is told by its first event") {
  const RelaySample first = anthropic_sample();
  RelayWorld world(relay_options(first.dialect));
  world.speaks = {first.dialect, std::nullopt};
  world.start().unreachable().wait(10000);
  REQUIRE(world.attempt() == 2);
  world.head().data(R"({"seq":0,"delta":"Hi"})").data(R"({"seq":1,"done":true})").eof();
  CHECK(world.relay.dialect() == Dialect::SeqDelta);
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: an error before an answer has the shape of the dialect that the attempt spoke") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  world.speaks = {Dialect::OpenaiChat, Dialect::AnthropicMessages};
  world.start().head().eof();
  world.head().eof();
  CHECK(world.refused);
  CHECK(world.relay.error().type == "api_error");
}

TEST_CASE("relay: an answer in another dialect is not joined on to what the client has") {
  const RelaySample first = anthropic_sample();
  const RelaySample second = chat_sample();
  RelayWorld world(relay_options(first.dialect));
  world.speaks = {first.dialect, second.dialect};
  world.start().head().bytes(first.preamble).wait(2000).eof();
  REQUIRE(world.committed());
  REQUIRE(world.attempt() == 2);
  world.head();
  CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
  CHECK(world.relay.dialect() == first.dialect);
  CHECK(world.body().substr(0, first.message.size()) == first.message);
  CHECK(world.body().find("event: error\n") != std::string::npos);
  CHECK(world.body().find("[DONE]") == std::string::npos);

  // Where the head went out before anything of the answer, any dialect will do.
  RelayOptions options = relay_options(first.dialect);
  options.hold_max_ms = 5;
  RelayWorld early(options);
  early.speaks = {first.dialect, second.dialect};
  early.start().wait(5).head().eof();
  REQUIRE(early.attempt() == 2);
  early.head().bytes(second.whole()).eof();
  CHECK(early.body() == second.whole());
}

}  // namespace
}  // namespace tidemark::test
