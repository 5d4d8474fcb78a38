// The log in files: what is written when, and how it recovers from a failing disk.
#include "native/log/file_log.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tidemark::log {
namespace {

constexpr std::uint64_t kLeastSegment = 65536;
constexpr std::uint64_t kSegmentsInTotal = 8;
constexpr std::size_t kBlock = 262144;           // of a copy, written at once
constexpr std::uint64_t kTurnBytes = 1048576;    // of copies in one turn of the loop
constexpr std::size_t kLargestBuffer = 1048576;  // that is kept
constexpr std::size_t kSpareSegments = 64;
constexpr std::uint64_t kEntryBytes = 160;                    // what the table takes for one, about
constexpr std::uint64_t kCopyBytes = 4 * kRecordHeaderBytes;  // beside facts and events

constexpr std::string_view kWritten = "written";
constexpr std::string_view kSynced = "synced";

FileLogOptions completed(FileLogOptions options) {
  if (!options.sync_file) {
    options.sync_file = [](int fd) { return ::fdatasync(fd) == 0 ? 0 : errno; };
  }
  options.segment_bytes =
      std::min(options.segment_bytes, std::max(kLeastSegment, options.limits.max_total_bytes / kSegmentsInTotal));
  return options;
}

JournalOptions journal_options(const FileLogOptions& options) {
  return {options.sync, options.sync_interval, options.segment_bytes, options.sync_file};
}

std::string with_flags(bool may_go_on, std::string_view facts) {
  std::string out(1, static_cast<char>(may_go_on ? 0 : kMayNotGoOn));
  return out.append(facts);
}

}  // namespace

Result<std::unique_ptr<FileLog>, std::string> FileLog::open(const std::string& path, FileLogOptions options, TimeMs now,
                                                            observe::Logger& logger) {
  auto directory = lock_directory(path);
  if (!directory) return directory.error();
  auto found = look_through(path, present_boot(), logger);
  if (!found) return found.error();
  std::unique_ptr<FileLog> log(
      new FileLog(std::move(directory).value(), found.value(), completed(std::move(options)), logger));
  if (const int error = log->journal_.begin()) {
    return "log directory " + path + " cannot be written: " + std::strerror(error);
  }
  std::string problem = log->restore(path, std::move(found).value(), now);
  if (!problem.empty()) return problem;
  return log;
}

FileLog::FileLog(LockedDirectory directory, const Found& found, FileLogOptions options, observe::Logger& logger)
    : options_(std::move(options)),
      logger_(logger),
      memory_(options_.limits),
      self_(std::make_shared<FileLog*>(this)),
      retry_wait_(options_.retry_first),
      journal_(std::move(directory), found.segments, journal_options(options_),
               {options_.sync_file,
                [post = options_.post, self = std::weak_ptr<FileLog*>(self_)](std::uint64_t position, int error) {
                  post([self, position, error] {
                    if (const auto log = self.lock()) (*log)->synced(position, error);
                  });
                },
                [post = options_.post, self = std::weak_ptr<FileLog*>(self_)] {
                  post([self] {
                    if (const auto log = self.lock()) (*log)->retry();
                  });
                }}) {}

FileLog::~FileLog() = default;

