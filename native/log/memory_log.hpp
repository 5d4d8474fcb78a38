// The log in this process's memory: each stream a chain of chunks that grow with it, and an index of its events' ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "native/log/stream_log.hpp"

namespace tidemark::log {

/// Append and read take constant time but for finding the chunk, which is logarithmic in their number. A short stream
/// costs under 1 KiB beside its events; chunks double up to 64 KiB, and are cut to fit when the stream ends.
class MemoryLog final : public StreamLog {
 public:
  explicit MemoryLog(Limits limits);
  ~MemoryLog() override;

  std::optional<StreamId> open() override;
  Append append(StreamId stream, Seq seq, std::string_view bytes) override;
  void end(StreamId stream, TimeMs now) override;
  void drop(StreamId stream) override;
  bool contains(StreamId stream) const override;
  Seq next_seq(StreamId stream) const override;
  std::optional<Offset> offset_above(StreamId stream, Seq watermark) const override;
  Read read(StreamId stream, Offset from) const override;
  void follow(StreamId stream, Follower& follower) override;
  void unfollow(StreamId stream, Follower& follower) override;
  void expire(TimeMs now) override;
  TimeMs next_deadline() const override;
  std::vector<StreamId> take_removed() override;
  bool reachable() const override { return true; }
  Usage usage() const override;

 private:
  struct Stream;
  struct EndedStream {
    StreamId id;
    TimeMs remove_at;
  };

  Stream* find(StreamId stream) const;
  bool make_room(std::uint64_t bytes);
  void grow(Stream& stream, std::size_t at_least);
  void notify(Stream& stream);
  void remove(StreamId id);

  Limits limits_;
  std::unordered_map<StreamId, std::unique_ptr<Stream>> streams_;
  std::deque<EndedStream> ended_;  // oldest first; may name streams that are gone
  std::vector<StreamId> removed_;
  StreamId next_id_ = 1;
  std::uint64_t held_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace tidemark::log
