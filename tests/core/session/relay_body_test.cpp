// Bodies that are no event stream where one was asked for (contract § 4, rule 3, and § 4.2).
#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

constexpr const char* kTypes[] = {"", "application/json", "text/plain; charset=utf-8", "application/octet-stream"};

TEST_CASE("relay: a body with nothing in it is an empty attempt") {
  for (const RelaySample& sample : model_samples()) {
    for (const char* type : {"", "application/json", "text/plain", "text/html", "application/octet-stream"}) {
      for (const char* body : {"", " \r\n", "{}", " { } \n", "null", "null\n"}) {
        const bool json = std::string_view(body).find_first_of("{n") != std::string_view::npos;
        // What is not looked at, or not held, is handed on by its first bytes.
        if (json && *type != '\0' && std::string_view(type) != "application/json") continue;
        CAPTURE(dialect::name(sample.dialect), type, body);
        RelayWorld world(relay_options(sample.dialect));
        world.start().head(200, type).bytes(body).eof();
        REQUIRE(world.attempt() == 2);
        CHECK(world.sent[1] == world.now);
        SECTION("that is repeated") {
          world.head().bytes(sample.whole()).eof();
          CHECK(world.body() == sample.whole());
          CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
        }
        SECTION("and told in the end") {
          world.head(204, type).bytes(body).eof();
          REQUIRE(world.refused);
          CHECK(world.relay.error().status == 502);
          const bool anthropic = sample.dialect == Dialect::AnthropicMessages;
          CHECK(world.relay.error().type == (anthropic ? "api_error" : "upstream_error"));
          CHECK(world.relay.error().code == "upstream_empty");
          CHECK(world.relay.error().retry_after_s == 1);
        }
      }
    }
  }
}

TEST_CASE("relay: a request that asks for no stream gets its empty body") {
  for (const char* body : {"", "{}", "null", R"({"error":{"message":"boom","type":"server_error"}})"}) {
    RelayOptions options = relay_options(Dialect::OpenaiChat);
    options.expects_stream = false;
    RelayWorld world(options);
    world.start().head(200, "application/json").bytes(body).eof();
    CHECK(world.passed == body);
    CHECK(world.attempt() == 1);
  }
}

struct ErrorBody {
  Dialect dialect;
  std::string body;
};

TEST_CASE("relay: an error under a success is repeated where it may pass, and told in its words") {
  const std::vector<ErrorBody> bodies{
      {Dialect::OpenaiChat, R"({"error":{"message":"boom","type":"server_error","code":"overloaded"}})"},
      {Dialect::OpenaiChat, R"({"error":"boom"})"},
      {Dialect::OpenaiChat, R"({"object":"error","message":"boom","type":"InternalServerError","code":500})"},
      {Dialect::OpenaiChat, R"({"type":"error","message":"boom","code":"server_error"})"},
      {Dialect::OpenaiResponses, R"({"error":{"message":"boom","type":"server_error","code":null}})"},
      {Dialect::OpenaiResponses,
       R"({"object":"response","status":"failed","error":{"code":"server_error","message":"boom"}})"},
      {Dialect::AnthropicMessages, R"({"type":"error","error":{"type":"overloaded_error","message":"boom"}})"},
      {Dialect::Gemini, R"({"error":{"code":503,"message":"boom","status":"UNAVAILABLE"}})"},
  };
  for (const ErrorBody& c : bodies) {
    for (const char* type : {"application/json", "", "text/event-stream"}) {
      for (const bool committed : {false, true}) {
        CAPTURE(dialect::name(c.dialect), c.body, type, committed);
        RelayOptions options = relay_options(c.dialect);
        if (committed) options.hold_max_ms = 10;
        RelayWorld world(options);
        world.start();
        if (committed) world.wait(10);
        world.head(200, type).bytes(c.body).eof();
        CHECK(world.relay.state() == RelayState::Waiting);
        world.wait(649);
        REQUIRE(world.attempt() == 2);
        CHECK(world.sent[1] >= world.sent[0] + 250);
        world.head(200, type).bytes(c.body).eof();
        if (committed) {
          CHECK(world.end == EndState::Failed);
          CHECK(world.body().find("boom") != std::string::npos);
        } else {
          REQUIRE(world.refused);
          CHECK(world.relay.error().status == 502);
          CHECK(world.relay.error().message == "boom");
        }
      }
    }
  }
}