std::string FileLog::restore(const std::string& directory, Found found, TimeMs now) {
  const std::int64_t unix_now = options_.unix_now_ms();
  memory_.number_from(found.next_id);
  for (FoundStream& stream : found.streams) {
    Entry& entry = entries_[stream.id];
    entry.facts = std::move(stream.facts);
    entry.segment = stream.segment;
    entry.ended = stream.ended;
    entry.ended_unix_ms = stream.ended_unix_ms;
    entry.may_go_on = stream.may_go_on;
    grow(entry, kCopyBytes + entry.facts.size());
  }
  const auto time_left = [this, unix_now](const FoundStream& stream) {
    return options_.limits.ttl_ms -
           std::clamp<std::int64_t>(unix_now - stream.ended_unix_ms, 0, options_.limits.ttl_ms);
  };
  std::size_t given_up = 0;
  const auto gives_up = [this, &given_up](StreamId id) {
    ++given_up;
    memory_.drop(id);
    forget(id);
  };
  std::vector<const FoundStream*> kept;
  for (const FoundStream& stream : found.streams) {
    if (stream.ended && time_left(stream) <= 0) {
      forget(stream.id);
    } else if (!memory_.restore(stream.id) ||
               !memory_.charge(stream.id, kEntryBytes + entries_[stream.id].facts.size())) {
      gives_up(stream.id);
    } else {
      kept.push_back(&stream);
    }
  }
  std::string problem = read_events(directory, found, [&](StreamId id, Seq seq, std::string_view bytes) {
    if (!memory_.contains(id)) return;
    if (memory_.store(id, seq, bytes) != Append::Done) return gives_up(id);
    grow(entries_[id], kRecordHeaderBytes + bytes.size());
    const auto& stream = *std::lower_bound(found.streams.begin(), found.streams.end(), id,
                                           [](const FoundStream& one, StreamId wanted) { return one.id < wanted; });
    if (stream.ended && seq + 1 == stream.events) memory_.fit(id);
  });
  if (!problem.empty()) return problem;
  std::stable_sort(kept.begin(), kept.end(), [](const FoundStream* a, const FoundStream* b) {
    return a->ended && b->ended ? a->ended_unix_ms < b->ended_unix_ms : a->ended && !b->ended;
  });
  std::size_t running = 0;
  for (const FoundStream* stream : kept) {
    if (!memory_.contains(stream->id)) continue;
    if (stream->ended) memory_.close(stream->id, now - (options_.limits.ttl_ms - time_left(*stream)));
    running += stream->ended ? 0 : 1;
    memory_.show(stream->id, memory_.next_seq(stream->id), stream->ended);
  }
  for (const FoundStream& stream : found.streams) {
    if (!memory_.contains(stream.id)) continue;
    if (stream.broken) {
      entries_[stream.id].behind = true;
      moving_.push_back(stream.id);
    }
    restored_.push_back({stream.id, entries_[stream.id].facts, stream.ended, stream.may_go_on});
  }
  settle();
  removed_.clear();
  journal_.remove_unused();
  if (!moving_.empty()) post(&FileLog::move_some);
  logger_.write(observe::Level::Info, observe::Line("log opened")
                                          .text("directory", directory)
                                          .number("streams", static_cast<std::int64_t>(restored_.size()))
                                          .number("running", static_cast<std::int64_t>(running))
                                          .number("given_up", static_cast<std::int64_t>(given_up)));
  return {};
}

std::optional<StreamId> FileLog::open(std::string_view facts) {
  const auto id = memory_.open({});
  if (!id || !memory_.charge(*id, kEntryBytes + facts.size())) {
    if (id) memory_.drop(*id);
    settle();
    return std::nullopt;
  }
  Entry& entry = entries_[*id];
  entry.facts = facts;
  grow(entry, kCopyBytes + facts.size());
  entry.behind = !journal_.is_open();
  record(*id, entry, RecordKind::Opened, 0, with_flags(true, facts));
  settle();
  return id;
}

bool FileLog::describe(StreamId id, std::string_view facts) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.ended) return false;
  if (!memory_.charge(id, kEntryBytes + facts.size())) {
    settle();
    return false;
  }
  set_facts(found->second, facts);
  record(id, found->second, RecordKind::Facts, 0, facts);
  settle();
  return true;
}

Append FileLog::append(StreamId id, Seq seq, std::string_view bytes) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return Append::Gone;
  Entry& entry = found->second;
  if (!entry.may_go_on) return Append::OutOfOrder;
  const Append done = memory_.store(id, seq, bytes);
  if (done == Append::Done) {
    grow(entry, kRecordHeaderBytes + bytes.size());
    record(id, entry, RecordKind::Event, seq, bytes);
    reveal(id, entry, seq + 1, false);
  }
  settle();
  return done;
}

void FileLog::end(StreamId id, TimeMs now, std::string_view facts) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.ended) return;
  Entry& entry = found->second;
  // What has ended is kept, even where its last facts are longer than there is room for: then it counts as before.
  memory_.charge(id, kEntryBytes + facts.size());
  set_facts(entry, facts);
  entry.ended = true;
  entry.ended_unix_ms = options_.unix_now_ms();
  memory_.close(id, now);
  record(id, entry, RecordKind::Ended, memory_.next_seq(id),
         encode_u64(static_cast<std::uint64_t>(entry.ended_unix_ms)).append(facts));
  reveal(id, entry, memory_.next_seq(id), true);
  settle();
}

