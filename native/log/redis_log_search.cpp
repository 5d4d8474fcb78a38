// The shared log: finding what other replicas have written, reading on in it, and taking it over.
#include <algorithm>
#include <utility>

#include "native/log/redis_log.hpp"

namespace tidemark::log {
namespace {

constexpr std::string_view kPage = "256";  // entries read at once
constexpr std::size_t kPageEntries = 256;
constexpr std::string_view kMostWishes = "4096";  // kept for a replica
constexpr std::string_view kWishTtl = "60000";
constexpr std::string_view kStop = "stop";
constexpr std::string_view kKeepFed = "keep-fed";

std::string_view field(const std::vector<redis::Reply>& fields, std::string_view name) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text == name) return fields[i + 1].text;
  }
  return {};
}

/// Whether these are the terms before, and perhaps more.
bool goes_on(const std::vector<Term>& before, const std::vector<Term>& now) {
  return before.size() <= now.size() &&
         std::equal(before.begin(), before.end(), now.begin(),
                    [](const Term& a, const Term& b) { return a.epoch == b.epoch && a.first == b.first; });
}

/// One that has lost a part can't be read; under a name that is wanted it is in the way until it expires.
LookUp::Answer why_not_read(bool full, bool damaged, bool wanted) {
  if (full) return LookUp::Answer::NoRoom;
  return damaged && !wanted ? LookUp::Answer::Unknown : LookUp::Answer::Unreachable;
}

}  // namespace

void RedisLog::look_up(const std::string& name, std::optional<Claim> claim, Found done) {
  auto search = std::make_shared<Search>();
  search->name = name;
  search->claim = std::move(claim);
  search->done = std::move(done);
  post([this, search] { begin(search); });
}

void RedisLog::release(const std::string& name) {
  const auto found = claims_.find(name);
  if (found == claims_.end()) return;
  if (ready_) run(Script::Release, name, {options_.replica, found->second.epoch}, {});
  claims_.erase(found);
}

void RedisLog::begin(const SearchPtr& search) {
  if (!ready_ && !tried_) return hold(search, kNever);
  if (!ready_) return answer(search, LookUp::Answer::Unreachable);
  if (search->claim && loop_.now_ms() >= settled_at_) {
    return run(Script::Claim, search->name,
               {options_.replica, search->claim->epoch, search->claim->digest, search->claim->facts, running_ttl()},
               [this, search](const redis::Reply* reply) { found(search, reply); });
  }
  link_.send({"HGETALL", stream_key(search->name)},
             [this, search](const redis::Reply* reply) { found(search, reply); });
}

/// Until `until`, or until the connection comes or goes.
void RedisLog::hold(const SearchPtr& search, TimeMs until) {
  held_.push_back(search);
  if (until < hold_.deadline()) hold_.set(until, [this] { held_again(); });
}

void RedisLog::held_again() {
  hold_.cancel();
  for (const SearchPtr& search : std::exchange(held_, {})) begin(search);
}

void RedisLog::found(const SearchPtr& search, const redis::Reply* reply) {
  if (reply != nullptr && reply->is(redis::Reply::Kind::Error)) refuses(reply->text);
  if (reply == nullptr && search->claim) unanswered_.push_back(search->name);
  if (reply == nullptr || reply->is(redis::Reply::Kind::Error)) return answer(search, LookUp::Answer::Unreachable);
  if (reply->is(redis::Reply::Kind::Integer)) {
    claims_[search->name] = *search->claim;
    return answer(search, LookUp::Answer::Yours);
  }
  const std::vector<redis::Reply>& fields = reply->items;
  if (fields.empty()) {
    if (loop_.now_ms() < settled_at_) return hold(search, settled_at_);
    return answer(search, LookUp::Answer::Unknown);
  }
  search->result.owner = field(fields, "owner");
  search->result.digest = field(fields, "digest");
  search->result.facts = field(fields, "facts");
  search->result.terms = parse_terms(field(fields, "terms"));
  search->result.ended = !field(fields, "ended").empty();
  const bool opened = !search->result.terms.empty();
  if (search->result.ended) return load(search);
  ask_if_alive(search->name, search->result.owner, [this, search, opened](Life life) {
    if (life == Life::Unsure && ready_) return hold(search, takes_over_from_);
    if (life == Life::Unsure) return answer(search, LookUp::Answer::Unreachable);
    search->result.fed = life == Life::Alive;
    if (opened) return load(search);
    if (life == Life::Alive) return answer(search, LookUp::Answer::Claimed);
    reclaim(search);
  });
}

