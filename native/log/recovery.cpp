// From segments to streams.
#include "native/log/recovery.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

namespace tidemark::log {
namespace {

constexpr std::size_t kNameDigits = 16;
constexpr std::string_view kNameEnd = ".log";

Result<std::vector<std::uint64_t>, std::string> segment_numbers(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), &::closedir);
  if (!entries) return "log directory " + directory + " cannot be read: " + std::strerror(errno);
  std::vector<std::uint64_t> numbers;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name.size() != kNameDigits + kNameEnd.size() || name.substr(kNameDigits) != kNameEnd) continue;
    const std::string digits(name.substr(0, kNameDigits));
    if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    numbers.push_back(std::strtoull(digits.c_str(), nullptr, 16));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// Why a segment may lack events that readers have seen; empty where it can't.
std::string_view doubt(const SegmentHeader& header, RecordReader::End end, const BootId& boot) {
  const bool same_boot = header.boot == boot && boot != BootId{};
  if (header.events_missing) return "events are missing, as the log could not be written";
  if (end == RecordReader::End::Corrupt) return "damaged";
  if (end == RecordReader::End::Zeroed && same_boot) return "damaged";
  if (!same_boot && header.sync != SyncPolicy::Always) return "the machine was started anew";
  return {};
}

/// Follows the records of all streams.
class Tracker {
 public:
  void begin_segment(std::uint64_t number, bool rolled) {
    segment_ = number;
    if (!rolled) copies_.clear();
  }

  void take(const Record& record, std::uint64_t offset) {
    next_id_ = std::max(next_id_, record.stream + 1);
    switch (record.kind) {
      case RecordKind::Opened:
        copies_.erase(record.stream);
        streams_[record.stream] = opened(record, offset);
        return;
      case RecordKind::Copy:
        copies_[record.stream] = opened(record, offset);
        return;
      case RecordKind::Dropped:
        copies_.erase(record.stream);
        streams_.erase(record.stream);
        return;
      case RecordKind::Copied: {
        const auto copy = copies_.find(record.stream);
        if (copy == copies_.end()) return;
        if (!copy->second.broken && copy->second.events == record.seq) {
          streams_[record.stream] = std::move(copy->second);
        }
        copies_.erase(copy);
        return;
      }
      case RecordKind::Event:
      case RecordKind::Facts:
      case RecordKind::Ended:
        if (FoundStream* stream = find(record.stream)) add(*stream, record);
        return;
    }
  }

  /// What comes next is not what followed: streams that have not ended by here may lack events.
  void lose_sight() {
    for (auto* streams : {&streams_, &copies_}) {
      for (auto& [id, stream] : *streams) {
        if (!stream.ended) stream.may_go_on = false;
      }
    }
  }

  std::size_t running() const {
    return static_cast<std::size_t>(
        std::count_if(streams_.begin(), streams_.end(), [](const auto& entry) { return !entry.second.ended; }));
  }

  Found take_found(std::deque<Segment> segments) {
    Found found;
    found.next_id = next_id_;
    for (auto& [id, stream] : streams_) {
      if (stream.broken) stream.may_go_on = false;
      found.streams.push_back(std::move(stream));
    }
    std::sort(found.streams.begin(), found.streams.end(),
              [](const FoundStream& a, const FoundStream& b) { return a.id < b.id; });
    found.segments = std::move(segments);
    return found;
  }

 private:
  FoundStream opened(const Record& record, std::uint64_t offset) const {
    FoundStream stream;
    stream.id = record.stream;
    stream.segment = segment_;
    stream.offset = offset;
    if (record.payload.empty()) {
      stream.broken = true;
      return stream;
    }
    stream.may_go_on = (static_cast<std::uint8_t>(record.payload[0]) & kMayNotGoOn) == 0;
    stream.facts = record.payload.substr(1);
    return stream;
  }

  FoundStream* find(StreamId id) {
    const auto copy = copies_.find(id);
    if (copy != copies_.end()) return &copy->second;
    const auto stream = streams_.find(id);
    return stream == streams_.end() ? nullptr : &stream->second;
  }

  static void add(FoundStream& stream, const Record& record) {
    const bool in_order = record.kind == RecordKind::Facts || record.seq == stream.events;
    const bool whole = record.kind != RecordKind::Ended || record.payload.size() >= 8;
    if (stream.broken || stream.ended || !in_order || !whole) {
      stream.broken |= !stream.ended;
      return;
    }
    if (record.kind == RecordKind::Event) {
      ++stream.events;
    } else if (record.kind == RecordKind::Facts) {
      stream.facts = record.payload;
    } else {
      stream.ended = true;
      stream.ended_unix_ms = static_cast<std::int64_t>(decode_u64(record.payload.data()));
      stream.facts = record.payload.substr(8);
    }
  }

