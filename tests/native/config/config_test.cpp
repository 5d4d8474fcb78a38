// The configuration: every key read, every wrong value named.
#include "native/config/config.hpp"

#include <map>

#include "tests/catch.hpp"

using namespace tidemark;
using namespace tidemark::config;

namespace {

Environment environment(std::map<std::string, std::string> variables = {}) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

Result<Config, Problem> load_with(const std::string& keys, const Flags& flags = {},
                                  const Environment& env = environment()) {
  return load("{\"upstreams\":[{\"base_url\":\"http://u\"}]" + std::string(keys.empty() ? "" : ",") + keys + "}", flags,
              env);
}

std::string line(const Result<Config, Problem>& result) { return result.ok() ? "no problem" : result.error().line(); }

}  // namespace

TEST_CASE("a configuration with one upstream has the defaults of the contract") {
  const auto loaded = load_with("");
  REQUIRE(loaded.ok());
  const Config& c = loaded.value();
  CHECK(c.listen.text() == "127.0.0.1:8787");
  REQUIRE(c.upstreams.size() == 1);
  CHECK(c.upstreams[0].name == "u");
  CHECK_FALSE(c.upstreams[0].dialect);
  CHECK(c.stream_empty_retry_max == 1);
  CHECK(c.stream_first_byte_timeout_ms == 30000);
  CHECK(c.commit_hold_ms == 2000);
  CHECK(c.hold_max_ms == 25000);
  CHECK(c.stream_idle_timeout_ms == 60000);
  CHECK(c.retry.attempts == 3);
  CHECK(c.retry.backoff.base_ms == 250);
  CHECK(c.retry.backoff.factor == 1.8);
  CHECK(c.retry.backoff.jitter_ms == 400);
  CHECK(c.retry.backoff.max_ms == 8000);
  CHECK(c.breaker.strikes == 3);
  CHECK(c.breaker.open_ms == 60000);
  CHECK(c.keepalive_ms == 15000);
  CHECK(c.truncated_finish == dialect::FinishStyle::Stop);
  CHECK(c.log_limits.ttl_seconds == 600);
  CHECK(c.log_limits.max_stream_bytes == 16777216);
  CHECK(c.log_limits.max_total_bytes == 268435456);
  CHECK(c.disconnect.policy == DisconnectPolicy::Linger);
  CHECK(c.disconnect.linger_seconds == 120);
  CHECK(c.drain_seconds == 30);
  CHECK(c.principal_header.empty());
  CHECK(c.cors_allow_origins.empty());
  CHECK_FALSE(c.allow_open_relay);
  CHECK(c.client_tokens.empty());
  CHECK(c.limits.request_head_bytes == 65536);
  CHECK(c.limits.body_bytes == 33554432);
  CHECK(c.limits.head_timeout_ms == 10000);
  CHECK(c.limits.event_bytes == 4194304);
  CHECK(c.limits.reader_stall_ms == 120000);
}

