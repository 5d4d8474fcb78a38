// The log that replicas share: streams are read from memory, and Redis has a copy that all of them write and read.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/log/memory_log.hpp"
#include "native/log/redis_format.hpp"
#include "native/log/redis_tail.hpp"
#include "native/log/shared_log.hpp"
#include "native/loop/loop.hpp"
#include "native/observe/logger.hpp"
#include "native/redis/link.hpp"

namespace tidemark::log {

/// What the table of a shared log takes for a stream, about.
inline constexpr std::size_t kSharedEntryBytes = 500;

struct RedisLogOptions {
  redis::Endpoint endpoint;
  Limits limits;
  /// A replica that has not been heard of for so long feeds nothing any more.
  TimeMs lease_ms = 3000;
  /// A stream that is fed elsewhere and that nobody has read here for so long is not kept in memory.
  TimeMs unread_ms = 10000;
  /// This process's name among the replicas, hex digits that no other has or ever had.
  std::string replica;
};

/// docs/decisions/redis-log.md. An event is in the kernel's hands, on its way to Redis, before any reader of this
/// process sees it; the reply is not waited for. Where the connection is lost, what comes in the next lease_ms is held
/// back, since a process that dies then would take it along; after that, and where Redis refuses it, streams go on from
/// memory. What is missing is written when Redis takes it again.
///
/// Beside MemoryLog, a stream costs its facts and about 500 bytes; what is on its way, at most about 4 MiB in all.
class RedisLog final : public StreamLog, public SharedLog {
 public:
  /// Connects at once, and again whenever the connection is lost. `tls` may be null where the endpoint is plain.
  RedisLog(loop::Loop& loop, tls::ClientContext* tls, RedisLogOptions options, observe::Logger& logger);
  ~RedisLog() override;

  /// A stream of this process alone.
  std::optional<StreamId> open(std::string_view facts) override { return memory_.open(facts); }
  bool describe(StreamId stream, std::string_view facts) override;
  Append append(StreamId stream, Seq seq, std::string_view bytes) override;
  void end(StreamId stream, TimeMs now, std::string_view facts) override;
  void drop(StreamId stream) override;
  bool contains(StreamId stream) const override { return memory_.contains(stream); }
  Seq next_seq(StreamId stream) const override { return memory_.next_seq(stream); }
  std::optional<Offset> offset_above(StreamId stream, Seq watermark) const override {
    return memory_.offset_above(stream, watermark);
  }
  Read read(StreamId stream, Offset from) const override { return memory_.read(stream, from); }
  void follow(StreamId stream, Follower& follower) override;
  void unfollow(StreamId stream, Follower& follower) override;
  void expire(TimeMs now) override { memory_.expire(now); }
  TimeMs next_deadline() const override { return memory_.next_deadline(); }
  std::vector<StreamId> take_removed() override;
  std::vector<Restored> take_restored() override { return {}; }
  bool keeps_facts() const override { return true; }
  bool reachable() const override;
  Usage usage() const override { return memory_.usage(); }

  void set_events(SharedLogEvents* events) override { events_ = events; }
  void look_up(const std::string& name, std::optional<Claim> claim, Found done) override;
  void release(const std::string& name) override;
  std::optional<StreamId> open_shared(const std::string& name, const Claim& stream) override;
  void take_over(StreamId stream, Taken done) override;
  void ask_to_stop(StreamId stream) override;
  void ask_to_stop(const std::string& name, const std::string& owner) override;
  void keep_fed(StreamId stream) override;
  void leave() override;

 private:
  enum class Role : std::uint8_t {
    Writing,  // fed here, and what comes is sent to Redis
    Asking,   // fed here; Redis has been asked how far it is
    Behind,   // fed here, and Redis lacks something of it
    Read,     // fed elsewhere, or by nobody
  };
  struct Entry {
    Role role = Role::Read;
    std::string name;
    std::string owner;  // where it is fed elsewhere
    std::string digest;
    std::string facts;
    std::vector<Term> terms;
    std::uint64_t epoch = 0;  // of the last term
    Seq sent = 0;             // events below are on their way, or there
    bool unseen = false;      // something of it is not shown yet
    bool held_back = false;   // something is shown when Redis has acknowledged it
    bool unsure = false;      // another replica may have taken it over: nothing more is shown before Redis has said
    bool ended = false;
    bool end_there = false;  // Redis has said so
    bool fed = false;        // Read: its owner was alive when it was looked for
    bool adrift = false;     // Read: who feeds it now has been asked and is not known yet
    bool told = false;       // Read: look_up() has answered, so that its user knows the stream
    bool news = false;       // Read: something of it came since it was last looked after
    std::size_t followers = 0;
    TimeMs left_at = 0;  // Read: without a follower since
  };
  /// A look_up() under way.
  struct Search {
    std::string name;
    std::optional<Claim> claim;
    Found done;
    LookUp result;
  };
  using SearchPtr = std::shared_ptr<Search>;
  enum class Loaded : std::uint8_t {
    All,
    Lost,     // the connection, or the stream
    Full,     // there is no room for it
    Damaged,  // something is missing in Redis
  };
  enum class Life : std::uint8_t {
    Alive,
    Gone,    // its lease has run out
    Unsure,  // nobody can tell: right after a start of the server, leases may be missing that have not run out
  };
  using Rest = std::function<void(Loaded loaded, const std::string& last_id)>;

