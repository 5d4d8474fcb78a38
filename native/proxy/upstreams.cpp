// Upstreams and their breakers.
#include "native/proxy/upstreams.hpp"

namespace tidemark::proxy {

Upstreams::Upstreams(const config::Config& config, observe::Logger& logger) : logger_(logger) {
  for (const config::Upstream& one : config.upstreams) list_.push_back({one, retry::Breaker(config.breaker), 0});
}

upstream::Origin Upstreams::origin(std::size_t index) const {
  const config::BaseUrl& base = list_[index].config.base;
  return {base.tls ? "https" : "http", base.address.host, base.address.port};
}

retry::Admission Upstreams::admit(std::size_t index, TimeMs now) {
  const retry::Admission admission = list_[index].breaker.admit(now);
  if (admission.allowed) ++list_[index].attempts;
  return admission;
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

}  // namespace tidemark::proxy
