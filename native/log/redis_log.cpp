// The shared log: how what is fed here gets to Redis, and when it is shown.
#include "native/log/redis_log.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::log {
namespace {

constexpr std::size_t kBatchBytes = 4096;                     // events of one entry
constexpr std::size_t kMostUnderWay = 4194304;                // beyond, a stream waits until Redis has caught up
constexpr std::size_t kFewUnderWay = 1048576;                 // below, those that wait go on
constexpr std::uint64_t kLeastEvent = 16;                     // its id alone is longer
constexpr std::size_t kMostInOneGo = std::size_t{128} << 20;  // one stream's facts may hold a request
constexpr TimeMs kLeftBehindMs = 600000;  // a stream that nobody feeds any more is there for the log's ttl and this
constexpr TimeMs kLagMs = 50;             // a Redis that is well takes less
constexpr TimeMs kRetryMostMs = 100;      // while it is away readers may have to wait

/// A stream may be read in one page.
std::size_t most_in_a_reply(const Limits& limits) {
  return std::max<std::size_t>(kMostInOneGo, static_cast<std::size_t>(limits.max_stream_bytes) * 2);
}

redis::LinkOptions link_options(const RedisLogOptions& options) {
  redis::LinkOptions link;
  link.client_name = "tidemark-" + options.replica;
  link.reply_timeout_ms = std::max<TimeMs>(options.lease_ms, 1000);
  link.retry_most_ms = kRetryMostMs;
  link.max_unsent_bytes = kMostInOneGo;
  link.max_reply_bytes = most_in_a_reply(options.limits);
  return link;
}

// Redis's word for an id that is not above all before.
bool is_stale(const std::string& error) { return error.find("equal or smaller") != std::string::npos; }

}  // namespace

RedisLog::RedisLog(loop::Loop& loop, tls::ClientContext* tls, RedisLogOptions options, observe::Logger& logger)
    : loop_(loop),
      options_(std::move(options)),
      logger_(logger),
      memory_(options_.limits),
      self_(std::make_shared<RedisLog*>(this)),
      most_entries_(std::to_string(options_.limits.max_stream_bytes / kLeastEvent + 1)),
      lease_(loop),
      refresh_(loop),
      hold_(loop),
      show_(loop),
      look_(loop),
      link_(loop, tls, options_.endpoint, link_options(options_),
            {[this](const redis::ServerFacts& facts) { up(facts); }, [this](const std::string& why) { down(why); }}),
      tail_(loop, tls, options_.endpoint, "tidemark-" + options_.replica + "-tail", most_in_a_reply(options_.limits),
            link_, [this](const std::string& key, const redis::Reply& entry) { tail_entry(key, entry); }) {
  tail_.watch(asked_key(options_.replica), "0-0");
}

RedisLog::~RedisLog() = default;

std::string RedisLog::running_ttl() const { return std::to_string(options_.limits.ttl_ms + kLeftBehindMs); }

bool RedisLog::reachable() const {
  return ready_ && !refusing_ && std::none_of(entries_.begin(), entries_.end(), [](const auto& one) {
           return one.second.role == Role::Asking || one.second.role == Role::Behind;
         });
}

RedisLog::Entry* RedisLog::find(StreamId stream) {
  const auto found = entries_.find(stream);
  return found == entries_.end() || !memory_.contains(stream) ? nullptr : &found->second;
}

void RedisLog::post(std::function<void()> task) {
  loop_.post([self = std::weak_ptr<RedisLog*>(self_), task = std::move(task)] {
    if (self.lock()) task();
  });
}

std::optional<StreamId> RedisLog::open_shared(const std::string& name, const Claim& stream) {
  const auto id = memory_.open({});
  if (!id) return std::nullopt;
  if (!memory_.charge(*id, kSharedEntryBytes + stream.facts.size())) {
    memory_.drop(*id);
    return std::nullopt;
  }
  claims_.erase(name);
  Entry& entry = entries_[*id];
  entry.role = Role::Behind;
  entry.name = name;
  entry.digest = stream.digest;
  entry.facts = stream.facts;
  entry.terms = {{stream.epoch, 0}};
  entry.epoch = parse_epoch(stream.epoch).value_or(0);
  by_name_[name] = *id;
  if (ready_ && !refusing_) {
    put(*id, entry);
    entry.role = Role::Writing;
  } else {
    fall_behind(*id, entry);
  }
  return id;
}

bool RedisLog::describe(StreamId stream, std::string_view facts) {
  Entry* entry = find(stream);
  if (entry == nullptr || !fed_here(*entry) || entry->ended) return false;
  if (!memory_.charge(stream, kSharedEntryBytes + facts.size())) return false;
  entry->facts = facts;
  if (entry->role == Role::Writing) put(stream, *entry);
  return true;
}

