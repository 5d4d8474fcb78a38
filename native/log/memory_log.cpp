// The log in memory.
#include "native/log/memory_log.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace tidemark::log {
namespace {

constexpr std::size_t kFirstChunk = 512;
constexpr std::size_t kLargestChunk = 65536;
constexpr std::size_t kMapNode = 64;  // what the table of streams takes for one, about

}  // namespace

struct MemoryLog::Stream {
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::uint32_t start = 0;  // offset of its first byte in the stream
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
  };

  std::vector<Chunk> chunks;
  std::vector<std::uint32_t> ends;  // ends[i]: offset of the byte after event i
  std::vector<Follower*> followers;
  std::uint64_t held = 0;     // what it counts for in MemoryLog::held_
  std::uint64_t charged = 0;  // of that, what is held for it elsewhere
  std::uint32_t shown = 0;    // events that can be read
  bool ended = false;
  bool end_shown = false;
  bool notifying = false;

  std::uint32_t size() const { return ends.empty() ? 0 : ends.back(); }
  std::uint32_t shown_size() const { return shown == 0 ? 0 : ends[shown - 1]; }

  std::uint64_t footprint() const {
    std::uint64_t total = sizeof(Stream) + kMapNode + charged + chunks.capacity() * sizeof(Chunk) +
                          ends.capacity() * sizeof(std::uint32_t);
    for (const Chunk& chunk : chunks) total += chunk.capacity;
    return total;
  }

  std::size_t room() const { return chunks.empty() ? 0 : chunks.back().capacity - chunks.back().size; }

  std::size_t next_chunk() const {
    return chunks.empty() ? kFirstChunk : std::min<std::size_t>(kLargestChunk, std::size_t{chunks.back().capacity} * 2);
  }

  /// Precondition: `at` is within the stream.
  const Chunk& chunk_at(Offset at) const {
    const auto after = std::upper_bound(chunks.begin(), chunks.end(), at,
                                        [](Offset place, const Chunk& chunk) { return place < chunk.start; });
    return *(after - 1);
  }

  void write(std::string_view bytes) {
    Chunk& chunk = chunks.back();
    std::memcpy(chunk.bytes.get() + chunk.size, bytes.data(), bytes.size());
    chunk.size += static_cast<std::uint32_t>(bytes.size());
  }

  void cut_to_fit() {
    ends.shrink_to_fit();
    if (chunks.empty() || room() == 0) return;
    Chunk& last = chunks.back();
    auto smaller = std::make_unique<char[]>(last.size);
    std::memcpy(smaller.get(), last.bytes.get(), last.size);
    last.bytes = std::move(smaller);
    last.capacity = last.size;
  }
};

MemoryLog::MemoryLog(Limits limits) : limits_(limits) {
  limits_.max_stream_bytes =
      std::min<std::uint64_t>(limits_.max_stream_bytes, std::numeric_limits<std::uint32_t>::max());
}
MemoryLog::~MemoryLog() = default;

MemoryLog::Stream* MemoryLog::find(StreamId stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second.get();
}

std::optional<StreamId> MemoryLog::open(std::string_view /*facts*/) {
  const StreamId id = next_id_;
  return restore(id) ? std::optional(id) : std::nullopt;
}

bool MemoryLog::restore(StreamId id) {
  if (!make_room(sizeof(Stream) + kMapNode)) return false;
  auto stream = std::make_unique<Stream>();
  stream->held = stream->footprint();
  held_ += stream->held;
  streams_.emplace(id, std::move(stream));
  number_from(id + 1);
  return true;
}

void MemoryLog::number_from(StreamId least) { next_id_ = std::max(next_id_, least); }

bool MemoryLog::describe(StreamId id, std::string_view /*facts*/) {
  const Stream* stream = find(id);
  return stream != nullptr && !stream->ended;
}

