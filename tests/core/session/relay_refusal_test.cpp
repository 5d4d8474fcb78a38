// Error events, error statuses and lost connections: repeated, handed on, or told (contract § 4, § 4.2).
#include <string>
#include <vector>

#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

TEST_CASE("relay: an error event that may pass is repeated after a backoff, then told in the upstream's words") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble + sample.failing);
    CHECK(world.relay.state() == RelayState::Waiting);
    CHECK(world.cut == std::vector<unsigned>{1});
    world.wait(649);
    REQUIRE(world.attempt() == 2);
    CHECK(world.sent[1] >= world.sent[0] + 250);
    world.head().bytes(sample.failing);
    const bool anthropic = sample.dialect == Dialect::AnthropicMessages;
    check_error(world, 502, anthropic ? "api_error" : "upstream_error", "upstream_empty", 1);
    CHECK(world.relay.error().message.find("try later") != std::string::npos);
  }
}

TEST_CASE("relay: a final error event is not repeated and keeps its words") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble + sample.final);
    REQUIRE(world.refused);
    CHECK(world.attempt() == 1);
    CHECK(world.relay.error().status == (sample.dialect == Dialect::OpenaiChat ? 429 : 400));
    CHECK(world.relay.error().message == "no money");
    CHECK_FALSE(world.relay.error().retry_after_s);
  }
}

TEST_CASE("relay: statuses that may pass are repeated with backoff, the last one is handed on byte for byte") {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) {
    CAPTURE(status);
    RelayWorld world(relay_options(Dialect::OpenaiChat));
    world.start();
    const std::string body = R"({"error":{"message":"busy"}})";
    world.head(status, "application/json").bytes(body).eof();
    CHECK(world.relay.state() == RelayState::Waiting);
    world.wait(8000);
    REQUIRE(world.attempt() == 2);
    CHECK(world.sent[1] - world.sent[0] >= 250);
    CHECK(world.sent[1] - world.sent[0] < 650);
    world.head(status, "application/json").bytes(body).eof().wait(8000);
    REQUIRE(world.attempt() == 3);
    world.head(status, "application/json").bytes(body.substr(0, 9)).bytes(body.substr(9)).eof();
    REQUIRE(world.passed);
    CHECK(*world.passed == body);
    CHECK(world.passed_whole);
    CHECK(world.passed_attempt == 3);
    CHECK(world.outcomes.at(3) == retry::Outcome::Neutral);
  }
}

TEST_CASE("relay: any other status is handed on at once") {
  for (const int status : {301, 400, 401, 402, 403, 404, 413, 422, 501}) {
    CAPTURE(status);
    RelayWorld world(relay_options(Dialect::OpenaiChat));
    world.start().head(status, "application/json").bytes("{}").eof();
    CHECK(world.passed == "{}");
    CHECK(world.attempt() == 1);
    CHECK(world.outcomes.at(1) == retry::Outcome::Neutral);
  }
}

TEST_CASE("relay: a Retry-After is a lower bound up to 59 seconds, and beyond it the response is handed on") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  world.start().head(429, "application/json", "59").bytes("{}").eof().wait(58999);
  CHECK(world.attempt() == 1);
  world.wait(1);
  CHECK(world.attempt() == 2);
  CHECK(world.commit_head == 0);  // hold_max_ms is over

  RelayWorld longer(relay_options(Dialect::OpenaiChat));
  longer.start().head(429, "application/json", "60").bytes("{}").eof();
  CHECK(longer.passed == "{}");
}

TEST_CASE("relay: no retry is waited for that comes after the client's patience") {
  RelayOptions options = relay_options(Dialect::OpenaiChat);
  options.client_timeout_ms = 5000;
  RelayWorld world(options);
  world.start().head(503, "application/json", "5").bytes("{}").eof();
  CHECK(world.passed == "{}");

  RelayWorld in_time(options);
  in_time.start().head(503, "application/json", "4").bytes("{}").eof();
  CHECK(in_time.relay.state() == RelayState::Waiting);
}