Append RedisLog::append(StreamId stream, Seq seq, std::string_view bytes) {
  Entry* entry = find(stream);
  if (entry == nullptr) return memory_.append(stream, seq, bytes);
  if (!fed_here(*entry)) return Append::OutOfOrder;
  const Append done = memory_.store(stream, seq, bytes);
  if (done == Append::Done) see_later(stream, *entry);
  return done;
}

void RedisLog::end(StreamId stream, TimeMs now, std::string_view facts) {
  Entry* entry = find(stream);
  if (entry == nullptr) return memory_.end(stream, now, facts);
  if (!fed_here(*entry) || entry->ended) return;
  entry->ended = true;
  entry->facts = facts;
  memory_.charge(stream, kSharedEntryBytes + facts.size());
  memory_.close(stream, now);
  see_later(stream, *entry);
}

void RedisLog::drop(StreamId stream) { memory_.drop(stream); }

std::vector<StreamId> RedisLog::take_removed() {
  std::vector<StreamId> removed = memory_.take_removed();
  for (const StreamId id : removed) forget(id);
  return removed;
}

void RedisLog::forget(StreamId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  tail_.unwatch(events_of(found->second));
  const auto named = by_name_.find(found->second.name);
  if (named != by_name_.end() && named->second == id) by_name_.erase(named);
  entries_.erase(found);
}

void RedisLog::follow(StreamId stream, Follower& follower) {
  if (Entry* entry = find(stream)) ++entry->followers;
  memory_.follow(stream, follower);
}

void RedisLog::unfollow(StreamId stream, Follower& follower) {
  if (Entry* entry = find(stream); entry != nullptr && --entry->followers == 0) entry->left_at = loop_.now_ms();
  memory_.unfollow(stream, follower);
}

/// Its readers see it at the end of this turn, when it is on its way.
void RedisLog::see_later(StreamId id, Entry& entry) {
  if (!std::exchange(entry.unseen, true)) unseen_.push_back(id);
  if (std::exchange(flush_deferred_, true)) return;
  loop_.defer([self = std::weak_ptr<RedisLog*>(self_)] {
    if (const auto log = self.lock()) (*log)->flush();
  });
}

void RedisLog::flush() {
  flush_deferred_ = false;
  if (ready_ && loop_.now_ms() - lease_sent_at_ > options_.lease_ms) renew_lease();
  const std::vector<StreamId> unseen = std::exchange(unseen_, {});
  for (const StreamId id : unseen) {
    if (Entry* entry = find(id)) write(id, *entry);
  }
  if (ready_) link_.flush();
  for (const StreamId id : unseen) {
    Entry* entry = find(id);
    if (entry == nullptr) continue;
    entry->unseen = false;
    if (entry->unsure || (entry->role != Role::Writing && loop_.now_ms() < shows_from_)) continue;
    entry->held_back = lags();
    if (entry->held_back) {
      if (!show_.armed()) show_.set(sent_at_.front() + options_.lease_ms, [this] { show_all(); });
      continue;
    }
    memory_.show(id, memory_.next_seq(id), entry->ended);
  }
}

/// Redis has been away, or behind, for too long: what it lacks is shown all the same.
void RedisLog::show_all() {
  for (auto& [id, entry] : entries_) {
    if (fed_here(entry) && (entry.held_back || entry.role != Role::Writing)) see_later(id, entry);
  }
}

/// Redis has all of the stream below `next`, or with its end.
void RedisLog::acknowledged(StreamId id, Entry& entry, Seq next, bool end) {
  if (!entry.held_back || entry.unsure) return;
  entry.held_back = next < memory_.next_seq(id) || (entry.ended && !end);
  memory_.show(id, next, end);
}

/// It is so far behind that, should this process be killed now, it would throw a part of what it was sent away.
bool RedisLog::lags() const {
  if (sent_at_.empty()) return false;
  const TimeMs age = loop_.now_ms() - sent_at_.front();
  return age > kLagMs && age < options_.lease_ms;
}

void RedisLog::write(StreamId id, Entry& entry) {
  if (entry.role != Role::Writing) return;
  write_events(id, entry);
  if (entry.role == Role::Writing && entry.ended && !entry.end_there) write_end(id, entry);
}