/// The replica that had claimed it is gone, and nobody has seen anything of it.
void RedisLog::reclaim(const SearchPtr& search) {
  if (!search->claim) return answer(search, LookUp::Answer::Unknown);
  run(Script::Reclaim, search->name,
      {options_.replica, search->claim->epoch, search->claim->digest, search->claim->facts, running_ttl(),
       search->result.owner},
      [this, search](const redis::Reply* reply) {
        // Another replica was faster: what it has made of it is looked at.
        if (reply != nullptr && reply->is(redis::Reply::Kind::Integer) && reply->integer == 0) return begin(search);
        found(search, reply);
      });
}

/// Ours by Redis's word, and yet nobody here feeds it or is about to: the reply that said so was lost.
bool RedisLog::is_left(const std::string& name, const std::string& owner) {
  if (owner != options_.replica || claims_.count(name) != 0) return false;
  const auto named = by_name_.find(name);
  const Entry* entry = named == by_name_.end() ? nullptr : find(named->second);
  return entry == nullptr || !fed_here(*entry);
}

/// Of such a name: whoever comes may have it.
void RedisLog::give_up(const std::string& name) {
  if (ready_ && is_left(name, options_.replica)) run(Script::GiveUp, name, {options_.replica}, {});
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
               done(now < takes_over_from_ ? Life::Unsure : Life::Gone);
             });
}

// Reading.

void RedisLog::load(const SearchPtr& search) {
  // What was read here before is out of date, or the search would not have been made.
  if (const auto before = by_name_.find(search->name); before != by_name_.end()) {
    Entry* entry = find(before->second);
    if (entry != nullptr && fed_here(*entry)) return answer(search, LookUp::Answer::Unreachable);
    lose(before->second);
  }
  const auto id = memory_.open({});
  const std::size_t size = kSharedEntryBytes + search->result.facts.size();
  if (!id || !memory_.charge(*id, size)) {
    if (id) memory_.drop(*id);
    return answer(search, LookUp::Answer::NoRoom);
  }
  Entry& entry = entries_[*id];
  entry.name = search->name;
  entry.owner = search->result.owner;
  entry.digest = search->result.digest;
  entry.facts = search->result.facts;
  entry.terms = search->result.terms;
  entry.epoch = parse_epoch(entry.terms.back().epoch).value_or(0);
  entry.fed = search->result.fed;
  entry.left_at = loop_.now_ms();
  by_name_[search->name] = *id;
  search->result.stream = *id;
  load_rest(*id, "-", [this, search, id = *id](Loaded loaded, const std::string& after) {
    Entry* now = find(id);
    if (now == nullptr) return answer(search, LookUp::Answer::Unreachable);
    if (loaded != Loaded::All) {
      lose(id);
      return answer(search, why_not_read(loaded == Loaded::Full, loaded == Loaded::Damaged, search->claim.has_value()));
    }
    search->result.ended = now->ended;
    search->result.facts = now->facts;
    search->result.fed = search->result.fed || now->ended;
    if (!now->ended && now->fed) tail_.watch(events_key(now->name), after);
    answer(search, LookUp::Answer::Here);
  });
}

