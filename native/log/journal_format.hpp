// The bytes of a segment file: a header of 64 bytes, then records. Numbers are little-endian, checksums zlib's CRC-32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "native/log/stream_log.hpp"

namespace tidemark::log {

/// The kernel's name for the time since the machine was started; zeros where it is not known.
using BootId = std::array<std::uint8_t, 16>;

enum class SyncPolicy : std::uint8_t {
  Never,     // the kernel writes when it likes: a crash of the process loses nothing, a power cut may
  Interval,  // what is older than the interval is on the disk
  Always,    // what a reader has seen is on the disk
};

struct SegmentHeader {
  std::uint64_t number = 0;         // from 1 on, without holes
  std::uint64_t previous_size = 0;  // so much of the segment before counts
  BootId boot{};                    // under which it was written
  SyncPolicy sync = SyncPolicy::Never;
  bool rolled = false;          // the segment before was full; else a process, or its disk, began anew
  bool events_missing = false;  // set in place, outside the checksum: streams went on without the journal
};

inline constexpr std::size_t kSegmentHeaderBytes = 64;
inline constexpr std::size_t kEventsMissingAt = 63;
inline constexpr char kEventsMissing = '\0';
inline constexpr std::uint32_t kJournalVersion = 1;

std::string encode(const SegmentHeader& header);

enum class HeaderFault : std::uint8_t {
  Short,    // not all of it is there
  Wrong,    // not a header, or damaged
  Foreign,  // of another version
};
struct DecodedHeader {
  std::optional<HeaderFault> fault;
  SegmentHeader header;  // where there is no fault
};
DecodedHeader decode_header(std::string_view segment);

/// In brackets: what `seq` and the payload are.
enum class RecordKind : std::uint8_t {
  Opened = 1,  // a new stream (0; one byte of OpenFlag, the facts)
  Event,       // (its number; its bytes)
  Facts,       // others in place of those before (0; the facts)
  Ended,       // (the number of its events; milliseconds since 1970 in 8 bytes, the facts)
  Dropped,     // the stream is gone (0; nothing)
  Copy,        // as Opened: all of the stream follows again, up to Copied, and then counts in place of what was before
  Copied,      // (the number of its events; nothing)
};

/// Bits of the first payload byte of Opened and Copy.
inline constexpr std::uint8_t kMayNotGoOn = 1;

struct Record {
  RecordKind kind = RecordKind::Event;
  StreamId stream = 0;
  Seq seq = 0;
  std::string_view payload;
};

inline constexpr std::size_t kRecordHeaderBytes = 32;

/// Appends the record to `out`: length of the payload (4 bytes), its checksum (4), stream (8), seq (8), kind (4),
/// checksum of these 28 bytes (4), payload.
void encode(const Record& record, std::string& out);

std::string encode_u64(std::uint64_t value);
std::uint64_t decode_u64(const char* bytes);

/// Goes through a segment's records.
class RecordReader {
 public:
  enum class End : std::uint8_t {
    Clean,    // behind a whole record
    Torn,     // within a record: a write that was broken off
    Zeroed,   // only zeros follow: a power cut took what the file had been made longer for
    Corrupt,  // a checksum, or a kind that does not exist
  };

  /// `segment`: the whole file, with its header.
  explicit RecordReader(std::string_view segment) : segment_(segment) {}

  /// The next record; nullopt at the end of what counts.
  std::optional<Record> next();
  /// After next(): where the record after this one begins, or the end of what counts.
  std::size_t offset() const { return at_; }
  /// Why next() gave nothing.
  End end() const { return end_; }

 private:
  std::string_view segment_;
  std::size_t at_ = kSegmentHeaderBytes;
  End end_ = End::Clean;
};

}  // namespace tidemark::log
