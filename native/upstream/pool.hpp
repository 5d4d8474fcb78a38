// Connections to upstreams, and those of them that wait for another request.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "native/http/codec.hpp"
#include "native/loop/loop.hpp"
#include "native/tls/transport.hpp"
#include "native/upstream/client.hpp"

namespace tidemark::upstream {

struct Connection {
  std::unique_ptr<tls::Transport> transport;
  std::unique_ptr<http::ResponseDecoder> decoder;
  bool reused = false;
};

/// Kept connections are watched: one that the upstream closes, or that says anything unasked, is dropped.
class Pool {
 public:
  Pool(loop::Loop& loop, const ClientLimits& limits) : loop_(loop), limits_(limits) {}

  /// The connection to `origin` that was used last, or nullptr.
  std::unique_ptr<Connection> take(const Origin& origin);
  /// Closes it where there are enough already.
  void keep(const Origin& origin, std::unique_ptr<Connection> connection);
  std::size_t size() const { return idle_.size(); }
  void clear();

 private:
  struct Idle {
    Idle(loop::Loop& loop, std::string of, std::unique_ptr<Connection> kept)
        : origin(std::move(of)), connection(std::move(kept)), timer(loop) {}
    std::string origin;
    std::unique_ptr<Connection> connection;
    loop::Timer timer;
  };
  using Place = std::list<Idle>::iterator;
  void drop(Place place);

  loop::Loop& loop_;
  const ClientLimits& limits_;
  std::list<Idle> idle_;
  std::unordered_map<std::string, std::list<Place>> by_origin_;  // the one used last comes first
};

}  // namespace tidemark::upstream
