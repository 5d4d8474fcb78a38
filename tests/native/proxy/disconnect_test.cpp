// Clients that leave, how soon that is noticed, and clients that only have nothing more to say.
#include <nlohmann/json.hpp>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

const char* const kCancel = R"("disconnect":{"policy":"cancel"})";

Answer gated_answer() {
  Answer answer = answer_with(chat_pieces(5));
  answer.gated = true;
  return answer;
}

// A client that has read the first event whole, and nothing of whatever follows.
HttpClient reading(World& world) {
  HttpClient client = world.connect();
  client.request("POST", kChatPath, with_key(), kChatBody);
  world.release(1);
  CHECK(client.read_head().status == 200);
  std::string got;
  while (got.find("\n\n") == std::string::npos) got += client.read_bytes(1);
  return client;
}

}  // namespace

TEST_CASE("a client that resets, or closes with bytes unread, is noticed at once") {
  for (const bool by_reset : {true, false}) {
    INFO(by_reset);
    World world(kCancel);
    world.upstream_answers({gated_answer()});
    HttpClient client = world.connect();
    client.request("POST", kChatPath, with_key(), kChatBody);
    world.release(1);
    CHECK(client.read_head().status == 200);
    by_reset ? client.reset() : client.close();
    CHECK(world.until([&] { return world.upstream_open() == 0; }));
  }
}

TEST_CASE("a client that closes in good order is noticed although the upstream says nothing") {
  World world(kCancel);
  world.upstream_answers({gated_answer()});
  SECTION("before the first byte of the answer") {
    HttpClient client = world.connect();
    client.request("POST", kChatPath, with_key(), kChatBody);
    CHECK(world.until([&] { return world.asked().size() == 1; }));
    client.close();
  }
  SECTION("in the middle of the answer") { reading(world).close(); }
  CHECK(world.until([&] { return world.upstream_open() == 0; }));
}

TEST_CASE("a client that has nothing more to say is asked once, in a way that it ignores") {
  World world(kCancel);
  Answer answer = gated_answer();
  world.upstream_answers({answer});
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
    CHECK(rest.body.substr(rest.body.size() - kCompleteEnd.size()) == kCompleteEnd);
  }
}

TEST_CASE("a client that has nothing more to say is served to the end") {
  World world(kCancel);
  world.upstream_answers({gated_answer()});
  HttpClient client = reading(world);
  client.finish_sending();
  world.release(2);
  HttpClient other = world.connect();
  CHECK(other.ask("GET", "/tidemark/healthz").status == 200);
  world.release(10);
  Reply rest;
  client.read_body(rest);
  CHECK(rest.complete);
  CHECK(rest.body.substr(rest.body.size() - kCompleteEnd.size()) == kCompleteEnd);
}
