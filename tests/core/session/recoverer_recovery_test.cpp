// The client leg over a network that fails: what the reader gets is what an unbroken stream would have given.
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "tests/core/session/recoverer_world.hpp"
#include "tests/recordings.hpp"

namespace tidemark::test {
namespace {

using session::RecoveredEnd;

// The events of a recording's first answer: some hold several, one after the other.
std::vector<std::string> blocks_of(const Recording& recording) {
  std::vector<std::string> blocks;
  const std::string framed = recording.framed();
  sse::Parser parser;
  dialect::Interpreter interpreter(recording.dialect);
  parser.feed(framed);
  sse::Event event;
  while (!interpreter.answer().terminal && parser.next(event) == sse::Step::Event) {
    interpreter.interpret(event);
    blocks.emplace_back(event.block);
  }
  return blocks;
}

struct Outcome {
  std::vector<TakenEvent> events;
  std::optional<RecoveredEnd> end;
  std::string failure;
  std::string reason;
};

Outcome outcome_of(const Recorder& seen) {
  return {seen.events, seen.end, seen.failure ? seen.failure->code : std::string(), seen.reason};
}

bool begins(const Outcome& part, const Outcome& whole) {
  return part.events.size() <= whole.events.size() &&
         std::equal(part.events.begin(), part.events.end(), whole.events.begin());
}

// A clean EOF after the finish is an end too, also where a usage event or [DONE] would have come: many upstreams leave
// them out. A proxy's stream has its comment for that.
bool ends_after_finish(const Outcome& part) {
  return part.end == RecoveredEnd::Complete && part.reason == "end-of-body" &&
         std::any_of(part.events.begin(), part.events.end(),
                     [](const TakenEvent& event) { return event.finish != dialect::Finish::None; });
}

bool same(const Outcome& part, const Outcome& whole, ResumeMode mode) {
  if (!begins(part, whole) || part.end != whole.end || part.failure != whole.failure) return false;
  return part.events.size() == whole.events.size() || (mode == ResumeMode::LastEventId && ends_after_finish(part));
}

Outcome run(const Server& server, const RecovererOptions& options, std::deque<Fate> fates, std::size_t chunk = 1400) {
  World world(server, options, std::move(fates));
  world.chunk_bytes = chunk;
  world.run();
  return outcome_of(world.seen);
}

std::size_t body_size(const Server& server) {
  std::size_t size = 0;
  for (const std::string& part : server.response(Connect{}, Fate{})) size += part.size();
  return size;
}

// Bytes after which each event of the first response ends.
std::vector<std::size_t> event_ends(const Server& server) {
  std::vector<std::size_t> ends{0};
  for (const std::string& part : server.response(Connect{}, Fate{})) ends.push_back(ends.back() + part.size());
  return ends;
}

void check_every_cut(const Server& server, const RecovererOptions& options) {
  const Outcome whole = run(server, options, {});
  REQUIRE_FALSE(whole.events.empty());
  std::vector<std::size_t> cuts = event_ends(server);
  if (body_size(server) <= 4096) {
    cuts.clear();
    for (std::size_t at = 0; at <= body_size(server); ++at) cuts.push_back(at);
  }
  const bool large = body_size(server) > (64u << 10);  // takes turns then
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::size_t at = cuts[i];
    for (const auto kind : {Fate::Kind::Reset, Fate::Kind::Eof}) {
      if (large && (i % 2 == 0) != (kind == Fate::Kind::Eof)) continue;
      const Outcome cut = run(server, options, {{.kind = kind, .after = at}});
      if (same(cut, whole, server.mode())) continue;
      INFO("cut after byte " << at << (kind == Fate::Kind::Eof ? " by EOF" : " by a reset"));
      CHECK(cut.events.size() == whole.events.size());
      CHECK(cut.failure == whole.failure);
      REQUIRE(same(cut, whole, server.mode()));
    }
  }
}

RecovererOptions options_for(const Recording& recording) {
  RecovererOptions options;
  options.dialect = recording.dialect;
  return options;
}

TEST_CASE("every recording, cut anywhere, comes out whole: tidemark") {
  for (const Recording& recording : recordings()) {
    INFO(recording.file);
    check_every_cut(Server(ResumeMode::Tidemark, blocks_of(recording)), options_for(recording));
  }
}

TEST_CASE("every recording, cut anywhere, comes out whole: the upstream's own ids") {
  for (const Recording& recording : recordings()) {
    INFO(recording.file);
    check_every_cut(Server(ResumeMode::LastEventId, blocks_of(recording)), options_for(recording));
  }
}

TEST_CASE("numbered deltas, cut anywhere, come out whole") {
  check_every_cut(Server(ResumeMode::Seq, seq_delta_blocks({"系统", "架构", "设", "计 ", "is 😀", "", " done"})), {});
}

TEST_CASE("a dialect found out by the first event, cut anywhere, comes out whole") {
  check_every_cut(Server(ResumeMode::Tidemark, chat_blocks({"ha ", "ha ", "ha"})), {});
}

TEST_CASE("ten cuts of one answer, two of them before any progress") {
  std::vector<std::string> pieces;
  for (int i = 0; i < 40; ++i) pieces.push_back("word" + std::to_string(i) + " ");
  for (const ResumeMode mode : {ResumeMode::Tidemark, ResumeMode::Seq, ResumeMode::LastEventId}) {
    const Server server(mode, mode == ResumeMode::Seq ? seq_delta_blocks(pieces) : chat_blocks(pieces));
    const Outcome whole = run(server, {}, {});
    std::deque<Fate> fates{{.kind = Fate::Kind::Refused}, {.kind = Fate::Kind::Reset, .after = 10}};
    for (int i = 0; i < 8; ++i) {
      fates.push_back(
          {.kind = i % 2 == 0 ? Fate::Kind::Reset : Fate::Kind::Eof, .after = mode == ResumeMode::Seq ? 150u : 700u});
    }
    World world(server, {}, fates);
    world.chunk_bytes = 100;
    world.run();
    INFO("resumed by " << session::name(mode));
    CHECK(same(outcome_of(world.seen), whole, mode));
    CHECK(world.seen.connects.size() == 11);
    CHECK(world.seen.seams.size() == 8);
  }
}

TEST_CASE("a preamble is delivered once, and belongs to the answer that follows it") {
  // Two generations of the same request: the first dies after its role chunk.
  const Server first(ResumeMode::None, chat_blocks({"never"}, "first"));
  const std::size_t preamble = first.response(Connect{}, Fate{})[0].size();
  Recorder seen;
  Recoverer recoverer({}, seen);
  recoverer.start(0);
  recoverer.handle_response(1, 1, first.head({}));
  recoverer.handle_bytes(2, 1, first.response(Connect{}, Fate{})[0]);
  CHECK(preamble > 0);
  CHECK(seen.events.empty());
  recoverer.handle_failure(3, 1, "reset");
  recoverer.handle_timeout(recoverer.next_deadline());
  REQUIRE(seen.connects.size() == 2);
  CHECK_FALSE(seen.connects[1].resume_seq);

  const Server second(ResumeMode::None, chat_blocks({"Hi"}, "second"));
  recoverer.handle_response(300, 2, second.head({}));
  for (const std::string& event : second.response(Connect{}, Fate{})) recoverer.handle_bytes(301, 2, event);
  recoverer.handle_end(302, 2);
  REQUIRE(seen.end == RecoveredEnd::Complete);
  REQUIRE(seen.events.size() == 4);
  CHECK(seen.events[0].kind == dialect::Kind::Progress);
  for (std::size_t i = 0; i < 3; ++i) CHECK(seen.events[i].data.find("second") != std::string::npos);
  for (std::size_t i = 0; i < 4; ++i) CHECK(seen.events[i].seq == static_cast<seam::Seq>(i));
  CHECK(seen.seams.empty());
}

TEST_CASE("a long preamble is not held for ever") {
  RecovererOptions options;
  options.dialect = dialect::Dialect::OpenaiChat;
  Recorder seen;
  Recoverer recoverer(options, seen);
  recoverer.start(0);
  const Server server(ResumeMode::None, chat_blocks({}));
  recoverer.handle_response(1, 1, server.head({}));
  const std::string event = server.response(Connect{}, Fate{})[0];
  const std::size_t held = Recoverer::kMaxHeldBytes / (event.size() - 1);
  for (std::size_t i = 0; i < held; ++i) recoverer.handle_bytes(2, 1, event);
  CHECK(seen.events.empty());
  recoverer.handle_bytes(3, 1, event);
  CHECK(seen.events.size() == held + 1);
  // What has been given out can't be taken back: this request is not repeated.
  recoverer.handle_failure(4, 1, "reset");
  REQUIRE(seen.failure);
  CHECK(seen.failure->code == "stream_interrupted");
}

TEST_CASE("random faults never cost or double an event") {
  std::vector<std::string> pieces;
  for (int i = 0; i < 25; ++i) pieces.push_back("p" + std::to_string(i));
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const auto draw = [&random](std::uint64_t below) { return static_cast<std::size_t>(random.next() % below); };
    const ResumeMode mode = std::vector{ResumeMode::Tidemark, ResumeMode::Seq, ResumeMode::LastEventId}[draw(3)];
    const Server server(mode, mode == ResumeMode::Seq ? seq_delta_blocks(pieces) : chat_blocks(pieces));
    const std::vector<Fate::Kind> kinds{Fate::Kind::Reset,  Fate::Kind::Reset,   Fate::Kind::Eof,
                                        Fate::Kind::Stall,  Fate::Kind::Refused, Fate::Kind::Mute,
                                        Fate::Kind::Status, Fate::Kind::Html,    Fate::Kind::Hole};
    std::deque<Fate> fates;
    for (std::size_t i = draw(10); i > 0; --i) {
      Fate fate{.kind = kinds[draw(kinds.size())]};
      if (fate.kind == Fate::Kind::Html && fates.empty()) fate.kind = Fate::Kind::Eof;
      // Only numbers can show a hole.
      if (fate.kind == Fate::Kind::Hole && mode == ResumeMode::LastEventId) fate.kind = Fate::Kind::Reset;
      fate.after = fate.kind == Fate::Kind::Hole ? 1 + draw(5) : draw(2500);
      fates.push_back(fate);
    }
    RecovererOptions options;
    options.seed = seed;
    World world(server, options, fates);
    world.chunk_bytes = 1 + draw(400);
    world.run();
    const Outcome whole = run(server, {}, {});
    INFO("seed " << seed << ", resumed by " << session::name(mode));
    REQUIRE(world.seen.over());
    // Whatever comes out is a beginning of the answer, and all of it unless the retries ran out.
    REQUIRE(begins(outcome_of(world.seen), whole));
    if (world.seen.end) {
      REQUIRE(same(outcome_of(world.seen), whole, mode));
    } else {
      REQUIRE(world.seen.retries.size() >= options.max_retries);
    }
    REQUIRE(world.seen.states.back() == RecovererState::Finalized);
  }
}

}  // namespace
}  // namespace tidemark::test
