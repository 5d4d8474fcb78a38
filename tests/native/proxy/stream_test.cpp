// A stream through the proxy: what goes up, what comes down, and how it ends.
#include <nlohmann/json.hpp>

#include "tests/native/proxy/running_stream.hpp"

using namespace tidemark;
using namespace tidemark::test;

TEST_CASE("a stream comes through with its ids, its headers and its end") {
  World world;
  Answer answer = answer_with(chat_pieces(3));
  answer.headers = {{"Content-Type", "text/event-stream; charset=utf-8"},
                    {"X-Request-Id", "r1"},
                    {"Cache-Control", "private"},
                    {"x-ratelimit-remaining", "5"},
                    {"X-Request-Id", "r2"}};
  world.upstream_answers({answer});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(reply.status == 200);
  CHECK(reply.complete);
  CHECK(reply.headers.get("content-type") == "text/event-stream");
  CHECK(reply.headers.get("cache-control") == "no-cache, no-transform");
  CHECK(reply.headers.count("cache-control") == 1);
  CHECK(reply.headers.get("x-accel-buffering") == "no");
  CHECK(reply.headers.get("tidemark-stream") == kKey);
  CHECK_FALSE(reply.headers.has("tidemark-resumed"));
  CHECK(reply.headers.count("x-request-id") == 2);
  CHECK(reply.headers.get("x-ratelimit-remaining") == "5");
  const std::string epoch(reply.headers.get("tidemark-epoch"));
  REQUIRE_FALSE(epoch.empty());
  CHECK(epoch.find('-') == std::string::npos);

  const auto blocks = blocks_of(reply.body);
  REQUIRE(blocks.size() == 6);
  for (std::size_t i = 0; i < 5; ++i) CHECK(blocks[i].rfind("id: " + epoch + "-" + std::to_string(i) + "\n", 0) == 0);
  CHECK(blocks[5] == kCompleteEnd);
  std::string expected;
  for (const std::string& piece : chat_pieces(3)) expected += piece;
  CHECK(without_ids(reply.body) == expected + kCompleteEnd);
}

TEST_CASE("a request goes up as it came, but for what ends at the proxy") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(1))});
  const std::string body = R"({ "stream" : true,  "resumeSeq": -1, "x": 1.50, "receivedLength":0})";
  HttpClient client = world.connect();
  CHECK(client
            .ask("POST", "/v1/chat/completions?a=b",
                 {{"Idempotency-Key", kKey},
                  {"authorization", "Bearer t"},
                  {"X-B", "2"},
                  {"X-A", "1"},
                  {"Connection", "keep-alive, X-Gone"},
                  {"X-Gone", "1"},
                  {"TE", "trailers"},
                  {"Accept-Encoding", "gzip"},
                  {"X-B", "3"}},
                 body)
            .status == 200);
  const auto asked = world.asked();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].body == R"({ "stream" : true, "x": 1.50})");
  CHECK(asked[0].head.target == "/base/v1/chat/completions?a=b");
  CHECK(asked[0].head.headers.get("host").rfind("127.0.0.1:", 0) == 0);
  for (const char* gone : {"x-gone", "te", "accept-encoding", "transfer-encoding"}) {
    INFO(gone);
    CHECK_FALSE(asked[0].head.headers.has(gone));
  }
  std::vector<std::string> order;
  for (const auto& header : asked[0].head.headers) {
    if (header.name[0] == 'X' || header.name[0] == 'a') order.push_back(header.name + "=" + header.value);
  }
  CHECK(order == std::vector<std::string>{"authorization=Bearer t", "X-B=2", "X-A=1", "X-B=3"});
}

TEST_CASE("events are delivered at once") {
  RunningStream stream;
  CHECK(stream.read_block().find("word0 ") != std::string::npos);
  stream.world.release(1);
  CHECK(stream.read_block().find("word1 ") != std::string::npos);
  stream.world.release(10);
  const Reply rest = stream.read_rest();
  CHECK(rest.complete);
  CHECK(ends_with(rest.body, kCompleteEnd));
}

TEST_CASE("an upstream's own error is handed on, and the key is free again") {
  World world(R"("retry":{"attempts":1})");
  Answer refusal = answer_with({R"({"error":{"message":"no"}})"});
  refusal.status = 400;
  refusal.headers = {{"Content-Type", "application/json"}, {"Retry-After", "7"}};
  world.upstream_answers({refusal, answer_with(chat_pieces(1))});
  HttpClient client = world.connect();
  const Reply refused = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(refused.status == 400);
  CHECK(refused.body == R"({"error":{"message":"no"}})");
  CHECK(refused.headers.get("retry-after") == "7");
  const Reply second = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(second.status == 200);
  CHECK_FALSE(second.headers.has("tidemark-resumed"));
  CHECK(world.asked().size() == 2);
}

TEST_CASE("a failure before the commit is repeated in silence, a cut after content is ended truthfully") {
  World world(R"("retry":{"attempts":3,"base_ms":1,"jitter_ms":0})");
  Answer reset;
  reset.end = Answer::End::ResetAtOnce;
  Answer cut = answer_with({chat_event("one"), chat_event("two")});
  cut.end = Answer::End::Cut;
  world.upstream_answers({reset, reset, cut});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(reply.status == 200);
  CHECK(world.asked().size() == 3);
  CHECK(reply.complete);
  const std::string end = ": tidemark end=truncated reason=synthesized-stop\n\n";
  CHECK(ends_with(reply.body, end));
  CHECK(reply.body.find("data: [DONE]\n\n") != std::string::npos);

  Answer empty;
  world.upstream_answers({empty});
  const Reply failed = client.ask("POST", kChatPath, with_key("another-key-of-twenty-characters"), kChatBody);
  CHECK(failed.status == 502);
  CHECK(nlohmann::json::parse(failed.body).at("error").at("code") == "upstream_empty");
  CHECK(failed.headers.get("retry-after") == "1");
  CHECK(failed.headers.get("retry-after-ms") == "1000");
}