TEST_CASE("relay: a final error under a success is not repeated and gets the status that it would have had") {
  struct Case {
    Dialect dialect;
    std::string body;
    int status;
  };
  const std::vector<Case> cases{
      {Dialect::OpenaiChat, R"({"error":{"message":"boom","type":"insufficient_quota","code":"insufficient_quota"}})",
       429},
      {Dialect::OpenaiChat, R"({"object":"error","message":"boom","type":"BadRequestError","code":400})", 400},
      {Dialect::OpenaiResponses, R"({"error":{"message":"boom","type":"invalid_request_error","code":null}})", 400},
      {Dialect::AnthropicMessages, R"({"type":"error","error":{"type":"authentication_error","message":"boom"}})", 401},
  };
  for (const Case& c : cases) {
    CAPTURE(c.body);
    RelayWorld world(relay_options(c.dialect));
    world.start().head(200, "application/json").bytes(c.body).eof();
    REQUIRE(world.refused);
    CHECK(world.attempt() == 1);
    CHECK(world.relay.error().status == c.status);
    CHECK(world.relay.error().message == "boom");
    CHECK_FALSE(world.relay.error().retry_after_s);
  }
}

TEST_CASE("relay: a proper JSON answer to a request for a stream is handed on") {
  struct Case {
    std::optional<Dialect> dialect;
    std::string body;
  };
  const std::vector<Case> cases{
      {Dialect::OpenaiChat, R"({"id":"c","choices":[{"message":{"content":"Hi"}}],"error":null})"},
      {Dialect::OpenaiResponses, R"({"object":"response","status":"completed","error":null,"output":[]})"},
      {Dialect::AnthropicMessages, R"({"type":"message","content":[{"type":"text","text":"Hi"}]})"},
      {std::nullopt, R"({"code":200,"message":"success","data":{"text":"Hi"}})"},
      {std::nullopt, R"({"code":0,"message":"ok"})"},
      {std::nullopt, R"({"detail":"Hi"})"},
      {std::nullopt, "nullify"},
      {std::nullopt, "[]"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.body);
    RelayWorld world(relay_options(c.dialect));
    world.start().head(200, "application/json").bytes(c.body).eof();
    CHECK(world.passed == c.body);
    CHECK(world.attempt() == 1);
  }
}

TEST_CASE("relay: a success that brings no byte in time is a silent attempt") {
  RelayOptions options = relay_options(Dialect::OpenaiChat);
  options.hold_max_ms = 1000000;
  for (const bool by_idle : {false, true}) {
    options.first_byte_timeout_ms = by_idle ? 0 : 5000;
    options.idle_timeout_ms = by_idle ? 5000 : 60000;
    RelayWorld world(options);
    world.start().head(200, "application/json").bytes(" ").wait(5000);
    REQUIRE(world.attempt() == 2);
    world.head(200, "application/json").wait(5000);
    REQUIRE(world.refused);
    CHECK(world.relay.error().status == 504);
    // With a byte it is an answer that is on its way.
    RelayWorld begun(options);
    begun.start().head(200, "application/json").bytes("{").wait(5000);
    CHECK(begun.passed == "{");
  }
  // The client is not left without a byte for longer than hold_max_ms.
  options.hold_max_ms = 3000;
  RelayWorld world(options);
  world.start().head(200, "application/json").wait(3000);
  CHECK(world.passed == "");
  CHECK_FALSE(world.passed_whole);
}

