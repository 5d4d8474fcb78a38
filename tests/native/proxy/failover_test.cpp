// Several upstreams that don't speak the same: the attempt that goes to the next one is sent and read as that one is.
#include <nlohmann/json.hpp>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

const std::string kMessages =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":"
    "\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":1,"
    "\"output_tokens\":1}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
    "\"text\",\"text\":\"\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
    "\"text_delta\",\"text\":\"Hi\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
    "{\"output_tokens\":1}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

std::uint16_t port_of_nobody() {
  World gone;
  return gone.port();
}

// The first upstream cannot be reached.
std::string upstreams(const std::string& first_keys, const std::string& second_keys) {
  return R"({"name":"a","base_url":"http://127.0.0.1:)" + std::to_string(port_of_nobody()) + "\"" + first_keys +
         R"(},{"name":"b","base_url":"http://127.0.0.1:PORT/base")" + second_keys + "}";
}

constexpr const char* kQuick = R"("retry":{"base_ms":1,"jitter_ms":0})";

}  // namespace

TEST_CASE("the next upstream's answer is read as it is configured, and its key goes where its dialect has it") {
  World world(kQuick, "",
              upstreams(R"(,"dialect":"openai-chat")", R"(,"dialect":"anthropic-messages","api_keys":["own"])"));
  world.upstream_answers({answer_with({kMessages})});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", "/chat", with_key(), kChatBody);
  CHECK(reply.status == 200);
  CHECK(without_ids(reply.body) == kMessages + kCompleteEnd);
  const auto page = stream_page(client);
  CHECK(page.at("dialect") == "anthropic-messages");
  REQUIRE(world.asked().size() == 1);
  CHECK(world.asked()[0].head.headers.get("x-api-key") == "own");
  CHECK_FALSE(world.asked()[0].head.headers.has("authorization"));
}

TEST_CASE("an upstream without a configured dialect is told by the path, whatever the first one is configured to") {
  World world(kQuick, "", upstreams(R"(,"dialect":"seq-delta")", ""));
  world.upstream_answers({answer_with({kMessages})});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", "/v1/messages", with_key(), kChatBody);
  CHECK(without_ids(reply.body) == kMessages + kCompleteEnd);

  // Without a path that tells, by the first event.
  world.upstream_answers({answer_with({"data: {\"type\":\"start\"}\n\n", "data: {\"type\":\"finish\"}\n\n"})});
  client.ask("POST", "/api/chat", with_key(kKey + "2"), kChatBody);
  const auto page = stream_page(client, kKey + "2");
  CHECK(page.at("dialect") == "ai-sdk-ui");
}
