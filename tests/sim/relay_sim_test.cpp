// A faulty upstream, drawn from a seed, against the relay in virtual time: whatever happens, the client is told the
// truth, once, in time.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.hpp"
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

enum class Fault {
  None,
  ConnectFails,
  ResetBeforeHead,
  Status503,
  Status401,
  Html,
  Challenge,
  Empty,
  PreambleOnly,
  EmptyAnswer,
  ErrorEvent,
  CutAnywhere,
  StallAnywhere,
  PingsOnly,
  MarkerMissing,
  Count,
};

class FaultyUpstream {
 public:
  FaultyUpstream(const RelaySample& sample, std::uint64_t seed) : sample_(sample), random_(seed) {}

  /// Plays one attempt, from its sending to its end, or until the relay has enough of it.
  void play(RelayWorld& world) {
    const unsigned attempt = world.attempt();
    fault = static_cast<Fault>(below(static_cast<std::size_t>(Fault::Count)));
    if (below(3) == 0) fault = Fault::None;
    faults.push_back(fault);
    said_all = false;
    pause(world);
    if (!asked(world, attempt)) return;
    switch (fault) {
      case Fault::ConnectFails:
        world.unreachable();
        return;
      case Fault::ResetBeforeHead:
        world.reset();
        return;
      case Fault::Status503:
        world.head(503, "application/json", below(2) == 0 ? "2" : "");
        return body(world, attempt, R"({"error":{"message":"busy","type":"server_error"}})");
      case Fault::Status401:
        world.head(401, "application/json");
        return body(world, attempt, R"({"error":{"message":"who?","type":"authentication_error"}})");
      case Fault::Html:
        world.head(200, "text/html");
        return body(world, attempt, "<html><body>hello</body></html>");
      case Fault::Challenge:
        world.head(200, "application/json");
        return body(world, attempt, R"({"ret":["FAIL_SYS_USER_VALIDATE","RGV587_ERROR::SM"]})");
      case Fault::Empty:
        world.head();
        return body(world, attempt, "");
      case Fault::PreambleOnly:
        world.head();
        return body(world, attempt, sample_.preamble);
      case Fault::EmptyAnswer:
        world.head();
        said_all = true;
        return body(world, attempt, sample_.preamble + sample_.end);
      case Fault::ErrorEvent:
        world.head();
        return body(world, attempt, sample_.preamble + (below(2) == 0 ? sample_.text : "") + sample_.failing);
      case Fault::CutAnywhere:
      case Fault::StallAnywhere: {
        world.head();
        const std::string whole = sample_.whole();
        bytes(world, attempt, whole.substr(0, below(whole.size())));
        if (!asked(world, attempt)) return;
        if (fault == Fault::StallAnywhere) {
          world.wait(200000);
        } else if (below(2) == 0) {
          world.reset();
        } else {
          world.eof();
        }
        return;
      }
      case Fault::PingsOnly:
        world.head();
        for (int i = 0; i < 300 && asked(world, attempt); ++i) {
          world.bytes(sample_.dialect == Dialect::AnthropicMessages ? event("ping", "") : ": ping\n\n").wait(1000);
        }
        return;
      case Fault::MarkerMissing:
        world.head();
        return body(world, attempt, sample_.preamble + sample_.text + sample_.more_text);
      case Fault::None:
      case Fault::Count:
        world.head();
        said_all = true;
        return body(world, attempt, sample_.whole());
    }
  }

  Fault fault = Fault::None;
  std::vector<Fault> faults;
  bool said_all = false;  // the attempt would say its terminal marker, if it were let

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_.next() % limit); }
  static bool asked(const RelayWorld& world, unsigned attempt) {
    return !world.over() && world.attempt() == attempt && world.relay.state() != RelayState::Waiting;
  }
  void pause(RelayWorld& world) {
    constexpr TimeMs kPauses[] = {0, 0, 1, 40, 1900, 2000, 9000};
    world.wait(kPauses[below(7)]);
  }
  void bytes(RelayWorld& world, unsigned attempt, std::string_view text) {
    while (!text.empty() && asked(world, attempt)) {
      const std::size_t size = std::min(text.size(), 1 + below(400));
      world.bytes(text.substr(0, size));
      text.remove_prefix(size);
      if (below(4) == 0) pause(world);
    }
  }
  void body(RelayWorld& world, unsigned attempt, std::string_view text) {
    bytes(world, attempt, text);
    if (asked(world, attempt)) world.eof();
  }

  const RelaySample& sample_;
  Random random_;
};

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// openai-responses: its numbers; other streams have none.
bool numbers_rise(std::string_view body) {
  constexpr std::string_view kKey = "\"sequence_number\":";
  std::int64_t last = -1;
  for (std::size_t at = body.find(kKey); at != std::string_view::npos; at = body.find(kKey, at + 1)) {
    const std::int64_t number = std::stoll(std::string(body.substr(at + kKey.size(), 8)));
    if (number <= last) return false;
    last = number;
  }
  return true;
}