TEST_CASE("relay: an event stream under another name, or none, is one where a stream was asked for") {
  for (const RelaySample& sample : samples()) {
    for (const char* type : kTypes) {
      for (const char* before : {"", ": hello\n\n", "\r\n\r\n", "\xEF\xBB\xBF", "retry: 5\n", "id: 7\n"}) {
        for (const bool split : {false, true}) {
          CAPTURE(dialect::name(sample.dialect), type, before, split);
          RelayWorld world(relay_options(sample.dialect));
          world.start().head(200, type);
          const std::string body = before + sample.whole();
          for (std::size_t at = 0; at < body.size(); at += split ? 1 : body.size()) {
            world.bytes(std::string_view(body).substr(at, split ? 1 : body.size()));
          }
          if (!world.over()) world.eof();
          CHECK(world.commit_head == 1);
          CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
          CHECK(world.body().find(sample.text + sample.more_text + sample.end) != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("relay: such a stream is held, repeated and told as any other") {
  const RelaySample sample = chat_sample();
  RelayWorld world(relay_options(sample.dialect));
  world.start().head(200, "text/plain").bytes(sample.preamble).eof();
  REQUIRE(world.attempt() == 2);
  world.head(200, "text/plain").bytes(sample.preamble).wait(2000);
  CHECK(world.body() == sample.preamble);
  world.bytes(sample.text).eof();
  CHECK(world.ended(EndState::Truncated, EndReason::SynthesizedStop));

  RelayWorld challenge(relay_options(sample.dialect));
  challenge.start().head(200, "text/plain").data(R"({"ret":["FAIL_SYS_USER_VALIDATE::x"]})");
  CHECK(challenge.refused);
  CHECK(challenge.relay.error().code == "upstream_challenge");

  // Text that only looks like it for its first letters, a page, and a body that was not asked for as a stream.
  RelayWorld text(relay_options(sample.dialect));
  text.start().head(200, "text/plain").bytes("dat").bytes("ive");
  CHECK(text.passed == "dative");
  RelayWorld page(relay_options(sample.dialect));
  page.start().head(200, "text/html").bytes(": not a stream").eof();
  CHECK(page.passed == ": not a stream");
  RelayOptions plain = relay_options(std::nullopt);
  plain.expects_stream = false;
  RelayWorld other(plain);
  other.start().head(200, "text/plain").bytes(": a comment").eof();
  CHECK(other.passed == ": a comment");
}

TEST_CASE("relay: a compressed body is judged by what it says and handed on as it came") {
  RelayOptions options = relay_options(std::nullopt);
  options.expects_stream = false;
  const auto head = [](RelayWorld& world, session::BodyCoding coding, const char* type) {
    session::UpstreamHead facts;
    facts.status = 200;
    facts.content_type = type;
    facts.coding = coding;
    world.start().after([&] { world.relay.handle_head(world.now, 1, facts); });
  };
  const auto bytes = [](RelayWorld& world, std::string_view chunk, std::string_view readable) {
    world.after([&] { world.relay.handle_bytes(world.now, 1, chunk, readable); });
  };
  for (const char* type : {"text/html", "application/json"}) {
    RelayWorld challenge(options);
    head(challenge, session::BodyCoding::Readable, type);
    bytes(challenge, "\x1f\x8b", "");
    bytes(challenge, "zz", type[0] == 't' ? "<html><script src=\"/punish?x\">" : R"({"ret":["RGV587_ERROR::SM"]})");
    if (!challenge.over()) challenge.eof();
    CHECK(challenge.refused);
    CHECK(challenge.relay.error().code == "upstream_challenge");
    CHECK(challenge.outcomes.at(1) == retry::Outcome::Challenge);
  }
  RelayWorld cut(options);
  head(cut, session::BodyCoding::Readable, "text/html");
  bytes(cut, "\x1f\x8b", "<html><script src=\"/punish");
  CHECK_FALSE(cut.over());
  cut.reset();
  CHECK(cut.relay.error().code == "upstream_challenge");

  RelayWorld page(options);
  head(page, session::BodyCoding::Readable, "text/html");
  bytes(page, "\x1f\x8b", "<html>");
  bytes(page, "zz", "hello");
  page.eof();
  CHECK(page.passed == "\x1f\x8bzz");
  CHECK(page.passed_whole);

  RelayWorld large(options);
  head(large, session::BodyCoding::Readable, "text/html");
  bytes(large, "\x1f\x8b", std::string((256u << 10) - 1, 'x'));
  CHECK_FALSE(large.over());
  bytes(large, "zz", "x");
  CHECK(large.passed == "\x1f\x8bzz");
  CHECK_FALSE(large.passed_whole);

  // What can't be read is not waited for.
  RelayWorld unreadable(options);
  head(unreadable, session::BodyCoding::Unreadable, "text/html");
  CHECK(unreadable.passed == "");
}

TEST_CASE("relay: a page that trickles is handed on after hold_max_ms, one that stops after the idle timeout") {
  for (const bool expects_stream : {false, true}) {
    RelayOptions options = relay_options(Dialect::OpenaiChat);
    options.expects_stream = expects_stream;
    options.idle_timeout_ms = 20000;
    RelayWorld trickling(options);
    trickling.start().head(200, "text/html");
    for (int second = 1; second < 25; ++second) {
      trickling.bytes("x").wait(1000);
      CHECK_FALSE(trickling.over());
    }
    trickling.bytes("x").wait(1000);
    CHECK(trickling.passed == std::string(25, 'x'));
    RelayWorld silent(options);
    silent.start().head(200, "text/html").bytes("x").wait(19999);
    CHECK_FALSE(silent.over());
    silent.wait(1);
    CHECK(silent.passed == "x");
  }
}

}  // namespace
}  // namespace tidemark::test
