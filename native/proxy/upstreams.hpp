// The upstreams in the order of their configuration, each with its breaker and its keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/retry/breaker.hpp"
#include "core/retry/key_ring.hpp"
#include "native/config/config.hpp"
#include "native/http/message.hpp"
#include "native/observe/logger.hpp"
#include "native/upstream/client.hpp"

namespace tidemark::proxy {

/// Where an attempt went.
struct Destination {
  std::size_t upstream = 0;
  std::optional<std::size_t> key;  // number of the key; nullopt: with the client's own credential
};

/// What an upstream has answered to a refused key, or what is made of it for clients of another dialect.
struct KeyRefusal {
  http::ResponseHead head;
  std::string body;
};
/// A longer body is not kept, nor is one that is compressed.
inline constexpr std::size_t kMaxRefusalBytes = 64u << 10;

/// Where an attempt may go, or why nowhere.
struct Route {
  enum class Kind : std::uint8_t {
    Open,         // to `to`
    Paused,       // every upstream that has a key is paused; the first opens in `retry_in_ms`
    KeysRefused,  // every key is put aside; `to.upstream` is where last_refusal() is told again
  };
  Kind kind = Kind::Paused;
  Destination to;
  std::uint64_t ticket = 0;  // Open: what outcome() is owed, exactly once
  bool probe = false;        // Open: it is the half-open breaker's probe
  TimeMs retry_in_ms = 0;
};

class Upstreams {
 public:
  Upstreams(const config::Config& config, observe::Logger& logger);

  std::size_t size() const { return list_.size(); }
  const config::Upstream& operator[](std::size_t index) const { return list_[index].config; }
  upstream::Origin origin(std::size_t index) const;
  /// What it speaks: as configured, else as the request's path tells.
  std::optional<dialect::Dialect> dialect(std::size_t index, std::optional<dialect::Dialect> by_path) const;
  const retry::Breaker& breaker(std::size_t index) const { return list_[index].breaker; }
  const retry::KeyRing& keys(std::size_t index) const { return list_[index].keys; }
  std::uint64_t attempts(std::size_t index) const { return list_[index].attempts; }

  /// The first upstream, from `first` on and round, that has a usable key and whose breaker lets the request out.
  /// `sent`: where this stream's earlier attempts went, so that keys are taken in turn.
  Route choose(std::size_t first, const std::vector<Destination>& sent, TimeMs now);
  /// Opening is logged as a warning, closing as information.
  void outcome(std::size_t index, std::uint64_t ticket, retry::Outcome outcome, TimeMs now);

  /// Whether the upstream has a usable credential that is not among `sent`.
  bool has_untried(std::size_t index, std::span<const Destination> sent, TimeMs now) const;
  /// The upstream's word on a key, logged as a warning where it puts the key aside.
  void judge_key(const Destination& at, std::optional<TimeMs> retry_after, const http::ResponseHead& head,
                 std::string_view body, dialect::Dialect dialect, TimeMs now);
  /// Whether the upstream has keys, and every one is put aside.
  bool all_keys_refused(std::size_t index, TimeMs now) const;
  /// The same of all upstreams.
  bool every_key_refused(TimeMs now) const;
  /// As it came where it was told in `dialect` and kept, else in that dialect's own error shape; its Retry-After is
  /// what is left of it. Precondition: all_keys_refused().
  KeyRefusal last_refusal(std::size_t index, dialect::Dialect dialect, TimeMs now) const;

 private:
  struct One {
    config::Upstream config;
    retry::Breaker breaker;
    retry::KeyRing keys;
    std::uint64_t attempts = 0;
    KeyRefusal last_refusal;
    std::optional<dialect::Dialect> refused_in;  // nullopt: its body is not kept
  };
  std::vector<One> list_;
  observe::Logger& logger_;
};

}  // namespace tidemark::proxy
