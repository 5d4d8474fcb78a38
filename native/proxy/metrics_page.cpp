// What /tidemark/metrics says.
#include "native/observe/prometheus.hpp"
#include "native/proxy/administration.hpp"

namespace tidemark::proxy {

std::string metrics_page(const Context& context) {
  using Type = observe::PrometheusText::Type;
  observe::PrometheusText text;
  const Counters& counters = context.counters;
  text.family("tidemark_requests_total", Type::Counter, "Requests by what became of them.");
  for (std::size_t i = 0; i < kRequestKinds; ++i) {
    text.sample(counters.requests[i], {{"kind", name(static_cast<RequestKind>(i))}});
  }
  text.family("tidemark_streams_ended_total", Type::Counter, "Streams by how they ended.");
  for (const auto& [end, count] : counters.ends) text.sample(count, {{"state", end.first}, {"reason", end.second}});
  text.family("tidemark_seams_total", Type::Counter, "Attempts to continue a cut answer, by what became of them.");
  for (const auto& [seam, count] : counters.seams) text.sample(count, {{"form", seam.first}, {"verdict", seam.second}});
  text.family("tidemark_events_total", Type::Counter, "Events appended to the log.");
  text.sample(counters.events);
  text.family("tidemark_streams_taken_over_total", Type::Counter,
              "Streams that another replica had left, gone on with here.");
  text.sample(counters.taken_over);
  text.family("tidemark_streams_lost_total", Type::Counter, "Streams fed here that another replica has taken over.");
  text.sample(counters.lost);
  text.family("tidemark_upstream_attempts_total", Type::Counter, "Requests sent to an upstream.");
  for (std::size_t i = 0; i < context.upstreams.size(); ++i) {
    text.sample(context.upstreams.attempts(i), {{"upstream", context.upstreams[i].name}});
  }
  text.family("tidemark_breaker_state", Type::Gauge, "1 for the state that the upstream's breaker is in.");
  for (std::size_t i = 0; i < context.upstreams.size(); ++i) {
    const retry::BreakerState now = context.upstreams.breaker(i).state(context.loop.now_ms());
    for (const auto state : {retry::BreakerState::Closed, retry::BreakerState::Open, retry::BreakerState::HalfOpen}) {
      text.sample(state == now ? 1 : 0, {{"upstream", context.upstreams[i].name}, {"state", retry::name(state)}});
    }
  }
  text.family("tidemark_runs", Type::Gauge, "Requests whose upstream leg is under way.");
  text.sample(counters.running);
  text.family("tidemark_readers", Type::Gauge, "Readers attached to streams.");
  text.sample(counters.readers);
  const downstream::Backlog backlog = context.server->backlog();
  text.family("tidemark_blocked_clients", Type::Gauge, "Clients whose sockets take no more.");
  text.sample(backlog.clients);
  text.family("tidemark_blocked_bytes", Type::Gauge, "Bytes of the buffers that wait for these clients.");
  text.sample(backlog.bytes);
  const log::Usage usage = context.log.usage();
  text.family("tidemark_log_streams", Type::Gauge, "Streams in the log.");
  text.sample(usage.streams);
  text.family("tidemark_log_bytes", Type::Gauge, "Bytes that the log holds.");
  text.sample(usage.bytes);
  text.family("tidemark_log_reachable", Type::Gauge,
              "1 while events are kept where the configuration says, not in memory alone.");
  text.sample(context.log.reachable() ? 1 : 0);
  text.family("tidemark_log_stored_bytes", Type::Gauge, "Bytes that the log has on the disk.");
  text.sample(usage.stored);
  text.family("tidemark_log_dropped_total", Type::Counter, "Ended streams dropped before their time, to make room.");
  text.sample(usage.dropped);
  return text.take();
}

}  // namespace tidemark::proxy