/// All entries from `from` on ("-", or an id: what comes after it).
void RedisLog::load_rest(StreamId id, const std::string& from, Rest done) {
  Entry* entry = find(id);
  if (entry == nullptr) return done(Loaded::Lost, from);
  if (!ready_) return done(Loaded::Lost, from);
  const std::string above = from == "-" ? from : "(" + from;
  link_.send({"XRANGE", events_key(entry->name), above, "+", "COUNT", kPage},
             [this, id, from, done = std::move(done)](const redis::Reply* reply) {
               Entry* now = find(id);
               if (reply == nullptr || now == nullptr || !reply->is(redis::Reply::Kind::Array)) {
                 return done(Loaded::Lost, from);
               }
               std::string last = from;
               for (const redis::Reply& one : reply->items) {
                 const auto read = read_entry(one);
                 if (!read) return done(Loaded::Damaged, last);
                 const Loaded taken = take_in(id, *now, *read);
                 if (taken != Loaded::All) return done(taken, last);
                 last = one.items[0].text;
               }
               if (reply->items.size() < kPageEntries) return done(Loaded::All, last == "-" ? "0-0" : last);
               load_rest(id, last, done);
             });
}

/// What is there already, said twice by a writer that had lost its connection, is left out.
RedisLog::Loaded RedisLog::take_in(StreamId id, Entry& entry, const LogEntry& one) {
  if (one.end_facts) {
    if (entry.ended) return Loaded::All;
    entry.ended = true;
    entry.facts = *one.end_facts;
    if (events_ != nullptr && entry.told) events_->ended_elsewhere(id, entry.facts);
    memory_.end(id, loop_.now_ms(), {});
    return Loaded::All;
  }
  Seq seq = static_cast<Seq>(one.id.seq) + 1 - static_cast<Seq>(one.events.size());
  for (const std::string_view event : one.events) {
    const Seq next = memory_.next_seq(id);
    if (seq > next) return Loaded::Damaged;
    if (seq++ < next) continue;
    if (memory_.append(id, next, event) != Append::Done) return Loaded::Full;
  }
  return Loaded::All;
}

void RedisLog::tail_entry(const std::string& key, const redis::Reply& reply) {
  if (key == asked_key(options_.replica)) return take_wish(reply);
  const auto named = by_name_.find(name_in(key));
  Entry* entry = named == by_name_.end() ? nullptr : find(named->second);
  if (entry == nullptr || fed_here(*entry)) return tail_.unwatch(key);
  const StreamId id = named->second;
  entry->news = true;
  const auto read = read_entry(reply);
  if (!read) return lose(id);
  // Another replica has taken it over.
  if (read->id.epoch != entry->epoch) return find_owner(id);
  if (take_in(id, *entry, *read) != Loaded::All) return lose(id);
  if (Entry* now = find(id); now != nullptr && now->ended) tail_.unwatch(key);
}

void RedisLog::answer(const SearchPtr& search, LookUp::Answer answer) {
  search->result.answer = answer;
  if (answer == LookUp::Answer::Here) {
    if (Entry* entry = find(search->result.stream)) entry->told = true;
  }
  const Found done = std::move(search->done);
  done(std::move(search->result));
}

// Taking over.

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
  run(Script::Take, entry.name,
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

// What replicas want of each other.

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
  if (entry == nullptr || !ready_) return;
  tail_.unwatch(events_key(entry->name));
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
  if (moved && events_ != nullptr) events_->moved(id, terms);
  load_rest(id, after, [this, id, alive](Loaded loaded, const std::string& last) {
    Entry* now = find(id);
    if (now == nullptr || now->ended) return;
    if (loaded != Loaded::All) return lose(id);
    if (alive) return tail_.watch(events_key(now->name), last);
    if (now->followers == 0) return lose(id);
    if (events_ != nullptr) events_->left(id);
  });
}

/// Streams that are read here: those whose replica is gone, or has them no more, and those that nobody reads.
void RedisLog::look_after() {
  std::vector<StreamId> unread;
  std::vector<std::string> owners;
  const TimeMs now = loop_.now_ms();
  for (auto& [id, entry] : entries_) {
    if (entry.role != Role::Read || !entry.told) continue;
    if (entry.followers == 0 && now - entry.left_at >= options_.unread_ms) {
      unread.push_back(id);
      continue;
    }
    if (!waits_for(entry, entry.owner) || std::exchange(entry.news, false)) continue;
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
