// From a file's text to a checked configuration.
#include "native/config/config.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "native/config/object_reader.hpp"

namespace tidemark::config {
namespace {

using nlohmann::json;

constexpr std::int64_t kDayMs = 86400000;
constexpr std::int64_t kYearSeconds = 31536000;
constexpr std::int64_t kMaxBytes = 4294967295;  // offsets in a stream's log are 32 bits wide
constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 50;
constexpr std::array<PrefixStyle, 4> kPrefixStyles{PrefixStyle::Trailing, PrefixStyle::PrefixFlag,
                                                   PrefixStyle::PartialFlag, PrefixStyle::ContinueFinalMessage};
constexpr const char* kVariableForm = "the environment variable must be set and not empty";
constexpr const char* kListenForm = "must be HOST:PORT, for example 127.0.0.1:8787";
constexpr const char* kUrlForm =
    "must be http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH], without a credential (api_keys has them)";

void read_listen(Config& config, const std::string& field, const std::string& text, Problems& problems) {
  if (auto parsed = parse_host_port(text)) {
    config.listen = *parsed;
  } else {
    problems.add(field, shown(text), kListenForm);
  }
}

constexpr const char* kLogForm =
    "must be memory:, file:DIR, redis://[USER[:PASSWORD]@]HOST[:PORT][/DB], rediss:// for TLS, or \"env:NAME\"";

// The password of a URL, where it is written as env:NAME.
bool read_password(ParsedRedisUrl& parsed, const std::string& field, const Environment& environment,
                   Problems& problems) {
  if (parsed.password_variable.empty()) return true;
  const auto found = environment(parsed.password_variable);
  if (found && !found->empty()) {
    parsed.url.password = *found;
    return true;
  }
  problems.add(field, shown("env:" + parsed.password_variable), kVariableForm);
  return false;
}

void read_log(Config& config, const std::string& field, const std::string& text, const Environment& environment,
              Problems& problems) {
  constexpr std::string_view kFile = "file:";
  constexpr std::string_view kVariable = "env:";
  std::string url = text;
  if (text.rfind(kVariable, 0) == 0) {
    const auto found = environment(text.substr(kVariable.size()));
    if (!found || found->empty()) return problems.add(field, shown(text), kVariableForm);
    url = *found;
  }
  if (url == "memory:") return;
  if (url.rfind(kFile, 0) == 0 && url.size() > kFile.size()) {
    config.log_directory = url.substr(kFile.size());
  } else if (auto parsed = parse_redis_url(url)) {
    if (read_password(*parsed, field, environment, problems)) config.log_redis_url = std::move(parsed->url);
  } else {
    // What came out of the environment is a secret.
    problems.add(field, shown(url == text ? without_password(text) : text), kLogForm);
  }
}

std::optional<dialect::Dialect> read_dialect(ObjectReader& reader) {
  std::vector<std::string> names{"auto"};
  for (int i = 0; i < dialect::kDialectCount; ++i) {
    names.emplace_back(dialect::name(static_cast<dialect::Dialect>(i)));
  }
  const auto chosen = reader.choice("dialect", names);
  return chosen && *chosen > 0 ? std::optional(static_cast<dialect::Dialect>(*chosen - 1)) : std::nullopt;
}

void read_continuation(Upstream& upstream, ObjectReader& reader, Problems& problems) {
  constexpr const char* kForm = "must be a list of reattach, prefix, continue-turn, each at most once";
  const auto forms = reader.texts("continuation", kForm);
  if (!forms) return;
  for (const std::string& text : *forms) {
    const auto form = seam::form_from_name(text);
    const auto& known = upstream.continuation;
    if (!form || std::find(known.begin(), known.end(), *form) != known.end()) {
      return problems.add(reader.path_of("continuation"), shown(*forms), kForm);
    }
    upstream.continuation.push_back(*form);
  }
}

void read_prefix(Upstream& upstream, ObjectReader& reader) {
  std::vector<std::string> names{"auto"};
  for (const PrefixStyle style : kPrefixStyles) names.emplace_back(name(style));
  const auto chosen = reader.choice("prefix_style", names);
  if (chosen && *chosen > 0) upstream.prefix_style = kPrefixStyles[*chosen - 1];
  if (reader.raw("prefix_echo") == nullptr) return;
  bool echo = false;
  reader.boolean("prefix_echo", echo);
  upstream.prefix_echo = echo;
}

Upstream read_upstream(const json& value, const std::string& path, const Environment& environment, Problems& problems) {
  Upstream upstream;
  ObjectReader reader(value, path, problems);
  if (auto text = reader.text("name", "must be a string")) upstream.name = *text;
  if (const auto text = reader.text("base_url", kUrlForm)) {
    if (auto url = parse_base_url(*text)) {
      upstream.base = *url;
    } else {
      problems.add(reader.path_of("base_url"), shown(without_userinfo(*text)), kUrlForm);
    }
  } else if (value.is_object()) {
    problems.add(reader.path_of("base_url"), "missing", kUrlForm);
  }
  if (auto keys = reader.secrets("api_keys", environment)) upstream.api_keys = std::move(*keys);
  upstream.dialect = read_dialect(reader);
  reader.integer("overlap_min", upstream.overlap_min, 1, 1000000);
  read_continuation(upstream, reader, problems);
  read_prefix(upstream, reader);
  reader.finish();
  return upstream;
}

void read_upstreams(Config& config, ObjectReader& reader, const Environment& environment, Problems& problems) {
  const json* list = reader.raw("upstreams");
  if (list == nullptr) return;
  if (!list->is_array()) return problems.add("upstreams", shown(*list), "must be a list of objects");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = "upstreams[" + std::to_string(i) + "]";
    Upstream upstream = read_upstream((*list)[i], path, environment, problems);
    if (upstream.name.empty()) upstream.name = upstream.base.authority();
    for (const Upstream& other : config.upstreams) {
      if (other.name == upstream.name)
        problems.add(path + ".name", shown(upstream.name), "must differ from the others");
    }
    config.upstreams.push_back(std::move(upstream));
  }
}

void read_retry(Config& config, ObjectReader& parent, Problems& problems) {
  const json* value = parent.raw("retry");
  if (value == nullptr) return;
  ObjectReader reader(*value, "retry", problems);
  reader.integer("attempts", config.retry.attempts, 1, 100);
  reader.number("base_ms", config.retry.backoff.base_ms, 0, kDayMs);
  reader.number("factor", config.retry.backoff.factor, 1, 100);
  reader.number("jitter_ms", config.retry.backoff.jitter_ms, 0, kDayMs);
  reader.number("max_ms", config.retry.backoff.max_ms, 0, kDayMs);
  reader.finish();
}

void read_breaker(Config& config, ObjectReader& parent, Problems& problems) {
  const json* value = parent.raw("breaker");
  if (value == nullptr) return;
  ObjectReader reader(*value, "breaker", problems);
  reader.integer("strikes", config.breaker.strikes, 1, 1000);
  std::int64_t open_seconds = config.breaker.open_ms / 1000;
  reader.integer("open_seconds", open_seconds, 0, kDayMs / 1000);
  config.breaker.open_ms = open_seconds * 1000;
  reader.finish();
}

void read_log_limits(Config& config, ObjectReader& parent, Problems& problems) {
  const json* value = parent.raw("log_limits");
  if (value == nullptr) return;
  ObjectReader reader(*value, "log_limits", problems);
  reader.integer("ttl_seconds", config.log_limits.ttl_seconds, 0, kYearSeconds);
  reader.integer("max_stream_bytes", config.log_limits.max_stream_bytes, 1024, kMaxBytes);
  reader.integer("max_total_bytes", config.log_limits.max_total_bytes, 1024, kMaxTotalBytes);
  reader.finish();
}

void read_log_file(Config& config, ObjectReader& parent, Problems& problems) {
  const json* value = parent.raw("log_file");
  if (value == nullptr) return;
  ObjectReader reader(*value, "log_file", problems);
  if (const auto chosen = reader.choice("sync", {"never", "interval", "always"})) {
    config.log_file.sync = static_cast<LogSync>(*chosen);
  }
  reader.integer("sync_ms", config.log_file.sync_ms, 1, kDayMs);
  reader.finish();
}

void read_log_redis(Config& config, ObjectReader& parent, Problems& problems) {
  const json* value = parent.raw("log_redis");
  if (value == nullptr) return;
  ObjectReader reader(*value, "log_redis", problems);
  reader.integer("lease_ms", config.log_redis.lease_ms, 500, 60000);
  reader.finish();
}

void read_disconnect(Config& config, ObjectReader& parent, Problems& problems) {
  const json* value = parent.raw("disconnect");
  if (value == nullptr) return;
  ObjectReader reader(*value, "disconnect", problems);
  if (const auto chosen = reader.choice("policy", {"linger", "continue", "cancel"})) {
    config.disconnect.policy = static_cast<DisconnectPolicy>(*chosen);
  }
  reader.integer("linger_seconds", config.disconnect.linger_seconds, 0, kYearSeconds);
  reader.finish();
}

bool is_origin(const std::string& text) {
  if (text == "*") return true;
  const auto url = parse_base_url(text);
  return url && url->path.empty() && text.back() != '/';
}

void read_cors(Config& config, ObjectReader& parent, Problems& problems) {
  constexpr const char* kForm = "must be a list of origins such as https://chat.example, or [\"*\"]";
  const json* value = parent.raw("cors");
  if (value == nullptr) return;
  ObjectReader reader(*value, "cors", problems);
  if (auto origins = reader.texts("allow_origins", kForm)) {
    for (const std::string& origin : *origins) {
      if (!is_origin(origin)) problems.add("cors.allow_origins", shown(origin), kForm);
    }
    config.cors_allow_origins = std::move(*origins);
  }
  reader.finish();
}

void read_limits(Config& config, ObjectReader& parent, Problems& problems) {
  const json* value = parent.raw("limits");
  if (value == nullptr) return;
  ObjectReader reader(*value, "limits", problems);
  reader.integer("request_head_bytes", config.limits.request_head_bytes, 1024, 16777216);
  reader.integer("body_bytes", config.limits.body_bytes, 0, kMaxBytes);
  reader.integer("head_timeout_ms", config.limits.head_timeout_ms, 1, kDayMs);
  reader.integer("event_bytes", config.limits.event_bytes, 1024, kMaxBytes);
  reader.integer("reader_stall_ms", config.limits.reader_stall_ms, 0, kDayMs);
  reader.integer("connections", config.limits.connections, 1, 1000000);
  reader.finish();
}

void read_header_name(Config& config, ObjectReader& reader, Problems& problems) {
  constexpr const char* kForm = "must be the name of a header";
  const auto text = reader.text("principal_header", kForm);
  if (!text) return;
  const bool token = !text->empty() && text->find_first_not_of(
                                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789!#$%&'*+-.^_`|~") == std::string::npos;
  if (!token) problems.add("principal_header", shown(*text), kForm);
  config.principal_header = *text;
}

void read_challenge_patterns(Config& config, ObjectReader& reader, Problems& problems) {
  constexpr const char* kForm = "must be a list of texts, none of them empty";
  auto patterns = reader.texts("challenge_patterns", kForm);
  if (!patterns) return;
  for (const std::string& pattern : *patterns) {
    if (pattern.empty()) problems.add("challenge_patterns", shown(*patterns), kForm);
  }
  config.challenge_patterns = std::move(*patterns);
}

void read_all(Config& config, const json& root, const Flags& flags, const Environment& environment,
              Problems& problems) {
  ObjectReader reader(root, "", problems);
  if (const auto text = reader.text("listen", kListenForm); text && !flags.listen) {
    read_listen(config, "listen", *text, problems);
  }
  read_upstreams(config, reader, environment, problems);
  reader.integer("stream_empty_retry_max", config.stream_empty_retry_max, 0, 100);
  reader.integer("stream_first_byte_timeout_ms", config.stream_first_byte_timeout_ms, 0, kDayMs);
  reader.integer("commit_hold_ms", config.commit_hold_ms, 0, kDayMs);
  reader.integer("hold_max_ms", config.hold_max_ms, 0, kDayMs);
  reader.integer("stream_idle_timeout_ms", config.stream_idle_timeout_ms, 1, kDayMs);
  read_retry(config, reader, problems);
  read_breaker(config, reader, problems);
  reader.integer("keepalive_ms", config.keepalive_ms, 1, kDayMs);
  if (const auto chosen = reader.choice("truncated_finish", {"stop", "length", "error"})) {
    config.truncated_finish = static_cast<dialect::FinishStyle>(*chosen);
  }
  if (const auto text = reader.text("log", kLogForm); text && !flags.log) {
    read_log(config, "log", *text, environment, problems);
  }
  read_log_limits(config, reader, problems);
  read_log_file(config, reader, problems);
  read_log_redis(config, reader, problems);
  read_disconnect(config, reader, problems);
  reader.integer("drain_seconds", config.drain_seconds, 0, kYearSeconds);
  read_header_name(config, reader, problems);
  read_cors(config, reader, problems);
  reader.boolean("allow_open_relay", config.allow_open_relay);
  if (auto tokens = reader.secrets("client_tokens", environment)) config.client_tokens = std::move(*tokens);
  read_challenge_patterns(config, reader, problems);
  read_limits(config, reader, problems);
  reader.finish();
}

void apply(Config& config, const Flags& flags, const Environment& environment, Problems& problems) {
  if (flags.listen) read_listen(config, "--listen", *flags.listen, problems);
  if (flags.log) read_log(config, "--log", *flags.log, environment, problems);
  if (!flags.upstream) return;
  const auto url = parse_base_url(*flags.upstream);
  if (!url) return problems.add("--upstream", shown(without_userinfo(*flags.upstream)), kUrlForm);
  Upstream upstream;
  upstream.name = url->authority();
  upstream.base = *url;
  config.upstreams.clear();
  config.upstreams.push_back(std::move(upstream));
}

void check_whole(const Config& config, Problems& problems) {
  if (config.upstreams.empty()) problems.add("upstreams", "none", "at least one is needed, here or as --upstream URL");
  if (config.lends_keys() && !config.allow_open_relay && !config.listen.is_loopback()) {
    problems.add("listen", config.listen.text(),
                 "beyond loopback anybody could spend the api_keys: set client_tokens, or allow_open_relay to true");
  }
  if (config.log_limits.max_stream_bytes > config.log_limits.max_total_bytes) {
    problems.add("log_limits.max_stream_bytes", std::to_string(config.log_limits.max_stream_bytes),
                 "must not be above max_total_bytes (" + std::to_string(config.log_limits.max_total_bytes) + ")");
  }
}

/// Told of everything that a parser meets: a key that stands twice in one object would hide the first of them.
class RepeatedKeys {
 public:
  explicit RepeatedKeys(Problems& problems) : problems_(problems) {}
  bool operator()(int /*depth*/, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second) {
      problems_.add(parsed.get<std::string>(), "twice", "must stand once");
    }
    return true;
  }

 private:
  Problems& problems_;
  std::vector<std::set<std::string>> open_;
};

Problem syntax_problem(std::string_view text, const json::parse_error& error) {
  std::size_t line = 1;
  std::size_t column = 0;
  for (std::size_t i = 0; i < text.size() && i + 1 < error.byte; ++i) {
    ++column;
    if (text[i] == '\n') {
      ++line;
      column = 0;
    }
  }
  return {"configuration", "line " + std::to_string(line) + ", column " + std::to_string(column + 1),
          "must be JSON (comments are allowed)"};
}

}  // namespace

