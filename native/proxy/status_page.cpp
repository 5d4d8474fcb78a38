// What /tidemark/status and a stream's own page say.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "native/proxy/administration.hpp"

namespace tidemark::proxy {
namespace {

using nlohmann::ordered_json;

/// Seconds since 1970, with milliseconds.
ordered_json seconds(std::int64_t unix_ms) { return static_cast<double>(unix_ms) / 1000.0; }

std::string log_url(const config::Config& config) {
  if (config.log_redis_url) return config.log_redis_url->text();
  return config.log_directory.empty() ? "memory:" : "file:" + config.log_directory;
}

}  // namespace

std::string describe(const Stream& stream, const log::StreamLog& log) {
  ordered_json page;
  page["id"] = stream.id;
  page["epoch"] = stream.epoch();
  page["state"] = stream.state();
  page["next_seq"] = stream.log ? log.next_seq(*stream.log) : 0;
  page["dialect"] = dialect::name(stream.dialect);
  page["attempts"] = stream.attempts;
  page["seams"] = std::count_if(stream.seams.begin(), stream.seams.end(),
                                [](const Seam& seam) { return seam.verdict == session::kJoined; });
  page["readers"] = stream.readers;
  page["created_at"] = seconds(stream.created_unix_ms);
  page["ended_at"] = stream.end ? seconds(stream.end->at_unix_ms) : ordered_json(nullptr);
  page["end_reason"] = stream.end ? ordered_json(session::name(stream.end->reason)) : ordered_json(nullptr);
  page["seam_list"] = ordered_json::array();
  for (const Seam& seam : stream.seams) {
    page["seam_list"].push_back({{"attempt", seam.attempt},
                                 {"form", seam::name(seam.form)},
                                 {"at", seam.at},
                                 {"trimmed", seam.trimmed},
                                 {"verdict", seam.verdict}});
  }
  return page.dump() + "\n";
}

std::string status_page(const Context& context) {
  ordered_json page;
  page["draining"] = context.draining;
  page["upstreams"] = ordered_json::array();
  for (std::size_t i = 0; i < context.upstreams.size(); ++i) {
    const retry::Breaker& breaker = context.upstreams.breaker(i);
    const retry::KeyRing& keys = context.upstreams.keys(i);
    page["upstreams"].push_back({{"name", context.upstreams[i].name},
                                 {"base_url", context.upstreams[i].base.text()},
                                 {"breaker", retry::name(breaker.state(context.loop.now_ms()))},
                                 {"strikes", breaker.strikes()},
                                 {"attempts", context.upstreams.attempts(i)},
                                 {"keys", keys.size()},
                                 {"keys_usable", keys.usable(context.loop.now_ms())}});
  }
  std::map<std::string_view, std::size_t> by_state{{"waiting", 0}, {"running", 0},   {"complete", 0},
                                                   {"stopped", 0}, {"truncated", 0}, {"failed", 0}};
  context.registry.for_each([&by_state](const std::shared_ptr<Stream>& stream) { ++by_state[stream->state()]; });
  page["streams"] = ordered_json::object();
  for (const auto& [state, count] : by_state) page["streams"][std::string(state)] = count;
  page["readers"] = context.counters.readers;
  const log::Usage usage = context.log.usage();
  page["log"] = {{"url", log_url(context.config)},
                 {"reachable", context.log.reachable()},
                 {"streams", usage.streams},
                 {"bytes", usage.bytes},
                 {"max_bytes", context.config.log_limits.max_total_bytes},
                 {"dropped", usage.dropped}};
  return page.dump() + "\n";
}

}  // namespace tidemark::proxy
