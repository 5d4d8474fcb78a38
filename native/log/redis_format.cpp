// Keys, ids, terms and scripts.
#include "native/log/redis_format.hpp"

#include <algorithm>
#include <charconv>

namespace tidemark::log {
namespace {

constexpr std::string_view kPrefix = "tidemark:";
constexpr std::string_view kEventField = "e";
constexpr std::string_view kEndField = "end";

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string key_of(const std::string& name, std::string_view what) {
  return std::string(kPrefix).append("{").append(name).append("}").append(what);
}

constexpr std::string_view kClaim = R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('HGETALL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'epoch', ARGV[2], 'digest', ARGV[3], 'facts', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
)lua";

constexpr std::string_view kReclaim = R"lua(
local now = redis.call('HMGET', KEYS[1], 'owner', 'terms')
if now[1] ~= ARGV[6] or now[2] then return 0 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'epoch', ARGV[2], 'digest', ARGV[3], 'facts', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
)lua";

constexpr std::string_view kRelease = R"lua(
local now = redis.call('HMGET', KEYS[1], 'owner', 'epoch', 'terms')
if now[1] ~= ARGV[1] or now[2] ~= ARGV[2] or now[3] then return 0 end
return redis.call('DEL', KEYS[1])
)lua";

constexpr std::string_view kGiveUp = R"lua(
local now = redis.call('HMGET', KEYS[1], 'owner', 'terms', 'ended')
if now[1] ~= ARGV[1] or now[3] then return 0 end
if not now[2] then return redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'owner', '')
return 1
)lua";

// The events' key is there before the first event, so that an epoch can be closed that has none.
constexpr std::string_view kPut = R"lua(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and epoch ~= ARGV[2] then return -1 end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'epoch', ARGV[2], 'digest', ARGV[3], 'terms', ARGV[4], 'facts', ARGV[5])
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('XADD', KEYS[2], ARGV[7], 'none', '')
  redis.call('XDEL', KEYS[2], ARGV[7])
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
return last[1] and last[1][1] or ''
)lua";

constexpr std::string_view kEnd = R"lua(
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch or redis.call('EXISTS', KEYS[2]) == 0 then return -2 end
if epoch ~= ARGV[1] then return -1 end
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 1 end
redis.call('XADD', KEYS[2], ARGV[4], 'end', ARGV[2])
redis.call('HSET', KEYS[1], 'facts', ARGV[2], 'ended', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
)lua";

constexpr std::string_view kTake = R"lua(
local now = redis.call('HMGET', KEYS[1], 'owner', 'epoch', 'ended')
if now[1] ~= ARGV[1] or now[2] ~= ARGV[2] or now[3] then return false end
redis.call('XSETID', KEYS[2], ARGV[7])
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
local first = 0
if last[1] then first = tonumber(string.match(last[1][1], '%-(%d+)$')) + 1 end
local terms = string.format('%s %s:%.0f%s', ARGV[5], ARGV[4], first, ARGV[8])
redis.call('HSET', KEYS[1], 'owner', ARGV[3], 'epoch', ARGV[4], 'terms', terms)
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
return terms
)lua";

}  // namespace

std::string stream_key(const std::string& name) { return key_of(name, ":stream"); }
std::string events_key(const std::string& name, const std::string& first_epoch) {
  return key_of(name, ":events:").append(first_epoch);
}

std::string name_in(std::string_view key) {
  const std::size_t open = key.find('{');
  const std::size_t close = key.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(key.substr(open + 1, close - open - 1));
}

std::string replica_key(const std::string& replica) { return std::string(kPrefix).append("replica:").append(replica); }
std::string asked_key(const std::string& replica) { return replica_key(replica).append(":asked"); }

std::string EntryId::text() const { return std::to_string(epoch).append("-").append(std::to_string(seq)); }

std::optional<EntryId> parse_entry_id(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto epoch = parse_number<std::uint64_t>(text.substr(0, dash));
  const auto seq = parse_number<std::uint64_t>(text.substr(dash + 1));
  if (!epoch || !seq) return std::nullopt;
  return EntryId{*epoch, *seq};
}

std::optional<std::uint64_t> parse_epoch(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  if (!value || *value < 0 || text.front() == '-') return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<LogEntry> read_entry(const redis::Reply& reply) {
  if (reply.items.size() != 2) return std::nullopt;
  const auto id = parse_entry_id(reply.items[0].text);
  const std::vector<redis::Reply>& fields = reply.items[1].items;
  if (!id || fields.empty() || fields.size() % 2 != 0) return std::nullopt;
  LogEntry entry{*id, {}, std::nullopt};
  for (std::size_t i = 0; i < fields.size(); i += 2) {
    if (fields[i].text == kEventField) {
      entry.events.push_back(fields[i + 1].text);
    } else if (fields[i].text == kEndField) {
      entry.end_facts = fields[i + 1].text;
    } else {
      return std::nullopt;
    }
  }
  if (entry.end_facts ? !entry.events.empty() || id->seq != EntryId::kEnd : id->seq + 1 < entry.events.size()) {
    return std::nullopt;
  }
  return entry;
}

std::string_view field(const std::vector<redis::Reply>& fields, std::string_view name) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text == name) return fields[i + 1].text;
  }
  return {};
}

std::string terms_text(const std::vector<Term>& terms) {
  std::string out;
  for (const Term& term : terms) {
    if (!out.empty()) out += ' ';
    out.append(term.epoch).append(":").append(std::to_string(term.first));
    if (!term.sure) out.append(kUnsure);
  }
  return out;
}

std::vector<Term> parse_terms(std::string_view text) {
  std::vector<Term> terms;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t colon = one.find(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view epoch = one.substr(0, colon);
    std::string_view number = one.substr(colon + 1);
    const std::size_t mark = number.find(kUnsure);
    number = number.substr(0, mark);
    const auto first = parse_number<Seq>(number);
    if (!first || !parse_epoch(epoch)) return {};
    terms.push_back({std::string(epoch), *first, mark == std::string_view::npos});
  }
  return terms;
}

std::string_view source(Script script) {
  switch (script) {
    case Script::Claim:
      return kClaim;
    case Script::Reclaim:
      return kReclaim;
    case Script::Release:
      return kRelease;
    case Script::GiveUp:
      return kGiveUp;
    case Script::Put:
      return kPut;
    case Script::End:
      return kEnd;
    case Script::Take:
      return kTake;
  }
  return {};
}

}  // namespace tidemark::log
