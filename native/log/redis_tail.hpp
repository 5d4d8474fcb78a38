// The live ends of many streams in Redis, read by one command that waits for any of them (XREAD BLOCK).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "native/loop/loop.hpp"
#include "native/redis/link.hpp"

namespace tidemark::log {

/// Has a connection of its own, since one that waits takes no other command. A key that is added meanwhile ends the
/// wait (CLIENT UNBLOCK, over the other connection).
class RedisTail {
 public:
  /// One entry that came after the last that is known of its key. May watch, unwatch and restart; not destroy.
  using Entry = std::function<void(const std::string& key, const redis::Reply& entry)>;

  RedisTail(loop::Loop& loop, tls::ClientContext* tls, const redis::Endpoint& endpoint, std::string client_name,
            std::size_t max_reply_bytes, redis::Link& commands, Entry entry);

  /// Entries of `key` above the id `after`, from now on.
  void watch(const std::string& key, const std::string& after);
  void unwatch(const std::string& key);
  /// The server has been away: what is under way may never end.
  void restart(const std::string& why);
  /// No more.
  void close();

 private:
  void read();
  void take(const redis::Reply* reply);
  void interrupt();

  loop::Loop& loop_;
  redis::Link& commands_;
  Entry entry_;
  std::unordered_map<std::string, std::string> after_;  // by key
  std::int64_t client_id_ = 0;
  std::uint64_t reads_ = 0;
  bool reading_ = false;   // a command is under way
  bool outdated_ = false;  // and lacks a key
  loop::Timer again_;      // the next command
  loop::Timer nudge_;      // interrupt() once more
  redis::Link link_;       // last: it calls into the others
};

}  // namespace tidemark::log
