// Draining: no new requests, streams end in time or truthfully.
#include "tests/native/proxy/running_stream.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

struct Drained {
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  bool done() const { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
};

void drain(World& world, Drained& drained) {
  world.on_loop([&] { world.service().drain([&drained] { drained.promise.set_value(); }); });
}

}  // namespace

TEST_CASE("a running stream may end while the proxy drains") {
  RunningStream stream(R"("drain_seconds":60)");
  World& world = stream.world;
  Drained drained;
  drain(world, drained);
  HttpClient other = world.connect();
  CHECK(other.ask("GET", "/tidemark/healthz").status == 200);
  CHECK(other.ask("GET", "/tidemark/readyz").status == 503);
  const Reply refused = other.ask("POST", kChatPath, with_key(kKey + "2"), kChatBody);
  CHECK(refused.status == 503);
  CHECK(refused.headers.get("retry-after") == "1");
  CHECK(error_code(refused) == "shutdown");
  CHECK(other.ask("GET", "/v1/models").status == 503);
  CHECK(world.asked().size() == 1);
  // Who has lost its connection comes back to what runs.
  HttpClient again = world.connect();
  again.request("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "0"}}), kChatBody);
  const Reply resumed = again.read_head();
  CHECK(resumed.headers.get("tidemark-resumed") == "true");
  CHECK_FALSE(drained.done());
  world.release(10);
  Reply tail;
  again.read_body(tail);
  CHECK(tail.complete);
  const Reply rest = stream.read_rest();
  CHECK(rest.complete);
  CHECK(ends_with(rest.body, kCompleteEnd));
  CHECK(drained.future.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
}

TEST_CASE("what does not end in time is ended, and says so") {
  RunningStream stream(R"("drain_seconds":0)");
  World& world = stream.world;
  HttpClient waiting = world.connect();
  waiting.request("POST", "/v1/messages", with_key(kKey + "2"), kChatBody);
  CHECK(world.until([&] { return world.asked().size() == 2; }));
  Drained drained;
  drain(world, drained);
  const Reply rest = stream.read_rest();
  CHECK(rest.complete);
  CHECK(rest.body.find(": tidemark end=truncated reason=shutdown\n\n") != std::string::npos);
  CHECK(world.until([&] {
    try {
      world.connect();
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }));
  CHECK(waiting.read_reply().status == 529);
  CHECK(drained.future.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
}

TEST_CASE("a proxy without work drains at once, and the second signal hurries it") {
  World idle;
  HttpClient kept = idle.connect();
  CHECK(kept.ask("GET", "/tidemark/readyz").status == 200);
  Drained drained;
  drain(idle, drained);
  CHECK(drained.future.wait_for(std::chrono::seconds(20)) == std::future_status::ready);

  RunningStream stream(R"("drain_seconds":3600)");
  World& world = stream.world;
  Drained hurried;
  drain(world, hurried);
  CHECK_FALSE(hurried.done());
  drain(world, hurried);
  const Reply rest = stream.read_rest();
  CHECK(rest.body.find("reason=shutdown") != std::string::npos);
  CHECK(hurried.future.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
}
