// Waiting for any of many streams.
#include "native/log/redis_tail.hpp"

#include <utility>

namespace tidemark::log {
namespace {

constexpr std::string_view kAtOnce = "32";  // entries of one stream in one reply
constexpr TimeMs kInterruptAgainMs = 2;
constexpr TimeMs kAfterErrorMs = 250;
// Each command names all streams: with many of them, some of what comes is waited for and read together.
constexpr std::size_t kManyStreams = 16;
constexpr TimeMs kGatherMs = 5;

redis::LinkOptions link_options(std::string client_name, std::size_t max_reply_bytes) {
  redis::LinkOptions options;
  options.client_name = std::move(client_name);
  options.reply_timeout_ms = 0;
  options.max_reply_bytes = max_reply_bytes;
  return options;
}

}  // namespace

RedisTail::RedisTail(loop::Loop& loop, tls::ClientContext* tls, const redis::Endpoint& endpoint,
                     std::string client_name, std::size_t max_reply_bytes, redis::Link& commands, Entry entry)
    : loop_(loop),
      commands_(commands),
      entry_(std::move(entry)),
      again_(loop),
      nudge_(loop),
      link_(loop, tls, endpoint, link_options(std::move(client_name), max_reply_bytes),
            {[this](const redis::ServerFacts& facts) {
               client_id_ = facts.client_id;
               read();
             },
             [](const std::string& /*the other connection tells*/) {}}) {}

void RedisTail::watch(const std::string& key, const std::string& after) {
  after_[key] = after;
  if (!reading_) return read();
  if (std::exchange(outdated_, true)) return;
  interrupt();
}

// One that is waited for in vain does no harm until the next time.
void RedisTail::unwatch(const std::string& key) { after_.erase(key); }

void RedisTail::restart(const std::string& why) { link_.drop(why); }

void RedisTail::close() { link_.close_after_sending(0); }

void RedisTail::read() {
  if (reading_ || !link_.is_up() || after_.empty()) return;
  redis::Link::Command command{"XREAD", "COUNT", kAtOnce, "BLOCK", "0", "STREAMS"};
  command.reserve(command.size() + 2 * after_.size());
  for (const auto& [key, after] : after_) command.emplace_back(key);
  for (const auto& [key, after] : after_) command.emplace_back(after);
  reading_ = true;
  outdated_ = false;
  ++reads_;
  link_.send(command, [this](const redis::Reply* reply) { take(reply); });
}

void RedisTail::take(const redis::Reply* reply) {
  reading_ = false;
  if (reply == nullptr) return;
  if (reply->is(redis::Reply::Kind::Error)) {
    return again_.set(loop_.now_ms() + kAfterErrorMs, [this] { read(); });
  }
  for (const redis::Reply& stream : reply->items) {
    if (stream.items.size() != 2) continue;
    const std::string& key = stream.items[0].text;
    for (const redis::Reply& entry : stream.items[1].items) {
      const auto found = after_.find(key);
      if (found == after_.end() || entry.items.empty()) break;
      found->second = entry.items[0].text;
      entry_(key, entry);
    }
  }
  if (after_.size() < kManyStreams) return read();
  again_.set(loop_.now_ms() + kGatherMs, [this] { read(); });
}

/// The command may not have reached the server yet: then there is nothing to interrupt, and it is tried again.
void RedisTail::interrupt() {
  if (!reading_ || !outdated_ || !commands_.is_up()) return;
  commands_.send({"CLIENT", "UNBLOCK", std::to_string(client_id_)}, [this, read = reads_](const redis::Reply* reply) {
    if (reply == nullptr || reply->integer == 1 || read != reads_) return;
    nudge_.set(loop_.now_ms() + kInterruptAgainMs, [this] { interrupt(); });
  });
}

}  // namespace tidemark::log
