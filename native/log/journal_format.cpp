// Segment headers and records to bytes and back.
#include "native/log/journal_format.hpp"

#include <zlib.h>

#include <algorithm>

namespace tidemark::log {
namespace {

constexpr std::string_view kMagic = "TIDELOG\n";
constexpr char kNothingMissing = 'W';
constexpr std::size_t kHeaderSumAt = 58;
constexpr std::size_t kRecordSumAt = 28;

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t get(std::string_view in, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(in[at + i]);
  return value;
}

}  // namespace

std::string encode_u64(std::uint64_t value) {
  std::string out;
  put(out, value, 8);
  return out;
}

std::uint64_t decode_u64(const char* bytes) { return get({bytes, 8}, 0, 8); }

std::string encode(const SegmentHeader& header) {
  std::string out(kMagic);
  put(out, kJournalVersion, 4);
  put(out, header.number, 8);
  put(out, header.previous_size, 8);
  out.append(header.boot.begin(), header.boot.end());
  put(out, static_cast<std::uint8_t>(header.sync), 1);
  put(out, header.rolled ? 1 : 0, 1);
  out.resize(kHeaderSumAt, '\0');
  put(out, checksum(out), 4);
  out.resize(kEventsMissingAt, '\0');
  out += header.events_missing ? kEventsMissing : kNothingMissing;
  return out;
}

DecodedHeader decode_header(std::string_view segment) {
  if (segment.size() < kSegmentHeaderBytes) return {HeaderFault::Short, {}};
  if (segment.substr(0, kMagic.size()) != kMagic) return {HeaderFault::Wrong, {}};
  if (get(segment, kHeaderSumAt, 4) != checksum(segment.substr(0, kHeaderSumAt))) return {HeaderFault::Wrong, {}};
  if (get(segment, 8, 4) != kJournalVersion) return {HeaderFault::Foreign, {}};
  SegmentHeader header;
  header.number = get(segment, 12, 8);
  header.previous_size = get(segment, 20, 8);
  for (std::size_t i = 0; i < header.boot.size(); ++i) header.boot[i] = static_cast<std::uint8_t>(segment[28 + i]);
  header.sync = static_cast<SyncPolicy>(segment[44]);
  header.rolled = segment[45] != 0;
  header.events_missing = segment[kEventsMissingAt] != kNothingMissing;
  return {std::nullopt, header};
}

void encode(const Record& record, std::string& out) {
  std::array<char, kRecordHeaderBytes> head;
  const auto set = [&head](std::size_t at, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) head[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  set(0, record.payload.size(), 4);
  set(4, checksum(record.payload), 4);
  set(8, record.stream, 8);
  set(16, static_cast<std::uint64_t>(record.seq), 8);
  set(24, static_cast<std::uint8_t>(record.kind), 4);
  set(kRecordSumAt, checksum({head.data(), kRecordSumAt}), 4);
  out.append(head.data(), head.size()).append(record.payload);
}

std::optional<Record> RecordReader::next() {
  const std::string_view rest = segment_.substr(std::min(at_, segment_.size()));
  const auto stop = [this](End end) {
    end_ = end;
    return std::nullopt;
  };
  if (rest.empty()) return stop(End::Clean);
  if (rest.size() < kRecordHeaderBytes) return stop(End::Torn);
  if (rest.find_first_not_of('\0') == std::string_view::npos) return stop(End::Zeroed);
  if (get(rest, kRecordSumAt, 4) != checksum(rest.substr(0, kRecordSumAt))) return stop(End::Corrupt);
  const std::uint64_t length = get(rest, 0, 4);
  const std::uint64_t kind = get(rest, 24, 4);
  if (kind < static_cast<std::uint64_t>(RecordKind::Opened) || kind > static_cast<std::uint64_t>(RecordKind::Copied)) {
    return stop(End::Corrupt);
  }
  if (length > rest.size() - kRecordHeaderBytes) return stop(End::Torn);
  const std::string_view payload = rest.substr(kRecordHeaderBytes, length);
  if (get(rest, 4, 4) != checksum(payload)) return stop(End::Corrupt);
  at_ += kRecordHeaderBytes + payload.size();
  return Record{static_cast<RecordKind>(kind), get(rest, 8, 8), static_cast<Seq>(get(rest, 16, 8)), payload};
}

}  // namespace tidemark::log