void FileLog::drop(StreamId id) {
  memory_.drop(id);
  settle();
}

void FileLog::expire(TimeMs now) {
  memory_.expire(now);
  settle();
}

std::vector<StreamId> FileLog::take_removed() { return std::exchange(removed_, {}); }

std::vector<Restored> FileLog::take_restored() { return std::exchange(restored_, {}); }

Usage FileLog::usage() const {
  Usage usage = memory_.usage();
  usage.stored = journal_.bytes();
  return usage;
}

/// Readers may see it: at once, or once it is durable where that was asked for.
void FileLog::reveal(StreamId id, const Entry& entry, Seq next, bool end) {
  if (options_.sync != SyncPolicy::Always || entry.behind) return memory_.show(id, next, end);
  unseen_.push_back({entry.position, id, next, end});
}

void FileLog::record(StreamId id, Entry& entry, RecordKind kind, Seq seq, std::string_view payload) {
  if (entry.behind) return;
  buffer_.clear();
  encode({kind, id, seq, payload}, buffer_);
  if (!append_records(buffer_)) {
    entry.behind = true;
    return;
  }
  if (buffer_.capacity() > kLargestBuffer) std::string().swap(buffer_);
  if (entry.segment == 0) begin_at(entry, journal_.present());
  entry.position = journal_.position();
}

/// False where the journal has failed, which has been dealt with.
bool FileLog::append_records(std::string_view records) {
  const int error = journal_.append(records);
  if (error != 0) fail(kWritten, error);
  return error == 0;
}

void FileLog::begin_at(Entry& entry, std::uint64_t segment) {
  if (entry.segment != 0) journal_.remove_stream(entry.segment);
  if (segment != 0) journal_.add_stream(segment);
  entry.segment = segment;
}

void FileLog::grow(Entry& entry, std::size_t bytes) {
  entry.size += bytes;
  size_ += bytes;
}

void FileLog::set_facts(Entry& entry, std::string_view facts) {
  entry.size -= entry.facts.size();
  size_ -= entry.facts.size();
  grow(entry, facts.size());
  entry.facts = facts;
}

/// What memory has dropped goes from the journal too, and what the journal need not keep is moved out of the way.
void FileLog::settle() {
  const std::vector<StreamId> removed = memory_.take_removed();
  for (const StreamId id : removed) {
    forget(id);
    removed_.push_back(id);
  }
  if (!removed.empty()) journal_.remove_unused();
  if (journal_.is_open() && moving_.empty() && !moving_posted_ && take_oldest()) post(&FileLog::move_some);
}

void FileLog::forget(StreamId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry entry = std::move(found->second);
  entries_.erase(found);
  size_ -= entry.size;
  if (entry.segment == 0) return;
  begin_at(entry, 0);
  buffer_.clear();
  encode({RecordKind::Dropped, id, 0, {}}, buffer_);
  if (!journal_.is_open() || !append_records(buffer_)) unrecorded_drops_.push_back(id);
}

void FileLog::post(void (FileLog::*task)()) {
  moving_posted_ = true;
  options_.post([self = std::weak_ptr<FileLog*>(self_), task] {
    if (const auto log = self.lock()) ((*log)->*task)();
  });
}

/// Whether the files hold too much that nobody needs: then the streams of the oldest segment are to be written again.
bool FileLog::take_oldest() {
  const std::uint64_t wanted = std::max(options_.limits.max_total_bytes, size_);
  const bool too_large = journal_.bytes() > 2 * wanted + journal_.segment_bytes();
  const bool too_many =
      journal_.count() > kSpareSegments + 2 * static_cast<std::size_t>(journal_.bytes() / journal_.segment_bytes());
  if (!too_large && !too_many) return false;
  journal_.remove_unused();
  if (journal_.oldest() == journal_.present()) return false;
  for (const auto& [id, entry] : entries_) {
    if (entry.segment == journal_.oldest()) moving_.push_back(id);
  }
  return !moving_.empty();
}