TEST_CASE("every key is read, comments are skipped, and secrets come from the environment") {
  const auto loaded = load(R"({
    // a comment
    "listen": "[::1]:9000",
    "upstreams": [
      {"name": "a", "base_url": "https://api.example.com/v1", "api_keys": ["env:KEY", "sk-2"], "dialect": "openai-chat", "overlap_min": 3,
       "continuation": ["reattach", "prefix", "continue-turn"], "prefix_style": "partial-flag", "prefix_echo": false},
      {"base_url": "http://127.0.0.1:8000" /* another */}
    ],
    "stream_empty_retry_max": 2, "stream_first_byte_timeout_ms": 0, "commit_hold_ms": 5, "hold_max_ms": 6,
    "stream_idle_timeout_ms": 7, "retry": {"attempts": 4, "base_ms": 1, "factor": 2, "jitter_ms": 3, "max_ms": 4},
    "breaker": {"strikes": 5, "open_seconds": 0}, "keepalive_ms": 8, "truncated_finish": "error", "log": "memory:",
    "log_limits": {"ttl_seconds": 1, "max_stream_bytes": 2048, "max_total_bytes": 4096},
    "disconnect": {"policy": "cancel", "linger_seconds": 2}, "drain_seconds": 3, "principal_header": "X-User",
    "cors": {"allow_origins": ["https://chat.example"]}, "allow_open_relay": true, "client_tokens": ["t1", "env:T2"],
    "challenge_patterns": ["slide to verify"],
    "limits": {"request_head_bytes": 2000, "body_bytes": 10, "head_timeout_ms": 11, "event_bytes": 3000,
               "reader_stall_ms": 0, "connections": 12}
  })",
                           {}, environment({{"KEY", "sk-1"}, {"T2", "t2"}}));
  INFO(line(loaded));
  REQUIRE(loaded.ok());
  const Config& c = loaded.value();
  CHECK(c.listen.text() == "[::1]:9000");
  REQUIRE(c.upstreams.size() == 2);
  CHECK(c.upstreams[0].name == "a");
  CHECK(c.upstreams[0].base.text() == "https://api.example.com/v1");
  CHECK(c.upstreams[0].api_keys == std::vector<std::string>{"sk-1", "sk-2"});
  CHECK(c.upstreams[0].dialect == dialect::Dialect::OpenaiChat);
  CHECK(c.upstreams[0].overlap_min == 3);
  CHECK(c.upstreams[0].continuation ==
        std::vector<seam::Form>{seam::Form::Reattach, seam::Form::Prefix, seam::Form::ContinueTurn});
  CHECK(c.upstreams[0].prefix_style == PrefixStyle::PartialFlag);
  CHECK(c.upstreams[0].prefix_echo == false);
  CHECK(c.upstreams[1].name == "127.0.0.1:8000");
  CHECK(c.upstreams[1].overlap_min == 12);
  CHECK(c.upstreams[1].continuation.empty());
  CHECK_FALSE(c.upstreams[1].prefix_style);
  CHECK_FALSE(c.upstreams[1].prefix_echo);
  CHECK(c.stream_empty_retry_max == 2);
  CHECK(c.stream_first_byte_timeout_ms == 0);
  CHECK(c.commit_hold_ms == 5);
  CHECK(c.hold_max_ms == 6);
  CHECK(c.stream_idle_timeout_ms == 7);
  CHECK(c.retry.attempts == 4);
  CHECK(c.retry.backoff.base_ms == 1);
  CHECK(c.retry.backoff.factor == 2);
  CHECK(c.retry.backoff.jitter_ms == 3);
  CHECK(c.retry.backoff.max_ms == 4);
  CHECK(c.breaker.strikes == 5);
  CHECK(c.breaker.open_ms == 0);
  CHECK(c.keepalive_ms == 8);
  CHECK(c.truncated_finish == dialect::FinishStyle::Error);
  CHECK(c.log_limits.ttl_seconds == 1);
  CHECK(c.log_limits.max_stream_bytes == 2048);
  CHECK(c.log_limits.max_total_bytes == 4096);
  CHECK(c.disconnect.policy == DisconnectPolicy::Cancel);
  CHECK(c.disconnect.linger_seconds == 2);
  CHECK(c.drain_seconds == 3);
  CHECK(c.principal_header == "X-User");
  CHECK(c.cors_allow_origins == std::vector<std::string>{"https://chat.example"});
  CHECK(c.allow_open_relay);
  CHECK(c.client_tokens == std::vector<std::string>{"t1", "t2"});
  CHECK(c.challenge_patterns == std::vector<std::string>{"slide to verify"});
  CHECK(c.limits.request_head_bytes == 2000);
  CHECK(c.limits.body_bytes == 10);
  CHECK(c.limits.head_timeout_ms == 11);
  CHECK(c.limits.event_bytes == 3000);
  CHECK(c.limits.reader_stall_ms == 0);
  CHECK(c.limits.connections == 12);
}

TEST_CASE("an object given in part keeps its other defaults") {
  const auto loaded =
      load_with(R"("retry": {"attempts": 7}, "log_limits": {"ttl_seconds": 5}, "breaker": {"strikes": 9},
                                  "disconnect": {"linger_seconds": 4}, "limits": {"connections": 3})");
  REQUIRE(loaded.ok());
  CHECK(loaded.value().retry.backoff.base_ms == 250);
  CHECK(loaded.value().log_limits.max_stream_bytes == 16777216);
  CHECK(loaded.value().breaker.open_ms == 60000);
  CHECK(loaded.value().disconnect.policy == DisconnectPolicy::Linger);
  CHECK(loaded.value().limits.body_bytes == 33554432);
}

