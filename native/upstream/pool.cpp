// Kept connections.
#include "native/upstream/pool.hpp"

#include <utility>

namespace tidemark::upstream {
namespace {

std::string key_of(const Origin& origin) {
  return origin.scheme + "://" + origin.host + ":" + std::to_string(origin.port);
}

}  // namespace

std::unique_ptr<Connection> Pool::take(const Origin& origin) {
  const auto found = by_origin_.find(key_of(origin));
  if (found == by_origin_.end()) return nullptr;
  const Place place = found->second.front();
  auto connection = std::move(place->connection);
  connection->reused = true;
  found->second.pop_front();
  if (found->second.empty()) by_origin_.erase(found);
  idle_.erase(place);
  return connection;
}

void Pool::keep(const Origin& origin, std::unique_ptr<Connection> connection) {
  const std::string key = key_of(origin);
  const auto found = by_origin_.find(key);
  if (limits_.idle_per_origin == 0 || (found != by_origin_.end() && found->second.size() >= limits_.idle_per_origin)) {
    connection->transport->close();
    return;
  }
  idle_.emplace_front(loop_, key, std::move(connection));
  const Place place = idle_.begin();
  by_origin_[key].push_front(place);
  place->timer.set(loop_.now_ms() + limits_.idle_timeout_ms, [this, place] { drop(place); });
  place->connection->transport->wait_readable([this, place] { drop(place); });
}

void Pool::drop(Place place) {
  const auto found = by_origin_.find(place->origin);
  found->second.remove(place);
  if (found->second.empty()) by_origin_.erase(found);
  place->connection->transport->close();
  idle_.erase(place);
}

void Pool::clear() {
  while (!idle_.empty()) drop(idle_.begin());
}

}  // namespace tidemark::upstream
