// Clients that leave, how soon that is noticed, and clients that only have nothing more to say.
#include "tests/native/proxy/running_stream.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

const char* const kCancel = R"("disconnect":{"policy":"cancel"})";

}  // namespace

TEST_CASE("a client that resets, or closes with bytes unread, is noticed at once") {
  for (const bool by_reset : {true, false}) {
    INFO(by_reset);
    RunningStream stream(kCancel);
    by_reset ? stream.client.reset() : stream.client.close();
    CHECK(stream.is_cancelled());
  }
}

TEST_CASE("a client that closes in good order is noticed although the upstream says nothing") {
  SECTION("before the first byte of the answer") {
    World world(kCancel);
    world.upstream_answers({gated_answer()});
    HttpClient client = world.connect();
    client.request("POST", kChatPath, with_key(), kChatBody);
    CHECK(world.until([&] { return world.asked().size() == 1; }));
    client.close();
    CHECK(world.until([&] { return world.upstream_open() == 0; }));
  }
  SECTION("in the middle of the answer") {
    RunningStream stream(kCancel);
    stream.read_block();
    stream.client.close();
    CHECK(stream.is_cancelled());
  }
}

TEST_CASE("a client that has nothing more to say is asked once, in a way that it ignores") {
  World world(kCancel);
  world.upstream_answers({gated_answer()});
  HttpClient early = world.connect();
  early.request("POST", kChatPath, with_key(), kChatBody);
  early.finish_sending();
  // The question in front of the answer.
  CHECK(early.read_head().status == 100);
  HttpClient late = world.connect();
  late.request("POST", kChatPath, with_key(), kChatBody);
  world.release(1);
  CHECK(early.read_head().status == 200);
  CHECK(late.read_head().status == 200);
  late.finish_sending();
  std::string got;
  while (got.find("\n\n:") == std::string::npos) got += late.read_bytes(1);
  world.release(10);
  for (HttpClient* client : {&early, &late}) {
    Reply rest;
    client->read_body(rest);
    CHECK(rest.complete);
    CHECK(ends_with(rest.body, kCompleteEnd));
  }
}

TEST_CASE("a client that has nothing more to say is served to the end") {
  RunningStream stream(kCancel);
  stream.read_block();
  stream.client.finish_sending();
  stream.world.release(2);
  CHECK(stream.page().at("state") == "running");
  stream.world.release(10);
  const Reply rest = stream.read_rest();
  CHECK(rest.complete);
  CHECK(ends_with(rest.body, kCompleteEnd));
}

TEST_CASE("without a key the stream has a drawn id, and the client's leaving cancels it") {
  RunningStream stream("", 3, {});
  CHECK(stream.head.headers.get("tidemark-stream").size() == 32);
  CHECK(stream.world.upstream_open() == 1);
  stream.client.reset();
  CHECK(stream.is_cancelled());
  CHECK(stream.page().at("state") == "truncated");
}

TEST_CASE("with a key the stream goes on without its client, and is cancelled where so configured") {
  RunningStream lingering(R"("disconnect":{"policy":"linger","linger_seconds":60})");
  lingering.client.reset();
  CHECK(lingering.world.until([&] { return lingering.page().at("readers") == 0; }));
  CHECK(lingering.page().at("state") == "running");
  lingering.world.release(10);
  CHECK(lingering.world.until([&] { return lingering.page().at("state") == "complete"; }));

  RunningStream cancelling(kCancel);
  cancelling.client.reset();
  CHECK(cancelling.is_cancelled());

  RunningStream impatient(R"("disconnect":{"policy":"linger","linger_seconds":0})");
  impatient.client.reset();
  CHECK(impatient.is_cancelled());
}