TEST_CASE("a problem is one line with the field, the value and what is allowed") {
  struct Case {
    const char* keys;
    const char* line;
  };
  for (const Case& c : {
           Case{R"("keepalives": 1)", "keepalives: unknown key: allowed here: listen, upstreams, "},
           Case{R"("retry": {"tries": 1})",
                "retry.tries: unknown key: allowed here: attempts, base_ms, factor, jitter_ms, max_ms"},
           Case{R"("keepalive_ms": 0)", "keepalive_ms: 0: must be a whole number from 1 to 86400000"},
           Case{R"("keepalive_ms": 86400001)", "keepalive_ms: 86400001: must be a whole number from 1 to 86400000"},
           Case{R"("keepalive_ms": 18446744073709551615)",
                "keepalive_ms: 18446744073709551615: must be a whole number"},
           Case{R"("keepalive_ms": 1.5)", "keepalive_ms: 1.5: must be a whole number"},
           Case{R"("keepalive_ms": "15000")", "keepalive_ms: \"15000\": must be a whole number"},
           Case{R"("listen": "8787")", "listen: \"8787\": must be HOST:PORT"},
           Case{R"("truncated_finish": "end")", "truncated_finish: \"end\": must be one of stop, length, error"},
           Case{R"("disconnect": {"policy": "stay"})",
                "disconnect.policy: \"stay\": must be one of linger, continue, cancel"},
           Case{R"("disconnect": "linger")", "disconnect: \"linger\": must be an object"},
           Case{R"("retry": {"factor": 0.5})", "retry.factor: 0.5: must be a number from 1 to 100"},
           Case{R"("allow_open_relay": 1)", "allow_open_relay: 1: must be true or false"},
           Case{R"("principal_header": "X User")", "principal_header: \"X User\": must be the name of a header"},
           Case{R"("cors": {"allow_origins": ["https://a/path"]})",
                "cors.allow_origins: \"https://a/path\": must be a list of origins"},
           Case{R"("client_tokens": ["env:NOT_SET"])",
                "client_tokens[0]: \"env:NOT_SET\": the environment variable must be set"},
           Case{R"("client_tokens": "hunter2")", "client_tokens: (not shown): must be a list"},
           Case{R"("client_tokens": ["with space"])", "client_tokens[0]: (not shown): must be visible ASCII"},
           Case{R"("log": "sqlite:")", "log: \"sqlite:\": must be memory:, file:DIR, redis:"},
           Case{R"("log": "file:")", "log: \"file:\": must be memory:, file:DIR, redis:"},
           Case{R"("log": "file:d", "log_file": {"sync": "often"})", "log_file.sync: \"often\": must be"},
           Case{R"("log": "file:d", "log_file": {"sync_ms": 0})", "log_file.sync_ms: 0: must be"},
           Case{R"("retry": {"attempts": 1, "attempts": 2})", "attempts: twice: must stand once"},
           Case{R"("listen": "127.0.0.1:1", "listen": "127.0.0.1:2")", "listen: twice: must stand once"},
           Case{R"("challenge_patterns": ["x", ""])",
                R"(challenge_patterns: ["x",""]: must be a list of texts, none of them empty)"},
           Case{R"("log_limits": {"max_stream_bytes": 2048, "max_total_bytes": 1024})",
                "log_limits.max_stream_bytes: 2048: must not be above max_total_bytes (1024)"},
       }) {
    INFO(c.keys);
    CHECK(line(load_with(c.keys)).substr(0, std::string(c.line).size()) == c.line);
  }
}