TEST_CASE("relay: connections that fail are repeated, then told as 502") {
  for (const bool anthropic : {false, true}) {
    for (const bool reset : {false, true}) {
      RelayWorld world(relay_options(anthropic ? Dialect::AnthropicMessages : Dialect::OpenaiChat));
      world.start();
      for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(world.over());
        reset ? world.reset() : world.unreachable();
        world.wait(8000);
      }
      CHECK(world.attempt() == 3);
      check_error(world, 502, anthropic ? "api_error" : "upstream_error", "upstream_unreachable", 1);
      const std::string& message = world.relay.error().message;
      CHECK(message == (reset ? "reset by peer" : "connection refused"));
    }
  }
}

TEST_CASE("relay: the two kinds of retry have budgets of their own") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  world.start().unreachable().wait(8000).head().eof();
  CHECK(world.attempt() == 3);
  world.head(503, "text/plain").bytes("no").eof().wait(8000);
  CHECK(world.attempt() == 4);
  world.head().bytes(chat_sample().whole());
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: after the commit a body that is looked at and goes silent is judged by what came") {
  RelayOptions options = relay_options(Dialect::OpenaiChat);
  options.hold_max_ms = 10;
  options.first_byte_timeout_ms = 0;
  RelayWorld world(options);
  world.start().wait(10).head(400, "application/json").wait(59999).bytes(R"({"error":{"message":"too)").wait(59999);
  CHECK_FALSE(world.over());
  world.wait(1);
  CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
  CHECK(world.cut == std::vector<unsigned>{1});
}

TEST_CASE("relay: after the commit an upstream's status is told as an error event in its words") {
  for (const RelaySample& sample : model_samples()) {
    CAPTURE(dialect::name(sample.dialect));
    RelayWorld world(relay_options(sample.dialect));
    world.start().head().bytes(sample.preamble).wait(2000).eof();
    world.head(401, "application/json").bytes(R"({"error":{"message":"bad key","type":"authentication_error"}})").eof();
    CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
    CHECK(world.body().substr(0, sample.message.size()) == sample.message);
    CHECK(world.body().find("bad key") != std::string::npos);
    CHECK(world.attempt() == 2);
  }
}

TEST_CASE(
    "relay: an answer that is no stream is handed on, and not held back for its end where it can't be a challenge") {
  RelayWorld world(relay_options(Dialect::OpenaiChat));
  world.start().head(200, "application/json; charset=utf-8").bytes("{\"choices\":");
  CHECK_FALSE(world.over());
  world.bytes("[]}").eof();
  CHECK(world.passed == "{\"choices\":[]}");
  CHECK(world.outcomes.at(1) == retry::Outcome::Answer);

  RelayWorld array(relay_options(Dialect::Gemini));
  array.start().head(200, "application/json").bytes("[{");
  CHECK(array.passed == "[{");
  CHECK_FALSE(array.passed_whole);

  RelayOptions other = relay_options(std::nullopt);
  other.expects_stream = false;
  for (const char* text : {"Dear all", "dark", "FAIL_SAFE", "R2"}) {
    RelayWorld plain(other);
    plain.start().head(200, "text/plain").bytes(text);
    CHECK(plain.passed == text);
  }
  RelayWorld page(other);
  page.start().wait(100000).head(200, "text/html").bytes("<html>").wait(24999);
  CHECK_FALSE(page.over());
  page.wait(1);
  CHECK(page.passed == "<html>");

  RelayWorld image(relay_options(Dialect::OpenaiChat));
  image.start().head(200, "image/png").bytes("\x89PNG");
  CHECK(image.passed == "\x89PNG");

  RelayWorld html(relay_options(Dialect::OpenaiChat));
  html.start().head(200, "text/html").bytes("<html>hello").eof();
  CHECK(html.passed == "<html>hello");

  RelayWorld large(relay_options(Dialect::OpenaiChat));
  large.start().head(200, "text/html").bytes(std::string((256u << 10) - 1, 'x'));
  CHECK_FALSE(large.over());
  large.bytes("y");
  CHECK(large.passed->size() == 256u << 10);

  RelayWorld slow(relay_options(Dialect::OpenaiChat));
  slow.start().head(200, "text/html").bytes("<html>").wait(25000);
  CHECK(slow.passed == "<html>");
}

}  // namespace
}  // namespace tidemark::test
