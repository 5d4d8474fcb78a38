// The configuration of `tidemark serve`: every key of contract § 2.1, its default, and how a file is read and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/dialect/dialect.hpp"
#include "core/dialect/ending.hpp"
#include "core/retry/backoff.hpp"
#include "core/retry/breaker.hpp"
#include "core/seam/form.hpp"
#include "native/config/address.hpp"
#include "native/config/redis_url.hpp"

namespace tidemark::config {

/// What is wrong with a configuration or a flag. `value` of a secret is never the secret.
struct Problem {
  std::string field;    // "upstreams[0].base_url"
  std::string value;    // as it was written, shortened
  std::string allowed;  // what would have been right, or why this is not

  /// One line: `FIELD: VALUE: ALLOWED`.
  std::string line() const;
};

/// How an upstream of chat completions is told to go on with the last assistant message.
enum class PrefixStyle : std::uint8_t {
  Trailing,              // that it stands last is enough; so it is in the other dialects
  PrefixFlag,            // its `prefix` is true
  PartialFlag,           // its `partial` is true
  ContinueFinalMessage,  // the request's `continue_final_message` is true, `add_generation_prompt` is false
};
/// "trailing", "prefix-flag", "partial-flag", "continue-final-message".
std::string_view name(PrefixStyle style);

struct Upstream {
  std::string name;
  BaseUrl base;
  std::vector<std::string> api_keys;        // none: the client's own credential is passed through
  std::optional<dialect::Dialect> dialect;  // nullopt: `auto`
  std::vector<seam::Form> continuation;     // in order of preference, each once; none: a cut answer is not continued
  std::uint32_t overlap_min = 12;
  std::optional<PrefixStyle> prefix_style;  // nullopt: `auto`, as is known of the provider
  std::optional<bool> prefix_echo;          // it sends the prefix again before it goes on; nullopt: likewise
};

struct Retry {
  unsigned attempts = 3;
  retry::BackoffOptions backoff{250, 1.8, 400, 8000};
};

struct LogLimits {
  std::int64_t ttl_seconds = 600;
  std::uint64_t max_stream_bytes = 16777216;
  std::uint64_t max_total_bytes = 268435456;
};

/// When a log in files asks for what was written to be on the disk.
enum class LogSync : std::uint8_t {
  Never,     // the kernel decides
  Interval,  // every `sync_ms`, where there is something new
  Always,    // before a reader sees it
};

struct LogFile {
  LogSync sync = LogSync::Never;
  std::int64_t sync_ms = 100;
};

struct LogRedis {
  TimeMs lease_ms = 3000;  // a replica that has not been heard of for so long is gone
};

enum class DisconnectPolicy : std::uint8_t { Linger, Continue, Cancel };
std::string_view name(DisconnectPolicy policy);

struct Disconnect {
  DisconnectPolicy policy = DisconnectPolicy::Linger;
  std::int64_t linger_seconds = 120;
};

/// Contract § 2.3.
struct Limits {
  std::size_t request_head_bytes = 65536;
  std::size_t body_bytes = 33554432;
  TimeMs head_timeout_ms = 10000;
  std::size_t event_bytes = 4194304;
  TimeMs reader_stall_ms = 120000;  // 0: never
  std::size_t connections = 10000;
};

struct Config {
  HostPort listen{"127.0.0.1", 8787};
  std::vector<Upstream> upstreams;
  unsigned stream_empty_retry_max = 1;
  TimeMs stream_first_byte_timeout_ms = 30000;
  TimeMs commit_hold_ms = 2000;
  TimeMs hold_max_ms = 25000;
  TimeMs stream_idle_timeout_ms = 60000;
  Retry retry;
  retry::BreakerOptions breaker;
  TimeMs keepalive_ms = 15000;
  dialect::FinishStyle truncated_finish = dialect::FinishStyle::Stop;
  LogLimits log_limits;
  std::string log_directory;              // of `file:`
  std::optional<RedisUrl> log_redis_url;  // of `redis:`; neither of the two: `memory:`
  LogFile log_file;
  LogRedis log_redis;
  Disconnect disconnect;
  std::int64_t drain_seconds = 30;
  std::string principal_header;                 // empty: the credential headers
  std::vector<std::string> cors_allow_origins;  // "*" alone allows every origin
  bool allow_open_relay = false;
  std::vector<std::string> client_tokens;
  std::vector<std::string> challenge_patterns;
  Limits limits;

  /// Whether who may reach the proxy may spend `api_keys` without a token of their own.
  bool lends_keys() const;
};

/// Flags of the command line that beat the file.
struct Flags {
  std::optional<std::string> listen;
  std::optional<std::string> upstream;
  std::optional<std::string> log;
};

/// How `env:NAME` is read; nullopt where the variable is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Reads the text of a configuration file (JSON, comments allowed), then the flags, then checks the whole. The first
/// problem found is the one returned.
Result<Config, Problem> load(std::string_view text, const Flags& flags, const Environment& environment);

/// The same from a file; a file that cannot be read is a problem of the field `--config`.
Result<Config, Problem> load_file(const std::string& path, const Flags& flags, const Environment& environment);

}  // namespace tidemark::config