RelayOptions options_for(const RelaySample& sample, std::uint64_t seed) {
  Random random(seed ^ 0x5EED);
  RelayOptions options = relay_options(sample.dialect);
  options.seed = seed;
  options.stream_empty_retry_max = static_cast<unsigned>(random.next() % 4);
  options.attempts = 1 + static_cast<unsigned>(random.next() % 4);
  constexpr TimeMs kHolds[] = {0, 100, 2000};
  options.commit_hold_ms = kHolds[random.next() % 3];
  constexpr TimeMs kLongest[] = {500, 25000, 120000};
  options.hold_max_ms = kLongest[random.next() % 3];
  if (random.next() % 4 == 0) options.client_timeout_ms = 10000;
  return options;
}

TEST_CASE("sim: the relay tells the truth, once and in time, whatever the upstream does") {
  std::size_t complete = 0;
  std::size_t repeated_after_commit = 0;
  for (const RelaySample& sample : model_samples()) {
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
      CAPTURE(dialect::name(sample.dialect), seed);
      const RelayOptions options = options_for(sample, seed);
      RelayWorld world(options);
      FaultyUpstream upstream(sample, seed);
      const TimeMs started = world.now;
      world.start();
      for (int turn = 0; turn < 100 && !world.over(); ++turn) {
        if (world.relay.state() == RelayState::Waiting) {
          world.wait(world.relay.next_deadline() - world.now);
        } else if (world.relay.state() == RelayState::Draining) {
          world.wait(session::kDrainMs);
        } else {
          upstream.play(world);
        }
      }
      REQUIRE(world.over());

      // Attempts: no more than both budgets together, every one with its outcome.
      CHECK(world.attempt() <= options.attempts + options.stream_empty_retry_max);
      CHECK(world.outcomes.size() == world.attempt());
      const auto struck = std::count(upstream.faults.begin(), upstream.faults.end(), Fault::Challenge);
      const auto strikes = std::count_if(world.outcomes.begin(), world.outcomes.end(),
                                         [](const auto& o) { return o.second == retry::Outcome::Challenge; });
      CHECK(strikes <= struck);

      // In time: committed, or told otherwise, within the hold.
      TimeMs hold = options.hold_max_ms;
      if (options.client_timeout_ms > 0) hold = std::min(hold, options.client_timeout_ms * 4 / 5);
      if (world.committed()) CHECK(*world.committed_at - started <= hold);

      // Once: no content twice, one preamble, one end.
      const std::string body = world.body();
      const std::string opening = sample.preamble.substr(0, sample.preamble.find("\n\n"));
      CHECK(count(body, opening) <= 1);
      const bool repeats_text = sample.dialect == Dialect::OpenaiResponses;  // in its closing events
      if (!repeats_text) CHECK(count(body, "Hello") <= 1);
      CHECK(count(body, "[DONE]") <= 1);
      CHECK(count(body, "event: message_stop") <= 1);
      CHECK(count(body, "event: content_block_start") <= 1);
      CHECK(count(body, "event: response.output_item.added") <= 1);
      CHECK(numbers_rise(body));

      // Truth: complete is the provider's own word, and all of it; every other end is not passed off as one.
      if (world.end == EndState::Complete) {
        ++complete;
        const bool cut_late = upstream.fault == Fault::CutAnywhere || upstream.fault == Fault::StallAnywhere;
        CHECK((upstream.said_all || cut_late));
        const bool empty = upstream.fault == Fault::EmptyAnswer;
        // The sample's numbers have a gap without its text, which a repeated attempt closes.
        const bool renumbered = empty && sample.dialect == Dialect::OpenaiResponses && world.attempt() > 1;
        if (upstream.said_all && !renumbered) {
          const std::string& expected = empty ? sample.preamble + sample.end : sample.whole();
          std::string without_pings = body;
          const std::string ping = event("ping", "");
          for (std::size_t at; (at = without_pings.find(ping)) != std::string::npos;) {
            without_pings.erase(at, ping.size());
          }
          CHECK(without_pings == expected);
        }
      }
      if (world.end == EndState::Failed) CHECK(body.find("error") != std::string::npos);
      if (world.commit_head != world.attempt() && world.end == EndState::Complete) ++repeated_after_commit;
    }
  }
  CHECK(complete > 1000);
  CHECK(repeated_after_commit > 100);
}

TEST_CASE("sim: a seed plays the same twice") {
  const RelaySample sample = anthropic_sample();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::string traces[2];
    for (std::string& trace : traces) {
      RelayWorld world(options_for(sample, seed));
      FaultyUpstream upstream(sample, seed);
      world.start();
      for (int turn = 0; turn < 100 && !world.over(); ++turn) {
        const RelayState state = world.relay.state();
        if (state == RelayState::Waiting || state == RelayState::Draining) {
          world.wait(world.relay.next_deadline() - world.now);
        } else {
          upstream.play(world);
        }
      }
      for (const TimeMs at : world.sent) trace += std::to_string(at) + " ";
      for (const auto& appended : world.events) trace += std::to_string(appended.at) + appended.bytes;
    }
    CHECK(traces[0] == traces[1]);
  }
}

}  // namespace
}  // namespace tidemark::test
