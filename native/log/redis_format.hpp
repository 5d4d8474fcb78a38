// What a shared log writes to Redis: the names of keys, the ids of entries, the terms of a stream, the scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/log/shared_log.hpp"
#include "native/redis/reply.hpp"

namespace tidemark::log {

std::string stream_key(const std::string& name);
/// `first_epoch`: of the generation; another one under the same name has a key of its own.
std::string events_key(const std::string& name, const std::string& first_epoch);
/// The name in a key of the two above; empty where it is none.
std::string name_in(std::string_view key);
std::string replica_key(const std::string& replica);
std::string asked_key(const std::string& replica);

/// EPOCH-SEQ. Redis gives out no id that is not above all before.
struct EntryId {
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();  // in place of a number

  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;

  std::string text() const;
};
std::optional<EntryId> parse_entry_id(std::string_view text);

/// Digits only, below 2^63.
std::optional<std::uint64_t> parse_epoch(std::string_view text);

/// One entry: the events up to and with its id's number, or a stream's end.
struct LogEntry {
  EntryId id;
  std::vector<std::string_view> events;
  std::optional<std::string_view> end_facts;
};
/// Nullopt where it is no entry of ours. Refers to the reply.
std::optional<LogEntry> read_entry(const redis::Reply& reply);

/// A field of a hash, as HGETALL tells it; empty where it is not there.
std::string_view field(const std::vector<redis::Reply>& fields, std::string_view name);

/// `EPOCH:FIRST`, one after another, with blanks between; `EPOCH:FIRST:unsure` for one that is not.
std::string terms_text(const std::vector<Term>& terms);
/// Of a term that is not sure.
inline constexpr std::string_view kUnsure = ":unsure";
std::vector<Term> parse_terms(std::string_view text);

/// Each runs as a whole or not at all, and touches the keys of one stream: KEYS[1] is stream_key(), KEYS[2]
/// events_key().
enum class Script : std::uint8_t {
  Claim,    // owner, epoch, digest, facts, ttl: 1, or all fields where somebody has it
  Reclaim,  // as Claim, then the owner that is gone: 1, or 0 where that one does not have it (any more) or has opened
            // it
  Release,  // owner, epoch: 1, where that one had claimed it and not opened it
  GiveUp,   // owner: 1, where that one had it and it has not ended: nobody has it then
  Put,      // owner, epoch, digest, terms, facts, ttl, id below all of its events: the last entry's id, empty where
            // there is none, or -1 where another replica has it
  End,      // epoch, facts, ttl, id of the end: 1, or -1 where another replica has it, -2 where it is not all there
  Take,     // owner before, epoch before, owner, epoch, terms before, ttl, id of the end of the epoch before, what
            // follows the new term's number: the new terms, or nothing where it belongs to another replica or has ended
};
inline constexpr std::size_t kScripts = 7;
std::string_view source(Script script);

}  // namespace tidemark::log
