// The shared log: its server, which may be away, full or another one, and the lease of this process there.
#include <algorithm>
#include <utility>

#include "native/log/redis_log.hpp"

namespace tidemark::log {
namespace {

constexpr TimeMs kRefreshMs = 300000;  // well within what is left to streams that nobody feeds
constexpr TimeMs kLastBytesMs = 1000;

}  // namespace

void RedisLog::up(const redis::ServerFacts& facts) {
  const TimeMs now = loop_.now_ms();
  const bool first = run_id_.empty();
  const bool other_server = run_id_ != facts.run_id;
  const auto old_enough_at = [&](TimeMs age) { return now + std::max<TimeMs>(0, age - facts.uptime_ms); };
  // What it had may be lost, or older than it was: first those who feed streams connect, and write what is missing.
  if (other_server) settled_at_ = first ? old_enough_at(options_.lease_ms / 2) : now + options_.lease_ms / 2;
  // Others have been without it as long as this replica was; its uptime is in whole seconds.
  takes_over_from_ = first ? old_enough_at(options_.lease_ms + 1000) : now + options_.lease_ms;
  there_since_ = first ? now - facts.uptime_ms : now;
  if (other_server) {
    for (auto& [id, entry] : entries_) {
      if (fed_here(entry)) entry.role = Role::Behind;
      entry.end_there = false;
    }
  }
  run_id_ = facts.run_id;
  load_scripts();
}

void RedisLog::load_scripts() {
  for (std::size_t i = 0; i < kScripts; ++i) {
    link_.send({"SCRIPT", "LOAD", source(static_cast<Script>(i))}, [this, i](const redis::Reply* reply) {
      if (reply == nullptr) return;
      if (!reply->is(redis::Reply::Kind::Text)) return link_.drop("it does not take scripts: " + reply->text);
      hashes_[i] = reply->text;
      if (i + 1 == kScripts) begin_work();
    });
  }
}

void RedisLog::begin_work() {
  ready_ = true;
  tried_ = true;
  has_lease_ = false;
  lease_sent_at_ = loop_.now_ms();
  refusing_ = false;
  logger_.write(observe::Level::Info, observe::Line("log reachable").text("log", options_.endpoint.text()));
  renew_lease();
  refresh();
  look_after();
  for (const std::string& name : std::exchange(unanswered_, {})) give_up(name);
  for (const auto& [name, claim] : claims_) {
    run(Script::Claim, name, claim.epoch, {options_.replica, claim.epoch, claim.digest, claim.facts, running_ttl()},
        {});
  }
  behind_.clear();
  for (auto& [id, entry] : entries_) {
    if (fed_here(entry) && !entry.end_there) fall_behind(id, entry);
  }
  catch_up();
  held_again();
}

void RedisLog::down(const std::string& why) {
  logger_.write(observe::Level::Warning,
                observe::Line("log unreachable").text("log", options_.endpoint.text()).text("why", why));
  const bool was_ready = std::exchange(ready_, false);
  if (was_ready) {
    shows_from_ = (sent_at_.empty() ? loop_.now_ms() : sent_at_.front()) + options_.lease_ms;
    show_.set(shows_from_, [this] { show_all(); });
  }
  tried_ = true;
  lease_.cancel();
  refresh_.cancel();
  look_.cancel();
  under_way_ = 0;
  sent_at_.clear();
  for (auto& [id, entry] : entries_) {
    if (!fed_here(entry) || entry.end_there) continue;
    entry.role = Role::Behind;
    if (std::exchange(entry.unsure, false)) see_later(id, entry);
  }
  if (was_ready) tail_.restart(why);
  held_again();
}

void RedisLog::run(Script script, const std::string& name, const std::string& first_epoch,
                   std::vector<std::string_view> arguments, redis::Link::Done done) {
  const std::string stream = stream_key(name);
  const std::string events = events_key(name, first_epoch);
  redis::Link::Command command{"EVALSHA", hashes_[static_cast<std::size_t>(script)], "2", stream, events};
  command.insert(command.end(), arguments.begin(), arguments.end());
  link_.send(command, [this, done = std::move(done)](const redis::Reply* reply) {
    // Somebody has emptied the server's scripts: they are loaded again with the next connection.
    if (reply != nullptr && reply->is(redis::Reply::Kind::Error) && reply->text.rfind("NOSCRIPT", 0) == 0) {
      ready_ = false;
      link_.drop("its scripts are gone");
      reply = nullptr;
    }
    if (done) done(reply);
  });
}

void RedisLog::renew_lease() {
  if (!ready_ || leaving_) return;
  const TimeMs now = loop_.now_ms();
  const bool held_up = now - lease_sent_at_ > options_.lease_ms;
  lease_sent_at_ = now;
  const std::string key = replica_key(options_.replica);
  const std::string lease = std::to_string(options_.lease_ms);
  // A Redis that is full takes this, and not the other.
  link_.send({"PEXPIRE", key, lease}, [this](const redis::Reply* reply) {
    if (reply == nullptr || !reply->is(redis::Reply::Kind::Integer)) return;
    if (reply->integer == 0 && std::exchange(has_lease_, false)) make_sure();
  });
  link_.send({"SET", key, "1", "PX", lease}, [this](const redis::Reply* reply) {
    if (reply == nullptr) return;
    if (reply->is(redis::Reply::Kind::Error)) return refuses(reply->text);
    has_lease_ = true;
    takes_again();
  });
  lease_.set(now + options_.lease_ms / 3, [this] { renew_lease(); });
  if (held_up) make_sure();
}

/// The lease has run out, by Redis's clock or since this process was held up: what it feeds may have been taken over,
/// and what comes now is not to be seen before Redis has said whose it is.
void RedisLog::make_sure() {
  if (refusing_) return;  // then nobody can take anything over
  for (auto& [id, entry] : entries_) {
    if (!fed_here(entry) || entry.end_there) continue;
    entry.unsure = true;
    if (entry.role == Role::Writing) fall_behind(id, entry);
  }
  catch_up();
}

/// Running streams are not to expire.
void RedisLog::refresh() {
  if (!ready_) return;
  const std::string ttl = running_ttl();
  for (const auto& [id, entry] : entries_) {
    if (!fed_here(entry) || entry.ended) continue;
    link_.send({"PEXPIRE", stream_key(entry.name), ttl}, {});
    link_.send({"PEXPIRE", events_of(entry), ttl}, {});
  }
  refresh_.set(loop_.now_ms() + kRefreshMs, [this] { refresh(); });
}

/// Redis is full, or its disk is. The lease's renewal finds out when that is over.
void RedisLog::refuses(const std::string& why) {
  if (std::exchange(refusing_, true)) return;
  logger_.write(observe::Level::Warning,
                observe::Line("log refuses").text("log", options_.endpoint.text()).text("why", why));
}

void RedisLog::takes_again() {
  if (!std::exchange(refusing_, false)) return;
  // Others could not renew their leases either.
  takes_over_from_ = std::max(takes_over_from_, loop_.now_ms() + options_.lease_ms);
  logger_.write(observe::Level::Info, observe::Line("log takes again").text("log", options_.endpoint.text()));
  catch_up();
}

void RedisLog::leave() {
  if (!ready_) return;
  leaving_ = true;
  flush();
  link_.send({"DEL", replica_key(options_.replica), asked_key(options_.replica)}, {});
  link_.close_after_sending(kLastBytesMs);
  tail_.close();
  ready_ = false;
}

}  // namespace tidemark::log