bool Config::lends_keys() const {
  return client_tokens.empty() && std::any_of(upstreams.begin(), upstreams.end(),
                                              [](const Upstream& upstream) { return !upstream.api_keys.empty(); });
}

std::string Problem::line() const { return field + ": " + value + ": " + allowed; }

std::string_view name(DisconnectPolicy policy) {
  switch (policy) {
    case DisconnectPolicy::Linger:
      return "linger";
    case DisconnectPolicy::Continue:
      return "continue";
    case DisconnectPolicy::Cancel:
      return "cancel";
  }
  return "";
}

std::string_view name(PrefixStyle style) {
  switch (style) {
    case PrefixStyle::Trailing:
      return "trailing";
    case PrefixStyle::PrefixFlag:
      return "prefix-flag";
    case PrefixStyle::PartialFlag:
      return "partial-flag";
    case PrefixStyle::ContinueFinalMessage:
      return "continue-final-message";
  }
  return "";
}

Environment process_environment() {
  return [](const std::string& variable) -> std::optional<std::string> {
    const char* value = std::getenv(variable.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<Config, Problem> load(std::string_view text, const Flags& flags, const Environment& environment) {
  json root;
  Problems problems;
  RepeatedKeys repeated(problems);
  try {
    root = json::parse(text.begin(), text.end(), std::ref(repeated), true, true);
  } catch (const json::parse_error& error) {
    return syntax_problem(text, error);
  }
  Config config;
  read_all(config, root, flags, environment, problems);
  apply(config, flags, environment, problems);
  check_whole(config, problems);
  if (problems.first()) return *problems.first();
  return config;
}

Result<Config, Problem> load_file(const std::string& path, const Flags& flags, const Environment& environment) {
  const Problem unreadable{"--config", path, "must be a file that can be read"};
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return unreadable;
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad()) return unreadable;
  return load(text, flags, environment);
}

}  // namespace tidemark::config