void RedisLog::write_events(StreamId id, Entry& entry) {
  const Seq next = memory_.next_seq(id);
  const std::string key = events_of(entry);
  std::vector<std::size_t> ends;
  while (entry.sent < next) {
    if (under_way_ > kMostUnderWay) return fall_behind(id, entry);
    command_buffer_.clear();
    ends.clear();
    do {
      memory_.copy_event(id, entry.sent++, command_buffer_);
      ends.push_back(command_buffer_.size());
    } while (entry.sent < next && command_buffer_.size() < kBatchBytes);
    const std::string entry_id = EntryId{entry.epoch, static_cast<std::uint64_t>(entry.sent - 1)}.text();
    redis::Link::Command command{"XADD", key, "NOMKSTREAM", "MAXLEN", "~", most_entries_, entry_id};
    std::size_t at = 0;
    for (const std::size_t end : ends) {
      command.emplace_back("e");
      command.push_back(std::string_view(command_buffer_).substr(at, end - at));
      at = end;
    }
    under_way_ += at;
    sent_at_.push_back(loop_.now_ms());
    link_.send(command, [this, id, size = at, next = entry.sent](const redis::Reply* reply) {
      if (reply == nullptr) return;
      under_way_ -= size;
      sent_at_.pop_front();
      Entry* now = find(id);
      if (now != nullptr && reply->is(redis::Reply::Kind::Text)) {
        acknowledged(id, *now, next, false);
      } else if (now != nullptr && now->role == Role::Writing) {
        // Redis has lost it, and with it perhaps the lease; another replica has it; or a command of the connection
        // before was carried out late.
        if (reply->is(redis::Reply::Kind::Null) && lease_sent_at_ < loop_.now_ms()) renew_lease();
        if (reply->is(redis::Reply::Kind::Null) || is_stale(reply->text)) {
          ask_how_far(id, *now);
        } else {
          refused(id, reply->text);
        }
      }
      catch_up();
    });
  }
}

void RedisLog::write_end(StreamId id, Entry& entry) {
  run(Script::End, entry.name, entry.terms.front().epoch,
      {entry.terms.back().epoch, entry.facts, std::to_string(options_.limits.ttl_ms),
       EntryId{entry.epoch, EntryId::kEnd}.text()},
      [this, id](const redis::Reply* reply) {
        Entry* now = find(id);
        if (reply == nullptr || now == nullptr) return;
        if (reply->is(redis::Reply::Kind::Error)) return refused(id, reply->text);
        if (reply->integer == -1) return lose(id);
        if (reply->integer == -2) return ask_how_far(id, *now);
        now->end_there = true;
        acknowledged(id, *now, memory_.next_seq(id), true);
      });
}

void RedisLog::ask_how_far(StreamId id, Entry& entry) {
  if (entry.role != Role::Writing && entry.role != Role::Behind) return;
  entry.role = Role::Asking;
  put(id, entry);
}

/// Writes what describes the stream, and asks how far its events are.
void RedisLog::put(StreamId id, Entry& entry) {
  const std::uint64_t below = entry.epoch > 0 ? entry.epoch - 1 : 0;
  const std::size_t size = kSharedEntryBytes + entry.facts.size();
  under_way_ += size;
  run(Script::Put, entry.name, entry.terms.front().epoch,
      {options_.replica, entry.terms.back().epoch, entry.digest, terms_text(entry.terms), entry.facts, running_ttl(),
       EntryId{below, 1}.text()},
      [this, id, size](const redis::Reply* reply) {
        if (reply == nullptr) return;
        under_way_ -= size;
        put_done(id, *reply);
        catch_up();
      });
}

void RedisLog::put_done(StreamId id, const redis::Reply& reply) {
  Entry* entry = find(id);
  if (entry == nullptr) return;
  if (reply.is(redis::Reply::Kind::Error)) return refused(id, reply.text);
  if (reply.is(redis::Reply::Kind::Integer)) return lose(id);
  if (std::exchange(entry->unsure, false) || entry->role == Role::Asking) see_later(id, *entry);
  if (entry->role != Role::Asking) return;
  Seq next = 0;
  if (const auto last = parse_entry_id(reply.text)) {
    if (last->seq == EntryId::kEnd) {
      entry->end_there = true;
      entry->role = Role::Writing;
      return;
    }
    next = static_cast<Seq>(last->seq) + 1;
  }
  // It has more than was ever written here: that is not this stream.
  if (next > memory_.next_seq(id)) return lose(id);
  entry->sent = next;
  entry->role = Role::Writing;
  write(id, *entry);
}

void RedisLog::fall_behind(StreamId id, Entry& entry) {
  entry.role = Role::Behind;
  behind_.push_back(id);
}

/// A few at a time, so that what comes meanwhile does not wait behind all of it.
void RedisLog::catch_up() {
  while (ready_ && !refusing_ && under_way_ < kFewUnderWay && !behind_.empty()) {
    const StreamId id = behind_.front();
    behind_.pop_front();
    Entry* entry = find(id);
    if (entry != nullptr && entry->role == Role::Behind) ask_how_far(id, *entry);
  }
}

/// What Redis lacks of the stream is written when it takes something again.
void RedisLog::refused(StreamId id, const std::string& why) {
  refuses(why);
  Entry* entry = find(id);
  if (entry == nullptr || !fed_here(*entry)) return;
  // Nobody can take it over either.
  if (std::exchange(entry->unsure, false)) see_later(id, *entry);
  if (entry->role != Role::Behind) fall_behind(id, *entry);
}

/// Never from inside a call of its user.
void RedisLog::lose(StreamId id) {
  if (find(id) == nullptr) return;
  if (events_ != nullptr) events_->lost(id);
  memory_.drop(id);
  forget(id);
}

}  // namespace tidemark::log
