// What the parts of the proxy share: one of each, all on one loop.
#pragma once

#include "core/session/relay.hpp"
#include "native/config/config.hpp"
#include "native/continuation/refused_forms.hpp"
#include "native/downstream/server.hpp"
#include "native/log/shared_log.hpp"
#include "native/log/stream_log.hpp"
#include "native/loop/loop.hpp"
#include "native/observe/logger.hpp"
#include "native/proxy/cors.hpp"
#include "native/proxy/counters.hpp"
#include "native/proxy/registry.hpp"
#include "native/proxy/upstreams.hpp"
#include "native/upstream/client.hpp"

namespace tidemark::proxy {

struct Context {
  loop::Loop& loop;
  const config::Config& config;
  observe::Logger& logger;
  log::StreamLog& log;
  log::SharedLog* shared;  // the same one, where replicas share it
  upstream::Client& client;
  Upstreams& upstreams;
  Registry& registry;
  Counters& counters;
  const Cors& cors;
  continuation::RefusedForms& refused_forms;
  session::Relay::Buffers relay_buffers{};     // of all relays that are idle
  const downstream::Server* server = nullptr;  // from the moment that there is one
  bool draining = false;
};

}  // namespace tidemark::proxy
