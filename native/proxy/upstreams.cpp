// Upstreams, their breakers and their keys.
#include "native/proxy/upstreams.hpp"

#include <algorithm>
#include <string>

#include "core/dialect/ending.hpp"
#include "native/proxy/random_name.hpp"

namespace tidemark::proxy {

Upstreams::Upstreams(const config::Config& config, observe::Logger& logger) : logger_(logger) {
  for (const config::Upstream& one : config.upstreams) {
    list_.push_back({one, retry::Breaker(config.breaker), retry::KeyRing(one.api_keys.size()), 0, {}, {}});
  }
}

std::optional<dialect::Dialect> Upstreams::dialect(std::size_t index, std::optional<dialect::Dialect> by_path) const {
  const auto& configured = list_[index].config.dialect;
  return configured ? configured : by_path;
}

upstream::Origin Upstreams::origin(std::size_t index) const {
  const config::BaseUrl& base = list_[index].config.base;
  return {base.tls ? "https" : "http", base.address.host, base.address.port};
}

Route Upstreams::choose(std::size_t first, const std::vector<Destination>& sent, TimeMs now) {
  Route route;
  route.retry_in_ms = kNever;
  std::optional<std::size_t> refused;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::size_t index = (first + i) % size();
    One& one = list_[index];
    if (all_keys_refused(index, now)) {
      if (!refused) refused = index;
      continue;
    }
    const retry::Admission admission = one.breaker.admit(now);
    if (!admission.allowed) {
      route.retry_in_ms = std::min(route.retry_in_ms, admission.retry_in_ms);
      continue;
    }
    ++one.attempts;
    const auto last = std::find_if(sent.rbegin(), sent.rend(),
                                   [index](const Destination& earlier) { return earlier.upstream == index; });
    const auto previous = last == sent.rend() ? std::nullopt : last->key;
    return {Route::Kind::Open, {index, one.keys.take(now, previous)}, admission.ticket, admission.probe, 0};
  }
  if (route.retry_in_ms == kNever && refused) {
    route.kind = Route::Kind::KeysRefused;
    route.to.upstream = *refused;
  }
  return route;
}

void Upstreams::outcome(std::size_t index, std::uint64_t ticket, retry::Outcome outcome, TimeMs now) {
  One& one = list_[index];
  switch (one.breaker.outcome(ticket, outcome, now)) {
    case retry::Transition::None:
      return;
    case retry::Transition::Opened:
      logger_.write(observe::Level::Warning, observe::Line("breaker opened").text("upstream", one.config.name));
      return;
    case retry::Transition::Closed:
      logger_.write(observe::Level::Info, observe::Line("breaker closed").text("upstream", one.config.name));
      return;
  }
}

bool Upstreams::has_untried(std::size_t index, std::span<const Destination> sent, TimeMs now) const {
  const auto tried = [&](std::optional<std::size_t> key) {
    return std::any_of(sent.begin(), sent.end(),
                       [&](const Destination& earlier) { return earlier.upstream == index && earlier.key == key; });
  };
  const retry::KeyRing& keys = list_[index].keys;
  if (keys.size() == 0) return !tried(std::nullopt);
  for (std::size_t key = 0; key < keys.size(); ++key) {
    if (keys.is_usable(key, now) && !tried(key)) return true;
  }
  return false;
}

void Upstreams::judge_key(const Destination& at, std::optional<TimeMs> retry_after, const http::ResponseHead& head,
                          std::string_view body, dialect::Dialect dialect, TimeMs now) {
  One& one = list_[at.upstream];
  one.keys.judge(*at.key, head.status, retry_after, now);
  const bool kept = body.size() <= kMaxRefusalBytes && !head.headers.has("content-encoding");
  one.last_refusal = {head, kept ? std::string(body) : std::string()};
  one.refused_in = kept ? std::optional(dialect) : std::nullopt;
  for (const char* of_body : {"content-length", "transfer-encoding", "content-encoding"}) {
    one.last_refusal.head.headers.remove(of_body);
  }
  if (one.keys.is_usable(*at.key, now)) return;
  logger_.write(observe::Level::Warning, observe::Line("key put aside")
                                             .text("upstream", one.config.name)
                                             .number("key", static_cast<std::int64_t>(*at.key) + 1)
                                             .number("status", head.status)
                                             .number("usable", static_cast<std::int64_t>(one.keys.usable(now))));
}

bool Upstreams::all_keys_refused(std::size_t index, TimeMs now) const {
  const retry::KeyRing& keys = list_[index].keys;
  return keys.size() > 0 && keys.usable(now) == 0;
}

bool Upstreams::every_key_refused(TimeMs now) const {
  for (std::size_t index = 0; index < size(); ++index) {
    if (!all_keys_refused(index, now)) return false;
  }
  return true;
}

KeyRefusal Upstreams::last_refusal(std::size_t index, dialect::Dialect dialect, TimeMs now) const {
  KeyRefusal refusal = list_[index].last_refusal;
  const TimeMs wait = list_[index].keys.usable_in(now);
  refusal.head.headers.remove("retry-after");
  refusal.head.headers.remove("retry-after-ms");
  if (list_[index].refused_in != dialect) {
    const bool anthropic = dialect == dialect::Dialect::AnthropicMessages;
    const std::string request_id = anthropic ? "req_" + draw_stream_id() : std::string();
    const std::string message =
        "the upstream refused every key, the last one with status " + std::to_string(refusal.head.status);
    dialect::ErrorFacts facts;
    facts.status = refusal.head.status;
    facts.type = anthropic ? "api_error" : "upstream_error";
    facts.code = "keys_refused";
    facts.message = message;
    facts.request_id = request_id;
    refusal.head.headers.remove("content-type");
    refusal.head.headers.add("Content-Type", "application/json");
    refusal.body = dialect::error_body(dialect, facts);
  }
  if (wait != kNever) {
    refusal.head.headers.add("Retry-After", std::to_string((wait + 999) / 1000));
    refusal.head.headers.add("retry-after-ms", std::to_string(wait));
  }
  return refusal;
}

}  // namespace tidemark::proxy