  std::unordered_map<StreamId, FoundStream> streams_;
  std::unordered_map<StreamId, FoundStream> copies_;  // not whole yet
  std::uint64_t segment_ = 0;
  StreamId next_id_ = 1;
};

void say_doubt(observe::Logger& logger, const std::string& path, std::string_view why, std::uint64_t ignored,
               std::size_t running) {
  if (running == 0 && ignored == 0) return;
  logger.write(observe::Level::Warning, observe::Line("log segment is not whole")
                                            .text("file", path)
                                            .text("why", why)
                                            .number("bytes_ignored", static_cast<std::int64_t>(ignored))
                                            .number("streams_not_continued", static_cast<std::int64_t>(running)));
}

}  // namespace

Result<Found, std::string> look_through(const std::string& directory, const BootId& boot, observe::Logger& logger) {
  const auto numbers = segment_numbers(directory);
  if (!numbers) return numbers.error();
  Tracker tracker;
  std::deque<Segment> segments;
  std::string bytes;
  for (const std::uint64_t number : numbers.value()) {
    const std::string path = segment_path(directory, number);
    if (const int error = read_file(path, bytes))
      return "log file " + path + " cannot be read: " + std::strerror(error);
    const DecodedHeader decoded = decode_header(bytes);
    const bool last = number == numbers.value().back();
    if (decoded.fault == HeaderFault::Foreign) return "log file " + path + " is of another version";
    if (decoded.fault == HeaderFault::Short && last) {
      // Its process died over the first bytes.
      ::unlink(path.c_str());
      continue;
    }
    const std::uint64_t expected = segments.empty() ? number : segments.back().number + 1;
    if (decoded.fault || decoded.header.number != number || number != expected) {
      tracker.lose_sight();
    } else if (!segments.empty() && decoded.header.previous_size != segments.back().size) {
      tracker.lose_sight();
      say_doubt(logger, segment_path(directory, segments.back().number), "its end is missing", 0, tracker.running());
    }
    if (decoded.fault || decoded.header.number != number) {
      segments.push_back({number, 0, bytes.size(), 0});
      say_doubt(logger, path, "damaged", bytes.size(), tracker.running());
      continue;
    }
    tracker.begin_segment(number, decoded.header.rolled);
    RecordReader reader(bytes);
    std::size_t at = reader.offset();
    while (const auto record = reader.next()) {
      tracker.take(*record, at);
      at = reader.offset();
    }
    const std::string_view why = doubt(decoded.header, reader.end(), boot);
    if (!why.empty()) tracker.lose_sight();
    std::uint64_t size = bytes.size();
    if (reader.end() == RecordReader::End::Torn && ::truncate(path.c_str(), static_cast<off_t>(at)) == 0) size = at;
    if (!why.empty() || at < bytes.size()) {
      say_doubt(logger, path, why.empty() ? "its last write was broken off" : why, bytes.size() - at,
                why.empty() ? 0 : tracker.running());
    }
    segments.push_back({number, at, size, 0});
  }
  Found found = tracker.take_found(std::move(segments));
  for (const FoundStream& stream : found.streams) {
    const auto begins = std::find_if(found.segments.begin(), found.segments.end(),
                                     [&stream](const Segment& segment) { return segment.number == stream.segment; });
    ++begins->streams;
  }
  return found;
}

std::string read_events(const std::string& directory, const Found& found,
                        const std::function<void(StreamId, Seq, std::string_view)>& take) {
  struct Progress {
    const FoundStream* stream;
    Seq next;
  };
  std::unordered_map<StreamId, Progress> streams;
  for (const FoundStream& stream : found.streams) streams.emplace(stream.id, Progress{&stream, 0});
  std::string bytes;
  for (const Segment& segment : found.segments) {
    if (segment.size == 0) continue;
    const std::string path = segment_path(directory, segment.number);
    if (const int error = read_file(path, bytes))
      return "log file " + path + " cannot be read: " + std::strerror(error);
    RecordReader reader(bytes);
    for (std::size_t at = reader.offset(); at < segment.size; at = reader.offset()) {
      const auto record = reader.next();
      if (!record) break;
      if (record->kind != RecordKind::Event) continue;
      const auto one = streams.find(record->stream);
      if (one == streams.end()) continue;
      Progress& progress = one->second;
      const bool counts =
          std::pair(segment.number, std::uint64_t{at}) > std::pair(progress.stream->segment, progress.stream->offset);
      if (!counts || record->seq != progress.next || progress.next >= progress.stream->events) continue;
      take(record->stream, progress.next++, record->payload);
    }
  }
  return {};
}

}  // namespace tidemark::log
