// Challenges, and an upstream that is paused because of them (contract § 4.1).
#include <vector>

#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("relay: a challenge is refused at once, never retried, one strike") {
  struct Case {
    const char* what;
    void (*play)(RelayWorld&);
  };
  const std::vector<Case> cases{
      {"JSON body",
       [](RelayWorld& w) {
         w.head(200, "application/json").bytes(R"({"ret":["FAIL_SYS_USER_VALIDATE","x"],"data":{}})").eof();
       }},
      {"bare in an event stream",
       [](RelayWorld& w) { w.head().bytes(R"({"ret":["FAIL_SYS_USER_VALIDATE::x"]})").eof(); }},
      {"in a data line", [](RelayWorld& w) { w.head().data(R"({"ret":["RGV587_ERROR::SM"]})"); }},
      {"in a data line, cut",
       [](RelayWorld& w) { w.head().bytes(R"(data: {"ret":["FAIL_SYS_USER_VALIDATE",)").eof(); }},
      {"in a data line, cut inside its string",
       [](RelayWorld& w) { w.head().bytes(R"(data: {"ret":["FAIL_SYS_USER_VALI)").eof(); }},
      {"in a data line, cut inside its string by a reset",
       [](RelayWorld& w) { w.head().bytes(R"(data: {"api":"x","ret":["RGV58)").reset(); }},
      {"in an event whose data is cut", [](RelayWorld& w) { w.head().data(R"({"ret":["FAIL_SYS_USER_VALI)"); }},
      {"in a data line, bare words, cut", [](RelayWorld& w) { w.head().bytes("data: RGV58").eof(); }},
      {"bare words in an event stream", [](RelayWorld& w) { w.head().bytes("RGV587_ERROR::SM::busy").eof(); }},
      {"bare in an event stream, cut inside its string",
       [](RelayWorld& w) { w.head().bytes(R"({"ret":["FAIL_SYS_USER_VALI)").eof(); }},
      {"JSON body, cut inside its string",
       [](RelayWorld& w) { w.head(200, "application/json").bytes(R"({"ret":["FAIL_SYS_USER_VALI)").eof(); }},
      {"JSON body, cut inside its string by a reset",
       [](RelayWorld& w) { w.head(503, "application/json").bytes(R"({"ret":["RGV5)").reset(); }},
      {"JSON body that stalls inside its string",
       [](RelayWorld& w) { w.head(200, "application/json").bytes(R"({"ret":["FAIL_SYS_USER_VALI)").wait(60000); }},
      {"HTML, cut inside its sign", [](RelayWorld& w) { w.head(200, "text/html").bytes("<html>\n_____tmd__").eof(); }},
      {"HTML, cut after its title by a reset",
       [](RelayWorld& w) { w.head(200, "text/html").bytes("<html><title>Just a moment...</title><me").reset(); }},
      {"in a data line, after the preamble",
       [](RelayWorld& w) {
         w.head()
             .data(R"({"choices":[{"index":0,"delta":{"role":"assistant"}}]})")
             .data(R"({"ret":["RGV587_ERROR::SM"]})");
       }},
      {"HTML",
       [](RelayWorld& w) {
         w.head(200, "text/html").bytes("<html><script src=\"/_____tmd_____/punish?x5secdata=1\">");
       }},
      {"HTML, cut by a reset",
       [](RelayWorld& w) { w.head(200, "text/html").bytes("<html>\n").bytes("_____tmd_____").reset(); }},
      {"with 503",
       [](RelayWorld& w) {
         w.head(503, "text/html").bytes("<html><script src=\"/_____tmd_____/punish?x5secdata=1\">").eof();
       }},
      {"by header", [](RelayWorld& w) { w.head(403, "text/html", {}, true); }},
  };
  for (const Case& c : cases) {
    for (const Dialect dialect : {Dialect::OpenaiChat, Dialect::AnthropicMessages}) {
      for (const bool committed : {false, true}) {
        CAPTURE(c.what, dialect::name(dialect), committed);
        RelayOptions options = relay_options(dialect);
        if (committed) options.hold_max_ms = 5;
        RelayWorld world(options);
        world.start().wait(5);
        c.play(world);
        CHECK(world.attempt() == 1);
        CHECK(world.outcomes.at(1) == retry::Outcome::Challenge);
        if (committed) {
          CHECK(world.ended(EndState::Failed, EndReason::UpstreamChallenge));
        } else if (dialect == Dialect::AnthropicMessages) {
          check_error(world, 529, "overloaded_error", "upstream_challenge", 30);
        } else {
          check_error(world, 503, "upstream_unavailable", "upstream_challenge", 30);
        }
      }
    }
  }
}

TEST_CASE("relay: a paused upstream is told with what is left, in whole seconds from 1 to 59") {
  struct Case {
    TimeMs ms;
    int seconds;
  };
  for (const Case& c : {Case{0, 1}, Case{1000, 1}, Case{1001, 2}, Case{58001, 59}, Case{60000, 59}}) {
    RelayWorld world(relay_options(Dialect::OpenaiChat));
    world.start().paused(c.ms);
    check_error(world, 503, "upstream_unavailable", "upstream_paused", c.seconds);
    CHECK(world.outcomes.empty());  // the breaker knows of no attempt
  }
}

}  // namespace
}  // namespace tidemark::test
