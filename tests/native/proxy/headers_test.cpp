// Principals, tokens, forwarding and CORS, header by header.
#include "native/proxy/cors.hpp"
#include "native/proxy/forwarding.hpp"
#include "native/proxy/principal.hpp"
#include "native/tls/sha256.hpp"
#include "tests/catch.hpp"

using namespace tidemark;
using namespace tidemark::proxy;

TEST_CASE("a principal is the digest of the credential, or of the header that was named") {
  CHECK(principal_of({}, "") == "anonymous");
  CHECK(principal_of({{"Authorization", ""}}, "") == "anonymous");
  CHECK(principal_of({{"AUTHORIZATION", "Bearer a"}}, "") == tls::to_hex(tls::sha256("Bearer a")));
  CHECK(principal_of({{"x-api-key", "k"}, {"authorization", "Bearer a"}}, "") == tls::to_hex(tls::sha256("Bearer a")));
  CHECK(principal_of({{"x-api-key", "k"}}, "") == tls::to_hex(tls::sha256("k")));
  CHECK(principal_of({{"x-goog-api-key", "k"}}, "") == tls::to_hex(tls::sha256("k")));
  CHECK(principal_of({{"authorization", "Bearer a"}, {"x-user", "u"}}, "X-User") == tls::to_hex(tls::sha256("u")));
  CHECK(principal_of({{"authorization", "Bearer a"}}, "X-User") == "anonymous");
}

TEST_CASE("a token is shown or it is not") {
  const std::vector<std::string> tokens{"one", "two"};
  std::string_view in;
  CHECK(shows_token({{"Authorization", "Bearer two"}}, tokens, in));
  CHECK(in == "authorization");
  CHECK(shows_token({{"Authorization", "Bearer theirs"}, {"X-Api-Key", "one"}}, tokens, in));
  CHECK(in == "x-api-key");
  for (const char* wrong : {"two", "Basic two", "Bearer", "Bearer ", "Bearer twoo", "Bearer tw", "Bearer  two"}) {
    INFO(wrong);
    CHECK_FALSE(shows_token({{"Authorization", wrong}}, tokens, in));
  }
  CHECK_FALSE(shows_token({{"Cookie", "one"}}, tokens, in));
}

TEST_CASE("what goes up") {
  config::Upstream upstream;
  upstream.base = *config::parse_base_url("https://api.example.com/v9");
  http::RequestHead request;
  request.method = "POST";
  request.target = "/v1/x?y";
  request.headers = {{"X-First", "1"},           {"Host", "proxy"},           {"Authorization", "Bearer c"},
                     {"Content-Length", "3"},    {"Connection", "X-Named"},   {"X-Named", "n"},
                     {"Upgrade", "h2c"},         {"Accept-Encoding", "gzip"}, {"X-Resume-Seq", "-1"},
                     {"Expect", "100-continue"}, {"Idempotency-Key", "k"},    {"X-First", "2"}};
  std::string_view key;
  const auto up = [&](dialect::Dialect dialect, bool stream, std::string_view token_in) {
    return to_upstream(request, {upstream, dialect, key, stream, stream, token_in});
  };
  const http::RequestHead plain = up(dialect::Dialect::OpenaiChat, false, "");
  CHECK(plain.method == "POST");
  CHECK(plain.target == "/v9/v1/x?y");
  CHECK(plain.headers == http::Headers{{"X-First", "1"},
                                       {"Host", "api.example.com"},
                                       {"Authorization", "Bearer c"},
                                       {"Accept-Encoding", "gzip"},
                                       {"X-Resume-Seq", "-1"},
                                       {"Idempotency-Key", "k"},
                                       {"X-First", "2"}});
  CHECK(up(dialect::Dialect::OpenaiChat, true, "authorization").headers ==
        http::Headers{{"X-First", "1"}, {"Host", "api.example.com"}, {"Idempotency-Key", "k"}, {"X-First", "2"}});
  key = "own";
  CHECK(up(dialect::Dialect::OpenaiChat, true, "").headers.get("authorization") == "Bearer own");
  CHECK(up(dialect::Dialect::OpenaiChat, true, "").headers.count("authorization") == 1);
  CHECK(up(dialect::Dialect::AnthropicMessages, true, "").headers.get("x-api-key") == "own");
  CHECK_FALSE(up(dialect::Dialect::AnthropicMessages, true, "").headers.has("authorization"));
  CHECK(up(dialect::Dialect::Gemini, true, "").headers.get("x-goog-api-key") == "own");
}

TEST_CASE("what comes down") {
  const http::Headers headers{{"A", "1"},
                              {"Content-Type", "text/event-stream"},
                              {"Connection", "close, B"},
                              {"B", "2"},
                              {"Keep-Alive", "x"},
                              {"Content-Length", "9"},
                              {"Tidemark-Epoch", "e"},
                              {"A", "3"}};
  CHECK(from_upstream(headers, false) == http::Headers{{"A", "1"},
                                                       {"Content-Type", "text/event-stream"},
                                                       {"Content-Length", "9"},
                                                       {"Tidemark-Epoch", "e"},
                                                       {"A", "3"}});
  CHECK(from_upstream(headers, true) == http::Headers{{"A", "1"}, {"A", "3"}});
}

TEST_CASE("origins") {
  const Cors some({"https://a.example", "http://localhost:5173"}, Cors::Unconfigured::Upstream);
  CHECK(some.allows("https://a.example"));
  CHECK_FALSE(some.allows("https://a.example:444"));
  CHECK_FALSE(some.allows("null"));
  CHECK_FALSE(some.allows(""));
  const Cors every({"*"}, Cors::Unconfigured::Upstream);
  CHECK(every.allows("https://anybody"));

  http::RequestHead request;
  request.method = "OPTIONS";
  request.headers = {{"Origin", "https://x"}, {"Access-Control-Request-Method", "GET"}};
  CHECK(Cors::is_preflight(request));
  CHECK(every.preflight(request).headers.get("access-control-allow-origin") == "*");
  CHECK(every.preflight(request).headers.get("access-control-allow-headers").find("X-Tail-Fingerprint") !=
        std::string_view::npos);
  request.headers.remove("origin");
  CHECK_FALSE(Cors::is_preflight(request));

  http::Headers untouched{{"Access-Control-Allow-Origin", "https://theirs"}};
  Cors({}, Cors::Unconfigured::Upstream).permit(request, untouched);
  CHECK(untouched == http::Headers{{"Access-Control-Allow-Origin", "https://theirs"}});
}
