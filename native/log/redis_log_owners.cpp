// The shared log: who feeds a stream, who takes it over, and what replicas want of each other.
#include <algorithm>
#include <utility>

#include "native/log/redis_log.hpp"

namespace tidemark::log {
namespace {

constexpr std::string_view kMostWishes = "4096";  // kept for a replica
constexpr std::string_view kWishTtl = "60000";
constexpr std::string_view kStop = "stop";
constexpr std::string_view kKeepFed = "keep-fed";

/// Whether these are the terms before, and perhaps more.
bool goes_on(const std::vector<Term>& before, const std::vector<Term>& now) {
  return before.size() <= now.size() &&
         std::equal(before.begin(), before.end(), now.begin(),
                    [](const Term& a, const Term& b) { return a.epoch == b.epoch && a.first == b.first; });
}

}  // namespace

/// Ours by Redis's word, and yet nobody here feeds it or is about to: the reply that said so was lost.
bool RedisLog::is_left(const std::string& name, const std::string& owner) {
  if (owner != options_.replica || claims_.count(name) != 0) return false;
  const auto named = by_name_.find(name);
  const Entry* entry = named == by_name_.end() ? nullptr : find(named->second);
  return entry == nullptr || !fed_here(*entry);
}

/// Of such a name: whoever comes may have it.
void RedisLog::give_up(const std::string& name) {
  if (ready_ && is_left(name, options_.replica)) run(Script::GiveUp, name, {}, {options_.replica}, {});
}

void RedisLog::ask_if_alive(const std::string& name, const std::string& owner, std::function<void(Life)> done) {
  if (is_left(name, owner)) return done(Life::Gone);
  link_.send({"EXISTS", replica_key(owner)},
             [this, sent = loop_.now_ms(), done = std::move(done)](const redis::Reply* reply) {
               if (reply == nullptr || !reply->is(redis::Reply::Kind::Integer)) return done(Life::Unsure);
               if (reply->integer != 0) return done(Life::Alive);
               // The server was held up: leases have run out that nobody could renew.
               const TimeMs now = loop_.now_ms();
               if (now - sent > options_.lease_ms / 3)
                 takes_over_from_ = std::max(takes_over_from_, now + options_.lease_ms);
               done(refusing_ || now < takes_over_from_ ? Life::Unsure : Life::Gone);
             });
}

void RedisLog::take_over(StreamId stream, Taken done) {
  post([this, stream, done = std::move(done)]() mutable {
    Entry* entry = find(stream);
    const auto failed = [this, stream, done] {
      const Entry* now = find(stream);
      if (now != nullptr && now->followers > 0) {
        find_owner(stream);
      } else {
        lose(stream);
      }
      done(std::nullopt);
    };
    if (entry == nullptr || entry->role != Role::Read || entry->ended || !ready_) return failed();
    ask_if_alive(entry->name, entry->owner, [this, stream, failed, done](Life life) {
      Entry* now = find(stream);
      if (now == nullptr || life != Life::Gone || !ready_) return failed();
      take(stream, *now, [failed, done](std::optional<Term> term) {
        if (!term) return failed();
        done(std::move(term));
      });
    });
  });
}

/// Precondition: its owner is gone.
void RedisLog::take(StreamId stream, Entry& entry, Taken done) {
  const std::string next_epoch = std::to_string(entry.epoch + 1);
  const bool sure = loop_.now_ms() - there_since_ >= 2 * options_.lease_ms;
  run(Script::Take, entry.name, entry.terms.front().epoch,
      {entry.owner, entry.terms.back().epoch, options_.replica, next_epoch, terms_text(entry.terms), running_ttl(),
       EntryId{entry.epoch, EntryId::kEnd}.text(), sure ? std::string_view() : kUnsure},
      [this, stream, name = entry.name, done = std::move(done)](const redis::Reply* reply) {
        if (reply == nullptr) unanswered_.push_back(name);
        if (reply == nullptr || find(stream) == nullptr || !reply->is(redis::Reply::Kind::Text)) {
          return done(std::nullopt);
        }
        // What was written after it had been read here.
        load_rest(stream, last_known(stream, *find(stream)),
                  [this, stream, terms = parse_terms(reply->text), done](Loaded loaded, const auto&) {
                    Entry* now = find(stream);
                    if (now == nullptr || loaded != Loaded::All || terms.empty() ||
                        terms.back().first != memory_.next_seq(stream)) {
                      return done(std::nullopt);
                    }
                    now->role = Role::Writing;
                    now->owner.clear();
                    now->terms = terms;
                    now->epoch = parse_epoch(terms.back().epoch).value_or(0);
                    now->sent = memory_.next_seq(stream);
                    done(terms.back());
                  });
      });
}

void RedisLog::ask_to_stop(StreamId stream) { wish(stream, kStop); }
void RedisLog::ask_to_stop(const std::string& name, const std::string& owner) { wish(name, owner, kStop); }
void RedisLog::keep_fed(StreamId stream) { wish(stream, kKeepFed); }

void RedisLog::wish(StreamId stream, std::string_view what) {
  const Entry* entry = find(stream);
  if (entry != nullptr && entry->role == Role::Read && !entry->ended) wish(entry->name, entry->owner, what);
}

void RedisLog::wish(const std::string& name, const std::string& owner, std::string_view what) {
  if (!ready_) return;
  const std::string key = asked_key(owner);
  link_.send({"XADD", key, "MAXLEN", "~", kMostWishes, "*", what, name}, {});
  link_.send({"PEXPIRE", key, kWishTtl}, {});
}

void RedisLog::take_wish(const redis::Reply& reply) {
  if (reply.items.size() != 2 || reply.items[1].items.size() != 2 || events_ == nullptr) return;
  const std::string& what = reply.items[1].items[0].text;
  const std::string& name = reply.items[1].items[1].text;
  const auto named = by_name_.find(name);
  Entry* entry = named == by_name_.end() ? nullptr : find(named->second);
  if (entry != nullptr && fed_here(*entry)) {
    if (what == kStop) events_->stop_asked(named->second);
    if (what == kKeepFed) events_->wanted(named->second);
  } else if (claims_.count(name) != 0) {
    if (what == kStop) events_->stop_asked(name);
  } else {
    give_up(name);
  }
}

/// Whether what follows is to come from this replica.
bool RedisLog::waits_for(const Entry& entry, const std::string& owner) {
  return entry.role == Role::Read && entry.told && entry.fed && !entry.ended && entry.owner == owner;
}

/// For load_rest(): all that is not here yet.
std::string RedisLog::last_known(StreamId id, const Entry& entry) const {
  const Seq next = memory_.next_seq(id);
  return next == 0 ? "-" : EntryId{entry.epoch, static_cast<std::uint64_t>(next - 1)}.text();
}

/// Of a stream that is read here and whose replica does not feed it any more.
void RedisLog::find_owner(StreamId id) {
  Entry* entry = find(id);
  if (entry == nullptr) return;
  // Where nobody can tell now, look_after() asks again.
  entry->adrift = true;
  tail_.unwatch(events_of(*entry));
  if (!ready_) return;
  link_.send({"HGETALL", stream_key(entry->name)}, [this, id](const redis::Reply* reply) {
    const Entry* now = find(id);
    if (reply == nullptr || now == nullptr || fed_here(*now) || now->ended) return;
    const std::string owner(field(reply->items, "owner"));
    std::vector<Term> terms = parse_terms(field(reply->items, "terms"));
    // Another generation, since Redis has lost this one.
    if (!goes_on(now->terms, terms)) return lose(id);
    ask_if_alive(now->name, owner, [this, id, owner, terms = std::move(terms)](Life life) {
      if (find(id) != nullptr && life != Life::Unsure) found_owner(id, owner, terms, life == Life::Alive);
    });
  });
}

void RedisLog::found_owner(StreamId id, const std::string& owner, const std::vector<Term>& terms, bool alive) {
  Entry& entry = *find(id);
  const std::string after = last_known(id, entry);
  const bool moved = terms.size() != entry.terms.size() || alive;
  entry.owner = owner;
  entry.terms = terms;
  entry.epoch = parse_epoch(terms.back().epoch).value_or(0);
  entry.fed = alive;
  entry.adrift = false;
  if (moved && events_ != nullptr) events_->moved(id, terms);
  load_rest(id, after, [this, id, alive](Loaded loaded, const std::string& last) {
    Entry* now = find(id);
    if (now == nullptr || now->ended) return;
    if (loaded == Loaded::Lost) {
      now->adrift = true;
      return;
    }
    if (loaded != Loaded::All) return lose(id);
    tail_.watch(events_of(*now), last);
    if (alive) return;
    if (now->followers == 0) return lose(id);
    if (events_ != nullptr) events_->left(id);
  });
}

/// Streams that are read here: those whose replica is gone, or has them no more, and those that nobody reads.
void RedisLog::look_after() {
  std::vector<StreamId> unread;
  std::vector<StreamId> adrift;
  std::vector<std::string> owners;
  const TimeMs now = loop_.now_ms();
  for (auto& [id, entry] : entries_) {
    if (entry.role != Role::Read || !entry.told) continue;
    if (entry.followers == 0 && now - entry.left_at >= options_.unread_ms) {
      unread.push_back(id);
      continue;
    }
    if (entry.adrift && !entry.ended) adrift.push_back(id);
    if (entry.adrift || !waits_for(entry, entry.owner) || std::exchange(entry.news, false)) continue;
    if (std::find(owners.begin(), owners.end(), entry.owner) == owners.end()) owners.push_back(entry.owner);
    link_.send({"HGET", stream_key(entry.name), "owner"},
               [this, id = id, owner = entry.owner](const redis::Reply* reply) {
                 if (reply == nullptr || reply->is(redis::Reply::Kind::Error) || reply->text == owner) return;
                 // Redis has come back empty: its replica is about to write it.
                 if (reply->is(redis::Reply::Kind::Null) && loop_.now_ms() < takes_over_from_) return;
                 const Entry* silent = find(id);
                 if (silent != nullptr && waits_for(*silent, owner)) find_owner(id);
               });
  }
  for (const StreamId id : unread) lose(id);
  for (const StreamId id : adrift) find_owner(id);
  for (const std::string& owner : owners) {
    ask_if_alive({}, owner, [this, owner](Life life) {
      if (life != Life::Gone) return;
      std::vector<StreamId> left;
      for (const auto& [id, entry] : entries_) {
        if (waits_for(entry, owner)) left.push_back(id);
      }
      for (const StreamId id : left) find_owner(id);
    });
  }
  look_.set(now + options_.lease_ms / 2, [this] { look_after(); });
}

}  // namespace tidemark::log