  Entry* find(StreamId stream);
  static std::string events_of(const Entry& entry) { return events_key(entry.name, entry.terms.front().epoch); }
  static bool fed_here(const Entry& entry) { return entry.role != Role::Read; }
  /// Of the keys of a stream that runs, should no replica care for it any more.
  std::string running_ttl() const;
  /// Runs the task in a turn of its own, where the log is still there.
  void post(std::function<void()> task);

  // redis_log.cpp: what is fed here.
  void see_later(StreamId id, Entry& entry);
  void flush();
  void show_all();
  void acknowledged(StreamId id, Entry& entry, Seq next, bool end);
  bool lags() const;
  void write(StreamId id, Entry& entry);
  void write_events(StreamId id, Entry& entry);
  void write_end(StreamId id, Entry& entry);
  void ask_how_far(StreamId id, Entry& entry);
  void put(StreamId id, Entry& entry);
  void put_done(StreamId id, const redis::Reply& reply);
  void fall_behind(StreamId id, Entry& entry);
  void catch_up();
  void refused(StreamId id, const std::string& why);
  void forget(StreamId id);
  void lose(StreamId id);

  // redis_log_server.cpp: the server, and the lease.
  void up(const redis::ServerFacts& facts);
  void load_scripts();
  void begin_work();
  void down(const std::string& why);
  void run(Script script, const std::string& name, const std::string& first_epoch,
           std::vector<std::string_view> arguments, redis::Link::Done done);
  void renew_lease();
  void make_sure();
  void refresh();
  void refuses(const std::string& why);
  void takes_again();

  // redis_log_search.cpp: what others have written.
  void begin(const SearchPtr& search);
  void hold(const SearchPtr& search, TimeMs until);
  void held_again();
  void found(const SearchPtr& search, const redis::Reply* reply);
  void reclaim(const SearchPtr& search);
  void load(const SearchPtr& search);
  void load_rest(StreamId id, const std::string& from, Rest done);
  Loaded take_in(StreamId id, Entry& entry, const LogEntry& one);
  void tail_entry(const std::string& key, const redis::Reply& reply);
  void answer(const SearchPtr& search, LookUp::Answer answer);

  // redis_log_owners.cpp: who feeds what.
  bool is_left(const std::string& name, const std::string& owner);
  void give_up(const std::string& name);
  void ask_if_alive(const std::string& name, const std::string& owner, std::function<void(Life)> done);
  void take(StreamId stream, Entry& entry, Taken done);
  void wish(StreamId stream, std::string_view what);
  void wish(const std::string& name, const std::string& owner, std::string_view what);
  void take_wish(const redis::Reply& reply);
  static bool waits_for(const Entry& entry, const std::string& owner);
  std::string last_known(StreamId id, const Entry& entry) const;
  void find_owner(StreamId id);
  void found_owner(StreamId id, const std::string& owner, const std::vector<Term>& terms, bool alive);
  void look_after();

  loop::Loop& loop_;
  const RedisLogOptions options_;
  observe::Logger& logger_;
  MemoryLog memory_;
  SharedLogEvents* events_ = nullptr;
  std::shared_ptr<RedisLog*> self_;  // for tasks that may come when the log has gone
  std::unordered_map<StreamId, Entry> entries_;
  std::unordered_map<std::string, StreamId> by_name_;
  std::unordered_map<std::string, Claim> claims_;
  std::vector<std::string> unanswered_;  // names that may have become this replica's: the reply was lost
  std::vector<StreamId> unseen_;
  std::deque<TimeMs> sent_at_;  // of events that Redis has not acknowledged, in order
  bool flush_deferred_ = false;
  std::deque<StreamId> behind_;
  std::size_t under_way_ = 0;  // bytes of events and facts, sent and not acknowledged
  std::vector<SearchPtr> held_;
  std::string command_buffer_;

  bool ready_ = false;
  bool tried_ = false;     // the first try to connect has come to something
  bool refusing_ = false;  // Redis is there and does not take what is written
  bool has_lease_ = false;
  bool leaving_ = false;
  std::string run_id_;              // of the server that was there last
  TimeMs settled_at_ = 0;           // from then on a name that nobody has is free
  TimeMs shows_from_ = 0;           // until then what Redis has not been sent is shown to nobody
  TimeMs there_since_ = 0;          // so long the server has been there, as far as this process can tell
  TimeMs lease_sent_at_ = 0;        // when it was renewed
  TimeMs takes_over_from_ = 0;      // from then on a lease that is not there has run out
  const std::string most_entries_;  // of a stream
  std::array<std::string, kScripts> hashes_;

  loop::Timer lease_;
  loop::Timer refresh_;
  loop::Timer hold_;
  loop::Timer show_;
  loop::Timer look_;
  redis::Link link_;
  RedisTail tail_;  // last: it uses the link
};

}  // namespace tidemark::log