namespace {

/// A proxy with a configuration of the test's own, on a loop in a thread.
class OtherProxy {
 public:
  explicit OtherProxy(const std::string& configuration) : logger_(observe::Level::Off, lines_) {
    auto loaded = config::load(configuration, {}, [](const std::string&) { return std::nullopt; });
    if (!loaded.ok()) FAIL(loaded.error().line());
    config_ = std::move(loaded).value();
    service_ = std::make_unique<proxy::Service>(loop_, config_, logger_);
    REQUIRE(service_->listen().empty());
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~OtherProxy() {
    loop_.stop();
    thread_.join();
  }
  OtherProxy(const OtherProxy&) = delete;
  OtherProxy& operator=(const OtherProxy&) = delete;
  std::uint16_t port() const { return service_->port(); }

 private:
  std::ostringstream lines_;
  observe::Logger logger_;
  loop::Loop loop_;
  config::Config config_;
  std::unique_ptr<proxy::Service> service_;
  std::thread thread_;
};

std::uint16_t port_of_nobody() {
  World gone;
  return gone.port();
}

}  // namespace

TEST_CASE("an upstream that nobody listens on is 502, in the dialect's shape") {
  OtherProxy proxy(R"({"listen":"127.0.0.1:0","retry":{"attempts":1},"upstreams":[{"base_url":"http://127.0.0.1:)" +
                   std::to_string(port_of_nobody()) + "\"}]}");
  HttpClient client(proxy.port());
  const Reply chat = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(chat.status == 502);
  const auto error = nlohmann::json::parse(chat.body).at("error");
  CHECK(error.at("code") == "upstream_unreachable");
  CHECK(error.at("message") == "the upstream could not be reached: Connection refused");
  const Reply messages = client.ask("POST", "/v1/messages", with_key(kKey + "2"), kChatBody);
  CHECK(messages.status == 502);
  CHECK(nlohmann::json::parse(messages.body).at("error").at("type") == "api_error");
}

TEST_CASE("a lost connection is told once, without the upstream's address; the log has it") {
  World world(R"("retry":{"attempts":1})");
  Answer reset;
  reset.end = Answer::End::ResetAtOnce;
  world.upstream_answers({reset});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(reply.status == 502);
  const std::string message = nlohmann::json::parse(reply.body).at("error").at("message");
  CHECK((message == "the connection to the upstream was lost: Connection reset by peer" ||
         message == "the connection to the upstream was lost: closed without an answer"));
  const std::string address = "127.0.0.1:" + std::to_string(world.upstream_port());
  CHECK(reply.body.find(address) == std::string::npos);
  const std::string lines = world.log_lines();
  CHECK(lines.find(R"("address":")" + address + R"(","why":")" + message + '"') != std::string::npos);
}

TEST_CASE("where one upstream cannot be reached, the next one is asked") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(1))});
  OtherProxy proxy(
      R"({"listen":"127.0.0.1:0","retry":{"base_ms":1,"jitter_ms":0},"upstreams":[{"base_url":"http://127.0.0.1:)" +
      std::to_string(port_of_nobody()) + R"("},{"base_url":"http://127.0.0.1:)" +
      std::to_string(world.upstream_port()) + "\"}]}");
  HttpClient client(proxy.port());
  CHECK(client.ask("POST", kChatPath, with_key(), kChatBody).status == 200);
  CHECK(world.asked().size() == 1);
}

TEST_CASE("a client that says how long it waits gets its head in that time") {
  World world;
  Answer silent;
  silent.end = Answer::End::Stall;
  world.upstream_answers({silent});
  HttpClient client = world.connect();
  // hold_max_ms is longer than this client of ours would wait.
  client.request("POST", kChatPath, {{"X-Stainless-Timeout", "1"}}, kChatBody);
  CHECK(client.read_head().status == 200);
}

TEST_CASE("keepalives go out between events while the upstream thinks") {
  RunningStream stream(R"("keepalive_ms":1)", 2);
  std::string got;
  const std::string keepalive = "\n\n:";
  while (got.find(keepalive) == std::string::npos) got += stream.client.read_bytes(1);
  stream.world.release(10);
  Reply rest = stream.read_rest();
  rest.body.insert(0, got);
  std::string events;
  for (const std::string& block : blocks_of(rest.body)) {
    if (block[0] != ':') events += without_ids(block);
  }
  std::string expected;
  for (const std::string& piece : chat_pieces(2)) expected += piece;
  CHECK(events == expected);
}

TEST_CASE("nothing secret is logged") {
  World world;
  Answer models = answer_with({"[]"});
  models.headers = {{"Content-Type", "application/json"}};
  world.upstream_answers({answer_with(chat_pieces(1)), models});
  HttpClient client = world.connect();
  client.ask("POST", "/v1/chat/completions?key=query-secret",
             with_key(kKey, {{"Authorization", "Bearer header-secret"}}), kChatBody);
  client.ask("GET", "/tidemark/streams/" + kKey);
  client.ask("GET", "/v1/models?key=query-secret", {{"x-api-key", "header-secret"}});
  const std::string lines = world.log_lines();
  CHECK(lines.find("stream ended") != std::string::npos);
  CHECK(lines.find("request passed through") != std::string::npos);
  for (const char* secret : {"query-secret", "header-secret", kKey.c_str()})
    CHECK(lines.find(secret) == std::string::npos);
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) CHECK(nlohmann::json::accept(line));
}