bool MemoryLog::charge(StreamId id, std::uint64_t bytes) {
  Stream* stream = find(id);
  if (stream == nullptr) return false;
  if (bytes > stream->charged && !make_room(bytes - stream->charged)) return false;
  stream = find(id);  // what has ended may have gone to make room
  if (stream == nullptr) return false;
  stream->charged = bytes;
  recount(*stream);
  return true;
}

void MemoryLog::fit(StreamId id) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  stream->cut_to_fit();
  recount(*stream);
}

void MemoryLog::recount(Stream& stream) {
  held_ -= stream.held;
  stream.held = stream.footprint();
  held_ += stream.held;
}

/// Ended streams go, oldest first, until `bytes` more fit.
bool MemoryLog::make_room(std::uint64_t bytes) {
  while (held_ + bytes > limits_.max_total_bytes) {
    if (ended_.empty()) return false;
    const StreamId oldest = ended_.front().id;
    ended_.pop_front();
    if (!contains(oldest)) continue;
    ++dropped_;
    remove(oldest);
  }
  return true;
}

void MemoryLog::grow(Stream& stream, std::size_t at_least) {
  const std::size_t capacity = std::max(stream.next_chunk(), at_least);
  Stream::Chunk chunk;
  chunk.bytes.reset(new char[capacity]);
  chunk.start = stream.chunks.empty() ? 0 : stream.chunks.back().start + stream.chunks.back().size;
  chunk.capacity = static_cast<std::uint32_t>(capacity);
  stream.chunks.push_back(std::move(chunk));
}

Append MemoryLog::append(StreamId id, Seq seq, std::string_view bytes) {
  Stream* stream = find(id);
  if (stream == nullptr) return Append::Gone;
  const Append done = store(*stream, seq, bytes);
  if (done != Append::Done) return done;
  stream->shown = static_cast<std::uint32_t>(stream->ends.size());
  notify(*stream);
  return done;
}

Append MemoryLog::store(StreamId id, Seq seq, std::string_view bytes) {
  Stream* stream = find(id);
  return stream == nullptr ? Append::Gone : store(*stream, seq, bytes);
}

Append MemoryLog::store(Stream& stream, Seq seq, std::string_view bytes) {
  if (stream.ended || seq != static_cast<Seq>(stream.ends.size())) return Append::OutOfOrder;
  if (stream.size() + bytes.size() > limits_.max_stream_bytes) return Append::StreamFull;

  const std::size_t fits = std::min(stream.room(), bytes.size());
  const std::size_t rest = bytes.size() - fits;
  std::uint64_t more = rest > 0 ? std::max(stream.next_chunk(), rest) : 0;
  if (rest > 0 && stream.chunks.size() == stream.chunks.capacity()) {
    more += std::max<std::size_t>(1, stream.chunks.capacity()) * sizeof(Stream::Chunk);
  }
  if (stream.ends.size() == stream.ends.capacity()) {
    more += std::max<std::size_t>(1, stream.ends.capacity()) * sizeof(std::uint32_t);
  }
  if (more > 0 && !make_room(more)) return Append::LogFull;

  if (fits > 0) stream.write(bytes.substr(0, fits));
  if (rest > 0) {
    grow(stream, rest);
    stream.write(bytes.substr(fits));
  }
  stream.ends.push_back(stream.size() + static_cast<std::uint32_t>(bytes.size()));
  if (more > 0) recount(stream);
  return Append::Done;
}

void MemoryLog::end(StreamId id, TimeMs now, std::string_view /*facts*/) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->ended) return;
  close(*stream, id, now);
  stream->end_shown = true;
  notify(*stream);
}

void MemoryLog::close(StreamId id, TimeMs now) {
  Stream* stream = find(id);
  if (stream != nullptr && !stream->ended) close(*stream, id, now);
}

void MemoryLog::close(Stream& stream, StreamId id, TimeMs now) {
  stream.ended = true;
  stream.cut_to_fit();
  recount(stream);
  ended_.push_back({id, now + limits_.ttl_ms});
}

