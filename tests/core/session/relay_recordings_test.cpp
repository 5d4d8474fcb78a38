// Every recorded stream, through the relay: cut into chunks at random, and cut off at every event.
#include "core/base/random.hpp"
#include "core/sse/parser.hpp"
#include "tests/core/session/relay_world.hpp"
#include "tests/recordings.hpp"

namespace tidemark::test {
namespace {

std::size_t below(Random& random, std::size_t limit) { return static_cast<std::size_t>(random.next() % limit); }

void feed_in_chunks(RelayWorld& world, std::string_view stream, Random& random, std::size_t largest) {
  while (!stream.empty()) {
    const std::size_t size = std::min(stream.size(), 1 + below(random, largest));
    world.bytes(stream.substr(0, size));
    stream.remove_prefix(size);
  }
}

// An answer that failed before its first content is a matter of other tests.
bool has_answer(const Recording& recording) { return recording.file.find("openai-error") == std::string::npos; }

TEST_CASE("relay: a recorded stream comes through byte for byte, however it is cut into chunks") {
  Random random(11);
  for (const Recording& recording : recordings()) {
    if (!has_answer(recording)) continue;
    CAPTURE(recording.file);
    const std::string stream = recording.framed();
    for (const std::size_t largest : {std::size_t{1}, std::size_t{7}, std::size_t{300}, std::size_t{100000}}) {
      RelayWorld world(relay_options(recording.dialect));
      world.start().head();
      feed_in_chunks(world, stream, random, largest);
      world.eof();
      CHECK(world.body() == stream);
      CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
      CHECK(world.attempt() == 1);
    }
  }
}

TEST_CASE("relay: a recorded stream that is cut off anywhere keeps what came and ends truthfully") {
  Random random(12);
  for (const Recording& recording : recordings()) {
    if (!has_answer(recording)) continue;
    CAPTURE(recording.file);
    const std::string stream = recording.framed();
    std::vector<std::size_t> cuts;
    for (std::size_t at = stream.find("\n\n"); at != std::string::npos; at = stream.find("\n\n", at + 2)) {
      if (cuts.size() < 40 || below(random, 10) == 0) cuts.push_back(at + 2);
    }
    for (int i = 0; i < 30; ++i) cuts.push_back(1 + below(random, stream.size() - 1));
    for (const std::size_t cut : cuts) {
      CAPTURE(cut);
      RelayOptions options = relay_options(recording.dialect);
      options.stream_empty_retry_max = 0;
      RelayWorld world(options);
      world.start().head();
      feed_in_chunks(world, std::string_view(stream).substr(0, cut), random, 4000);
      const bool content = world.committed();
      below(random, 2) == 0 ? world.eof() : world.reset();
      REQUIRE(world.over());
      if (!content && !world.committed()) {
        CHECK(world.refused);
        continue;
      }
      // The upstream's part is a prefix of the stream, whole events of it.
      const std::string body = world.body();
      std::size_t common = 0;
      while (common < body.size() && common < stream.size() && body[common] == stream[common]) ++common;
      const std::size_t last_whole = cut < 2 ? 0 : stream.rfind("\n\n", cut - 2);
      const std::size_t whole = last_whole == std::string::npos ? 0 : last_whole + 2;
      CHECK(common >= whole);
      if (world.end == EndState::Complete) {
        CHECK(body == stream.substr(0, body.size()));
      } else if (world.reason == EndReason::OpenToolCall) {
        CHECK(world.end == EndState::Failed);
      } else {
        CHECK(world.end == EndState::Truncated);
        CHECK(body.size() > whole);
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::test