/// One turn of writing again: streams that the journal lacks, or has in a segment that is to go.
void FileLog::move_some() {
  moving_posted_ = false;
  if (!journal_.is_open()) return;
  const std::uint64_t until = journal_.position() + kTurnBytes;
  while (!moving_.empty() && journal_.position() < until) {
    const StreamId id = moving_.front();
    moving_.pop_front();
    const auto found = entries_.find(id);
    if (found == entries_.end()) continue;
    if (!copy(id, found->second)) return;
  }
  journal_.remove_unused();
  if (!moving_.empty()) return post(&FileLog::move_some);
  if (!reachable_) {
    reachable_ = true;
    retry_wait_ = options_.retry_first;
    logger_.write(observe::Level::Info, observe::Line("log is written again"));
  }
  settle();
}

/// False where the journal has failed.
bool FileLog::copy(StreamId id, Entry& entry) {
  const Seq events = memory_.next_seq(id);
  std::uint64_t begins = 0;
  std::string block;
  std::string event;
  encode({RecordKind::Copy, id, 0, with_flags(entry.may_go_on, entry.ended ? std::string_view() : entry.facts)}, block);
  const auto write = [&] {
    if (!append_records(block)) return false;
    if (begins == 0) begins = journal_.present();
    journal_.want_sync();
    block.clear();
    return true;
  };
  for (Seq seq = 0; seq < events; ++seq) {
    event.clear();
    memory_.copy_event(id, seq, event);
    encode({RecordKind::Event, id, seq, event}, block);
    if (block.size() >= kBlock && !write()) return false;
  }
  if (entry.ended) {
    const std::string payload = encode_u64(static_cast<std::uint64_t>(entry.ended_unix_ms)) + entry.facts;
    encode({RecordKind::Ended, id, events, payload}, block);
  }
  encode({RecordKind::Copied, id, events, {}}, block);
  if (!write()) return false;
  begin_at(entry, begins);
  entry.position = journal_.position();
  entry.behind = false;
  return true;
}

void FileLog::fail(std::string_view what, int error) {
  const bool unsynced_is_lost = options_.sync != SyncPolicy::Never || what == kSynced;
  const int unmarked = journal_.abandon();
  failed_at_ = journal_.position();
  for (auto& [id, entry] : entries_) {
    if (!entry.ended || (unsynced_is_lost && entry.position > synced_)) entry.behind = true;
  }
  if (reachable_) {
    observe::Line line("log cannot be " + std::string(what) + ": streams go on from memory");
    line.text("why", std::strerror(error));
    if (unmarked != 0) line.text("not marked", std::strerror(unmarked));
    logger_.write(observe::Level::Error, line);
  }
  reachable_ = false;
  moving_.clear();
  for (const Unseen& one : std::exchange(unseen_, {})) memory_.show(one.stream, one.next, one.end);
  journal_.wake_after(retry_wait_);
  retry_wait_ = std::min(2 * retry_wait_, options_.retry_most);
}

void FileLog::retry() {
  if (journal_.is_open()) return;
  buffer_.clear();
  for (const StreamId id : unrecorded_drops_) encode({RecordKind::Dropped, id, 0, {}}, buffer_);
  if (const int error = journal_.begin()) return fail(kWritten, error);
  if (!buffer_.empty() && !append_records(buffer_)) return;
  unrecorded_drops_.clear();
  moving_.clear();
  for (const auto& [id, entry] : entries_) {
    if (entry.behind) moving_.push_back(id);
  }
  std::sort(moving_.begin(), moving_.end());
  move_some();
}

void FileLog::synced(std::uint64_t position, int error) {
  if (position <= failed_at_) return;
  if (error != 0) return fail(kSynced, error);
  synced_ = std::max(synced_, position);
  journal_.synced(position);
  std::unordered_map<StreamId, Unseen> news;
  for (; !unseen_.empty() && unseen_.front().position <= position; unseen_.pop_front()) {
    Unseen& one = news[unseen_.front().stream];
    one = {0, unseen_.front().stream, unseen_.front().next, one.end || unseen_.front().end};
  }
  for (const auto& [id, one] : news) memory_.show(id, one.next, one.end);
  settle();
}

}  // namespace tidemark::log
