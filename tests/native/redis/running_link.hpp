// A link with a loop, and what it tells, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native/loop/loop.hpp"
#include "native/redis/link.hpp"
#include "tests/native/loop/run_until.hpp"
#include "tests/native/redis/text_of.hpp"

namespace tidemark::testing {

struct RunningLink {
  /// Waits for nothing. Short times, so that tests are quick.
  explicit RunningLink(std::uint16_t port) { endpoint.host = "127.0.0.1", endpoint.port = port; }

  void begin() {
    link = std::make_unique<redis::Link>(loop, tls, endpoint, options,
                                         redis::Link::Events{[this](const redis::ServerFacts& told) {
                                                               facts = told;
                                                               events += "up;";
                                                             },
                                                             [this](const std::string& why) {
                                                               reasons.push_back(why);
                                                               events += "down;";
                                                             }});
  }
  /// Until it is up.
  void come_up() {
    if (!link) begin();
    REQUIRE(run_until(loop, [&] { return link->is_up(); }));
  }
  /// Until down() has come `times` times in all.
  void go_down(std::size_t times = 1) {
    REQUIRE(run_until(loop, [&] { return reasons.size() >= times; }));
  }
  /// Sends a command whose reply is added to `events`; "lost" where there is none.
  void send(const redis::Link::Command& command) {
    link->send(command, [this](const redis::Reply* reply) { events += (reply ? text_of(*reply) : "lost") + ";"; });
  }
  /// Sends it and waits for the reply.
  std::string ask(const redis::Link::Command& command) {
    std::string out;
    bool done = false;
    link->send(command, [&](const redis::Reply* reply) {
      out = reply ? text_of(*reply) : "lost";
      done = true;
    });
    REQUIRE(run_until(loop, [&] { return done; }));
    return out;
  }
  /// What was told since the last call.
  std::string told() { return std::exchange(events, {}); }

  loop::Loop loop;
  tls::ClientContext* tls = nullptr;
  redis::Endpoint endpoint;
  redis::LinkOptions options{.client_name = "test", .retry_first_ms = 5, .retry_most_ms = 20};
  redis::ServerFacts facts;
  std::string events;
  std::vector<std::string> reasons;  // of each down()
  std::unique_ptr<redis::Link> link;
};

}  // namespace tidemark::testing