TEST_CASE("a log that replicas share is a Redis server") {
  const auto env = environment({{"REDIS_URL", "rediss://tide:mark@redis.example:6380/2"},
                                {"REDIS_PASSWORD", "p%40@/:?#"},
                                {"WRONG_URL", "redis://:hunter2@"},
                                {"EMPTY", ""}});
  SECTION("written out") {
    const auto loaded = load_with(R"("log": "redis://127.0.0.1")");
    INFO(line(loaded));
    REQUIRE(loaded.ok());
    REQUIRE(loaded.value().log_redis_url);
    CHECK(loaded.value().log_redis_url->text() == "redis://127.0.0.1:6379/0");
    CHECK(loaded.value().log_directory.empty());
    CHECK(loaded.value().log_redis.lease_ms == 3000);
    CHECK_FALSE(load_with("").value().log_redis_url);
  }
  SECTION("out of the environment") {
    for (const bool by_flag : {false, true}) {
      Flags flags;
      if (by_flag) flags.log = "env:REDIS_URL";
      const auto loaded = load_with(by_flag ? "" : R"("log": "env:REDIS_URL")", flags, env);
      INFO(line(loaded));
      REQUIRE(loaded.ok());
      REQUIRE(loaded.value().log_redis_url);
      CHECK(loaded.value().log_redis_url->text() == "rediss://redis.example:6380/2");
      CHECK(loaded.value().log_redis_url->user == "tide");
      CHECK(loaded.value().log_redis_url->password == "mark");
    }
  }
  SECTION("the password out of the environment, as it is there") {
    const auto loaded = load_with(R"("log": "redis://u:env:REDIS_PASSWORD@h/1")", {}, env);
    INFO(line(loaded));
    REQUIRE(loaded.ok());
    CHECK(loaded.value().log_redis_url->user == "u");
    CHECK(loaded.value().log_redis_url->password == "p%40@/:?#");
  }
  SECTION("its lease") {
    CHECK(load_with(R"("log_redis": {"lease_ms": 500})").value().log_redis.lease_ms == 500);
    CHECK(line(load_with(R"("log_redis": {"lease_ms": 499})")) ==
          "log_redis.lease_ms: 499: must be a whole number from 500 to 60000");
    CHECK(line(load_with(R"("log_redis": {"lease_ms": 60001})")).rfind("log_redis.lease_ms: 60001: ", 0) == 0);
    CHECK(line(load_with(R"("log_redis": {"lease": 500})")).rfind("log_redis.lease: unknown key: ", 0) == 0);
    CHECK(line(load_with(R"("log_redis": 500)")) == "log_redis: 500: must be an object");
  }
  SECTION("what is wrong is named, and no password with it") {
    struct Case {
      const char* log;
      const char* line;
    };
    for (const Case& c : {
             Case{"redis://user:hunter2@h:0/0", "log: \"redis://***@h:0/0\": must be memory:, file:DIR, redis://["},
             Case{"redis://user:hunter2@h/x", "log: \"redis://***@h/x\": must be "},
             Case{"redis://user:hunt/er2@h/x", "log: \"redis://***@h/x\": must be "},
             Case{"redis://user:hunter2%@h", "log: \"redis://***@h\": must be "},
             Case{"redis://:hunter2", "log: \"redis://***\": must be "},
             Case{"redis://user:hunter2/0", "log: \"redis://***\": must be "},
             Case{"redis://h:6379/0?password=", "log: \"redis://h:6379/0?password=\": must be "},
             Case{"user:hunter2@h/0", "log: \"***@h/0\": must be "},
             Case{"redis:", "log: \"redis:\": must be "},
             Case{"env:WRONG_URL", "log: \"env:WRONG_URL\": must be memory:"},
             Case{"env:EMPTY", "log: \"env:EMPTY\": the environment variable must be set and not empty"},
             Case{"env:NOT_SET", "log: \"env:NOT_SET\": the environment variable must be set and not empty"},
             Case{"redis://u:env:NOT_SET@h",
                  "log: \"env:NOT_SET\": the environment variable must be set and not empty"},
             Case{"redis://u:env:@h", "log: \"redis://***@h\": must be "},
         }) {
      INFO(c.log);
      const std::string said = line(load_with("\"log\": \"" + std::string(c.log) + "\"", {}, env));
      CHECK(said.substr(0, std::string(c.line).size()) == c.line);
      CHECK(said.find("hunt") == std::string::npos);
    }
  }
}

TEST_CASE("how an upstream continues is checked") {
  struct Case {
    const char* keys;
    const char* line;
  };
  for (const Case& c : {
           Case{R"("continuation": [])", "no problem"},
           Case{R"("continuation": ["continue-turn", "prefix"])", "no problem"},
           Case{R"("continuation": ["prefix", "again"])",
                R"(upstreams[0].continuation: ["prefix","again"]: must be a list of reattach, prefix, continue-turn)"},
           Case{R"("continuation": ["prefix", "prefix"])", "upstreams[0].continuation: "},
           Case{R"("continuation": "prefix")", "upstreams[0].continuation: \"prefix\": must be a list"},
           Case{R"("overlap_min": 1)", "no problem"},
           Case{R"("overlap_min": 0)", "upstreams[0].overlap_min: 0: must be a whole number from 1 to 1000000"},
           Case{R"("prefix_style": "auto")", "no problem"},
           Case{R"("prefix_style": "continue-final-message")", "no problem"},
           Case{R"("prefix_style": "prefix")",
                "upstreams[0].prefix_style: \"prefix\": must be one of auto, trailing, prefix-flag, partial-flag, "
                "continue-final-message"},
           Case{R"("prefix_echo": "yes")", "upstreams[0].prefix_echo: \"yes\": must be true or false"},
       }) {
    INFO(c.keys);
    const std::string text = std::string(R"({"upstreams":[{"base_url":"http://u",)") + c.keys + "}]}";
    CHECK(line(load(text, {}, environment())).substr(0, std::string(c.line).size()) == c.line);
  }
}

TEST_CASE("upstreams are checked one by one") {
  const auto with = [](const char* list) {
    return line(load(std::string("{\"upstreams\":") + list + "}", {}, environment()));
  };
  CHECK(with("[]") == "upstreams: none: at least one is needed, here or as --upstream URL");
  CHECK(with("{}") == "upstreams: {}: must be a list of objects");
  CHECK(with("[1]") == "upstreams[0]: 1: must be an object");
  CHECK(with("[{}]").rfind("upstreams[0].base_url: missing: must be http://HOST", 0) == 0);
  CHECK(with(R"([{"base_url":"http://u"},{"base_url":"ftp://v"}])")
            .rfind("upstreams[1].base_url: \"ftp://v\": must be http", 0) == 0);
  CHECK(with(R"([{"base_url":"http://u"},{"base_url":"http://u"}])") ==
        "upstreams[1].name: \"u\": must differ from the others");
  CHECK(with(R"([{"base_url":"http://u","dialect":"openai"}])")
            .rfind("upstreams[0].dialect: \"openai\": must be one of auto, ", 0) == 0);
  CHECK(with(R"([{"base_url":"http://u","dialect":"auto"}])") == "no problem");
}

TEST_CASE("a syntax error names its line and column") {
  CHECK(line(load("{\n  \"listen\" 1\n}", {}, environment())) ==
        "configuration: line 2, column 12: must be JSON (comments are allowed)");
  CHECK(line(load("", {}, environment())).rfind("configuration: line 1, column 1: ", 0) == 0);
  CHECK(line(load("[]", {}, environment())) == "configuration: []: must be an object");
}

TEST_CASE("a flag beats the file, and is checked like it") {
  Flags flags;
  flags.listen = "127.0.0.1:1";
  flags.upstream = "http://flag/base";
  flags.log = "memory:";
  const auto loaded = load_with(R"("listen": "127.0.0.1:2", "log": "redis://127.0.0.1:6379/0")", flags);
  INFO(line(loaded));
  REQUIRE(loaded.ok());
  CHECK(loaded.value().listen.port == 1);
  REQUIRE(loaded.value().upstreams.size() == 1);
  CHECK(loaded.value().upstreams[0].base.text() == "http://flag/base");
  CHECK(load("{}", flags, environment()).ok());

  Flags bad;
  bad.listen = "x";
  CHECK(line(load_with("", bad)).rfind("--listen: \"x\": must be HOST:PORT", 0) == 0);
  bad = {};
  bad.upstream = "x";
  CHECK(line(load_with("", bad)).rfind("--upstream: \"x\": must be http", 0) == 0);
  bad = {};
  bad.upstream = "http://user:hunter2@h/v1";
  CHECK(line(load_with("", bad)).rfind("--upstream: \"http://***@h/v1\": must be http", 0) == 0);
  bad.upstream = "http://user:hunt/er2@h/v1";
  CHECK(line(load_with("", bad)).rfind("--upstream: \"http://***@h/v1\": must be http", 0) == 0);
  bad = {};
  bad.log = "redis://user:hunter2@h:1/zero";
  CHECK(line(load_with("", bad)).rfind("--log: \"redis://***@h:1/zero\": must be memory:, file:DIR, redis:", 0) == 0);
  Flags files;
  files.log = "file:/var/lib/tidemark";
  const auto in_files = load_with(R"("log": "memory:", "log_file": {"sync": "always"})", files);
  REQUIRE(in_files.ok());
  CHECK(in_files.value().log_directory == "/var/lib/tidemark");
  CHECK(in_files.value().log_file.sync == LogSync::Always);
  CHECK(load_with(R"("log": "file:there")").value().log_directory == "there");
}

TEST_CASE("own keys are not offered to the whole network by accident") {
  const std::string upstream = R"("upstreams":[{"base_url":"http://u","api_keys":["k"]}])";
  const auto with = [&](const char* rest) { return load("{" + upstream + rest + "}", {}, environment()); };
  CHECK(with(R"(,"listen":"127.0.0.1:1")").ok());
  CHECK(line(with(R"(,"listen":"0.0.0.0:1")")).rfind("listen: 0.0.0.0:1: beyond loopback", 0) == 0);
  CHECK(with(R"(,"listen":"0.0.0.0:1","allow_open_relay":true)").ok());
  CHECK(with(R"(,"listen":"0.0.0.0:1","client_tokens":["t"])").ok());
  CHECK(load_with(R"("listen":"0.0.0.0:1")").ok());
}

TEST_CASE("a file that is not there is a problem of its flag") {
  CHECK(line(load_file(".", {}, environment())) == "--config: .: must be a file that can be read");
  CHECK(line(load_file("no/such/file.json", {}, environment())) ==
        "--config: no/such/file.json: must be a file that can be read");
}
