// Readers that are slower than the answer, and readers that have stopped reading.
#include <nlohmann/json.hpp>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr int kSmallBuffer = 4096;
constexpr std::size_t kBigPieces = 120;
constexpr std::size_t kBigPiece = 65536;

// Far more than what lies in the buffers of both ends' sockets.
Answer big_answer() {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < kBigPieces; ++i) pieces.push_back(chat_event(std::string(kBigPiece, 'x')));
  pieces.push_back(chat_finish());
  return answer_with(pieces);
}

}  // namespace

TEST_CASE("a slow reader holds up nobody, and gets everything in the end") {
  World world;
  world.upstream_answers({big_answer()});
  HttpClient slow(world.port(), kSmallBuffer);
  slow.request("POST", kChatPath, with_key(), kChatBody);
  CHECK(slow.read_head().status == 200);
  HttpClient fast = world.connect();
  const Reply whole = fast.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(whole.complete);
  CHECK(whole.body.size() > kBigPieces * kBigPiece);
  const auto state = stream_page(fast);
  CHECK(state.at("state") == "complete");
  CHECK(state.at("readers") == 1);
  Reply late;
  slow.read_body(late);
  CHECK(late.complete);
  CHECK((late.body == whole.body));
}

TEST_CASE("readers that don't read cost one small buffer each, and the log holds one copy for all of them") {
  World world;
  world.upstream_answers({big_answer()});
  std::vector<HttpClient> slow;
  const auto attach = [&] {
    slow.emplace_back(world.port(), kSmallBuffer);
    slow.back().request("POST", kChatPath, with_key(), kChatBody);
    CHECK(slow.back().read_head().status == 200);
  };
  // Half of them while the answer comes, half of them when all of it is there to be had.
  constexpr std::size_t kSlow = 8;
  while (slow.size() < kSlow / 2) attach();
  HttpClient other = world.connect();
  const std::size_t whole = other.ask("POST", kChatPath, with_key(), kChatBody).body.size();
  while (slow.size() < kSlow) attach();
  const auto gauge = [&](const std::string& name) {
    const std::string page = other.ask("GET", "/tidemark/metrics").body;
    const std::size_t at = page.find("\n" + name + " ");
    REQUIRE(at != std::string::npos);
    return std::stoul(page.substr(at + name.size() + 2));
  };
  CHECK(world.until([&] { return gauge("tidemark_blocked_clients") == kSlow; }));
  // 16 KiB are pulled at once; what frames them comes on top.
  const std::size_t blocked = gauge("tidemark_blocked_bytes");
  CHECK(blocked > 0);
  CHECK(blocked <= kSlow * (16384 + 1024));
  CHECK(gauge("tidemark_log_bytes") < whole + whole / 8);
  CHECK(gauge("tidemark_readers") == kSlow);
  for (HttpClient& client : slow) client.reset();
  CHECK(world.until([&] { return gauge("tidemark_blocked_clients") == 0; }));
  CHECK(gauge("tidemark_blocked_bytes") == 0);
}

TEST_CASE("a reader that has stopped reading is let go, and its stream goes on") {
  World world(R"("limits":{"reader_stall_ms":100})");
  Answer answer = big_answer();
  answer.gated = true;
  world.upstream_answers({answer});
  HttpClient stalled(world.port(), kSmallBuffer);
  stalled.request("POST", kChatPath, with_key(), kChatBody);
  world.release(kBigPieces);
  CHECK(stalled.read_head().status == 200);
  HttpClient other = world.connect();
  CHECK(world.until([&] { return stream_page(other).at("readers") == 0; }));
  CHECK(stream_page(other).at("state") == "running");
  CHECK(world.upstream_open() == 1);
  world.release(1);
  const Reply whole = other.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(whole.complete);
  CHECK(whole.body.size() > kBigPieces * kBigPiece);
  CHECK(ends_with(whole.body, kCompleteEnd));
  // What came before the reset is still there; its end is no end of a body.
  Reply cut;
  stalled.read_body(cut);
  CHECK_FALSE(cut.complete);
}