void MemoryLog::show(StreamId id, Seq next, bool end) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  stream->shown = std::max(stream->shown, static_cast<std::uint32_t>(next));
  stream->end_shown |= end;
  notify(*stream);
}

void MemoryLog::copy_event(StreamId id, Seq seq, std::string& out) const {
  const Stream& stream = *find(id);
  const auto number = static_cast<std::size_t>(seq);
  const Offset end = stream.ends[number];
  for (Offset at = number == 0 ? 0 : stream.ends[number - 1]; at < end;) {
    const Stream::Chunk& chunk = stream.chunk_at(at);
    const std::size_t skip = at - chunk.start;
    const std::size_t count = std::min<std::size_t>(chunk.size - skip, end - at);
    out.append(chunk.bytes.get() + skip, count);
    at += count;
  }
}

void MemoryLog::drop(StreamId id) {
  if (contains(id)) remove(id);
}

void MemoryLog::remove(StreamId id) {
  const auto found = streams_.find(id);
  const std::unique_ptr<Stream> stream = std::move(found->second);
  streams_.erase(found);
  held_ -= stream->held;
  removed_.push_back(id);
  notify(*stream);
}

void MemoryLog::notify(Stream& stream) {
  stream.notifying = true;
  for (std::size_t i = 0; i < stream.followers.size(); ++i) {
    if (stream.followers[i] != nullptr) stream.followers[i]->log_changed();
  }
  stream.notifying = false;
  stream.followers.erase(std::remove(stream.followers.begin(), stream.followers.end(), nullptr),
                         stream.followers.end());
}

bool MemoryLog::contains(StreamId stream) const { return find(stream) != nullptr; }

Seq MemoryLog::next_seq(StreamId id) const {
  const Stream* stream = find(id);
  return stream == nullptr ? 0 : static_cast<Seq>(stream->ends.size());
}

std::optional<Offset> MemoryLog::offset_above(StreamId id, Seq watermark) const {
  const Stream* stream = find(id);
  if (stream == nullptr || watermark < seam::kNothing || watermark >= static_cast<Seq>(stream->shown)) {
    return std::nullopt;
  }
  return watermark == seam::kNothing ? 0 : stream->ends[static_cast<std::size_t>(watermark)];
}

Read MemoryLog::read(StreamId id, Offset from) const {
  const Stream* stream = find(id);
  if (stream == nullptr) return {};
  const std::uint32_t size = stream->shown_size();
  if (from >= size) return {stream->end_shown ? Read::State::Ended : Read::State::Waiting, {}};
  const Stream::Chunk& chunk = stream->chunk_at(from);
  const std::size_t skip = from - chunk.start;
  return {Read::State::Bytes, {chunk.bytes.get() + skip, std::min(chunk.start + chunk.size, size) - from}};
}

void MemoryLog::follow(StreamId id, Follower& follower) {
  if (Stream* stream = find(id)) stream->followers.push_back(&follower);
}

void MemoryLog::unfollow(StreamId id, Follower& follower) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  const auto found = std::find(stream->followers.begin(), stream->followers.end(), &follower);
  if (found == stream->followers.end()) return;
  if (stream->notifying) {
    *found = nullptr;
  } else {
    *found = stream->followers.back();
    stream->followers.pop_back();
  }
}

void MemoryLog::expire(TimeMs now) {
  while (!ended_.empty() && (ended_.front().remove_at <= now || !contains(ended_.front().id))) {
    const StreamId id = ended_.front().id;
    ended_.pop_front();
    drop(id);
  }
}

TimeMs MemoryLog::next_deadline() const { return ended_.empty() ? kNever : ended_.front().remove_at; }

std::vector<StreamId> MemoryLog::take_removed() { return std::exchange(removed_, {}); }

Usage MemoryLog::usage() const { return {streams_.size(), held_, dropped_, 0}; }

}  // namespace tidemark::log
