// What the segment files of an earlier process say.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "native/log/journal.hpp"
#include "native/observe/logger.hpp"

namespace tidemark::log {

struct FoundStream {
  StreamId id = 0;
  std::uint64_t segment = 0;  // where what counts of it begins
  std::uint64_t offset = 0;
  Seq events = 0;
  std::string facts;
  std::int64_t ended_unix_ms = 0;
  bool ended = false;
  bool broken = false;  // a number is missing in the middle: what comes later does not count
  bool may_go_on = true;
};

struct Found {
  std::deque<Segment> segments;      // each with how many of the streams begin in it
  std::vector<FoundStream> streams;  // by their ids
  StreamId next_id = 1;
};

/// Reads all segments in order. Torn tails are cut off, and segments without a record of which no trace is needed are
/// removed; what else does not count is left as it is and said in one line of `logger`. The error is one line: a file
/// that cannot be read, or one of another version. Memory: one segment and the facts.
Result<Found, std::string> look_through(const std::string& directory, const BootId& boot, observe::Logger& logger);

/// Reads again, and gives the events of the streams in their order, those of one stream each once.
std::string read_events(const std::string& directory, const Found& found,
                        const std::function<void(StreamId, Seq, std::string_view)>& take);

}  // namespace tidemark::log
