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

  std::optional<StreamId> open(std::string_view facts) override;
  bool describe(StreamId stream, std::string_view facts) override;
  Append append(StreamId stream, Seq seq, std::string_view bytes) override;
  void end(StreamId stream, TimeMs now, std::string_view facts) override;
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
  std::vector<Restored> take_restored() override { return {}; }
  bool keeps_facts() const override { return false; }
  bool reachable() const override { return true; }
  Usage usage() const override;

  // For a log that keeps its streams elsewhere too, and reads from here.

  /// As append(), but not to be read before show().
  Append store(StreamId stream, Seq seq, std::string_view bytes);
  /// As end(), likewise.
  void close(StreamId stream, TimeMs now);
  /// The events below `next` can be read from now on, and the end where `end` says so. Followers are told.
  void show(StreamId stream, Seq next, bool end);
  /// An empty stream under a number of the caller's. False where there is no room. Precondition: there is none under
  /// it.
  bool restore(StreamId stream);
  /// Gives back the room that the stream has taken for more.
  void fit(StreamId stream);
  /// open() gives no number below `least`.
  void number_from(StreamId least);
  /// `bytes`, in place of those named before, are held for this stream elsewhere. False where there is no room for
  /// them, and nothing has changed.
  bool charge(StreamId stream, std::uint64_t bytes);
  /// Appends event `seq` to `out`, shown or not. Precondition: it is there.
  void copy_event(StreamId stream, Seq seq, std::string& out) const;

 private:
  struct Stream;
  struct EndedStream {
    StreamId id;
    TimeMs remove_at;
  };

  Stream* find(StreamId stream) const;
  bool make_room(std::uint64_t bytes);
  Append store(Stream& stream, Seq seq, std::string_view bytes);
  void close(Stream& stream, StreamId id, TimeMs now);
  void recount(Stream& stream);
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
