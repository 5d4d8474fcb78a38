// The shared log: finding what other replicas have written, and reading on in it.
#include <algorithm>
#include <utility>

#include "native/log/redis_log.hpp"

namespace tidemark::log {
namespace {

constexpr std::string_view kPage = "256";  // entries read at once
constexpr std::size_t kPageEntries = 256;

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
  if (ready_) run(Script::Release, name, found->second.epoch, {options_.replica, found->second.epoch}, {});
  claims_.erase(found);
}

void RedisLog::begin(const SearchPtr& search) {
  if (!ready_ && !tried_) return hold(search, kNever);
  if (!ready_) return answer(search, LookUp::Answer::Unreachable);
  if (search->claim && loop_.now_ms() >= settled_at_) {
    return run(Script::Claim, search->name, search->claim->epoch,
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
    // That passes with time, but for a Redis that takes no write, or does not answer what it is asked.
    if (life == Life::Unsure && ready_ && loop_.now_ms() < takes_over_from_) return hold(search, takes_over_from_);
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
  run(Script::Reclaim, search->name, search->claim->epoch,
      {options_.replica, search->claim->epoch, search->claim->digest, search->claim->facts, running_ttl(),
       search->result.owner},
      [this, search](const redis::Reply* reply) {
        // Another replica was faster: what it has made of it is looked at.
        if (reply != nullptr && reply->is(redis::Reply::Kind::Integer) && reply->integer == 0) return begin(search);
        found(search, reply);
      });
}

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
    if (!now->ended) tail_.watch(events_of(*now), after);
    answer(search, LookUp::Answer::Here);
  });
}

/// All entries from `from` on ("-", or an id: what comes after it).
void RedisLog::load_rest(StreamId id, const std::string& from, Rest done) {
  Entry* entry = find(id);
  if (entry == nullptr) return done(Loaded::Lost, from);
  if (!ready_) return done(Loaded::Lost, from);
  const std::string above = from == "-" ? from : "(" + from;
  link_.send({"XRANGE", events_of(*entry), above, "+", "COUNT", kPage},
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
  if (entry == nullptr || fed_here(*entry) || events_of(*entry) != key) return tail_.unwatch(key);
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

}  // namespace tidemark::log
