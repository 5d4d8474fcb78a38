// Attempts that are cut anywhere and continued, drawn from a seed, in virtual time: no character is ever lost, doubled
// or foreign, and what the client's SDK builds is the uncut answer or its beginning.
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "tests/core/seam/continuing.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

using dialect::Dialect;
using seam::test::Continuing;
using seam::test::Events;
using seam::test::How;

const std::vector<std::string> kTokens{
    "The",    " harbour", " lay",    " empty", " when",  " she",    " came", " down",   ".\n\n",   "Only", " one",
    " boat",  ",",        " green",  " with",  " age",   ",",       " was",  " tied",   " to",     " its", " ring",
    ";",      " 潮",      "汐",      " had",   " left",  " weed",   " and",  " foam",   " 🌊",      " on",  " every",
    " stair", ".\n\n",    "Nobody",  " asked", " after", " keys",   " any",  " more",   ": “wait", "”",    " was",
    " all",   " that",    " people", " said",  " there", " before", " they", " locked", " up",     "."};

Events chat_answer() {
  const std::string head =
      R"({"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,)";
  const auto chunk = [&](const std::string& delta, const std::string& finish) {
    return dialect::OwnEvent{"", head + R"("delta":)" + delta + R"(,"finish_reason":)" + finish + "}]}"};
  };
  Events events{chunk(R"({"role":"assistant","content":""})", "null")};
  for (const std::string& token : kTokens) events.push_back(chunk(nlohmann::json{{"content", token}}.dump(), "null"));
  events.push_back(chunk("{}", "\"stop\""));
  events.push_back({"", "[DONE]"});
  return events;
}

Events anthropic_answer() {
  const auto named = [](const std::string& type, const std::string& rest) {
    return dialect::OwnEvent{type, R"({"type":")" + type + "\"" + rest + "}"};
  };
  Events events{
      named("message_start", R"(,"message":{"id":"m1","type":"message","role":"assistant","model":"m",)"
                             R"("content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}})"),
      named("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})")};
  for (const std::string& token : kTokens) {
    events.push_back(named("content_block_delta",
                           R"(,"index":0,"delta":{"type":"text_delta","text":)" + nlohmann::json(token).dump() + "}"));
  }
  events.push_back(named("content_block_stop", R"(,"index":0)"));
  events.push_back(named("message_delta", R"(,"delta":{"stop_reason":"end_turn","stop_sequence":null},)"
                                          R"("usage":{"output_tokens":60})"));
  events.push_back(named("message_stop", ""));
  return events;
}

std::string framed(const dialect::OwnEvent& event) {
  return (event.name.empty() ? "" : "event: " + event.name + "\n") + "data: " + event.data + "\n\n";
}

class Upstream {
 public:
  Upstream(Dialect dialect, Events whole) : dialect_(dialect), whole_(std::move(whole)) {
    for (const std::string& token : kTokens) text_ += token;
    for (std::size_t cut = 0; cut <= whole_.size(); ++cut) {
      texts_.push_back(seam::test::delivered(dialect_, whole_, cut).text);
    }
  }

  const std::string& text() const { return text_; }
  void begin(std::uint64_t seed) { random_ = Random(seed); }

  /// Plays one attempt to its end.
  void play(RelayWorld& world) {
    const bool goes_on = world.forms.back().has_value();
    if (below(8) == 0) return void(world.unreachable());
    if (below(8) == 0) return void(world.head(503, "text/plain").bytes("busy").eof());
    world.head();
    const Events events = goes_on ? rest(world) : whole_;
    const std::size_t count = below(3) == 0 ? events.size() : below(events.size());
    std::string body;
    for (std::size_t i = 0; i < count; ++i) body += framed(events[i]);
    if (below(4) == 0) body.resize(body.size() - std::min(body.size(), below(40)));  // cut inside an event
    const unsigned attempt = world.attempt();
    for (std::size_t at = 0, size = 0; at < body.size() && !world.over() && world.attempt() == attempt; at += size) {
      size = 1 + below(300);
      world.bytes(std::string_view(body).substr(at, size));
    }
    if (!world.over() && world.attempt() == attempt) below(2) == 0 ? world.eof() : world.reset();
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_.next() % limit); }

  /// A model goes on behind what there is, clean or after an overlap that counts.
  Events rest(const RelayWorld& world) {
    std::size_t cut = 0;
    while (texts_[cut] != world.relay.text()) ++cut;
    const std::size_t letters = world.relay.text().size();
    How how;
    how.number = static_cast<int>(world.attempt());
    if (below(2) == 0 && letters > 60) how.overlap = 12 + below(30);
    how.reasoning = below(4) == 0;
    return Continuing(dialect_, whole_, cut, how).attempt();
  }

  Dialect dialect_;
  Events whole_;
  Random random_{0};
  std::string text_;
  std::vector<std::string> texts_;  // after so many events
};

Events events_of(const RelayWorld& world) {
  Events events;
  for (const RelayWorld::Appended& one : world.events) {
    sse::Parser parser({.max_line_bytes = 1u << 20, .max_event_bytes = 1u << 20});
    parser.feed(one.bytes);
    sse::Event event;
    REQUIRE(parser.next(event) == sse::Step::Event);
    events.push_back({std::string(event.name), std::string(event.data)});
  }
  return events;
}

TEST_CASE("sim: an answer that is cut anywhere, any number of times, is the uncut one or its beginning") {
  for (const Dialect spoken : {Dialect::OpenaiChat, Dialect::AnthropicMessages}) {
    const Events whole = spoken == Dialect::OpenaiChat ? chat_answer() : anthropic_answer();
    Upstream upstream(spoken, whole);
    std::size_t continued = 0, complete = 0, several = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      CAPTURE(dialect::name(spoken), seed);
      RelayOptions options = relay_options(spoken);
      options.seed = seed;
      options.continuation = {seam::Form::Prefix};
      upstream.begin(seed);
      RelayWorld world(options);
      world.start();
      for (int turn = 0; turn < 200 && !world.over(); ++turn) {
        if (world.relay.state() == RelayState::Waiting || world.relay.state() == RelayState::Draining) {
          world.wait(world.relay.next_deadline() - world.now);
        } else {
          upstream.play(world);
        }
      }
      REQUIRE(world.over());
      if (!world.committed()) continue;
      const std::string text(world.relay.text());
      CHECK(upstream.text().compare(0, text.size(), text) == 0);
      const auto built = seam::test::answer_of(spoken, events_of(world));
      REQUIRE(built.is_object());  // a strict client takes every event
      const auto seams = world.relay.seams().size();
      if (world.end == EndState::Complete) {
        CHECK(text == upstream.text());
        ++complete;
        continued += seams > 0 ? 1 : 0;
        several += seams > 1 ? 1 : 0;
      } else {
        CHECK(world.end == EndState::Truncated);
      }
      CHECK(world.outcomes.size() == world.attempt());
    }
    CHECK(complete > 500);
    CHECK(continued > 200);
    CHECK(several > 100);
  }
}

}  // namespace
}  // namespace tidemark::test
