// Resume points.
#include "native/proxy/resume.hpp"

#include <algorithm>
#include <iterator>

#include "core/dialect/interpreter.hpp"
#include "core/seam/tail_fingerprint.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::proxy {
namespace {

/// The tail of the answer text in the log's first `end` bytes.
seam::Tail tail_of(const log::StreamLog& log, log::StreamId stream, log::Offset end, dialect::Dialect dialect) {
  seam::Tail tail;
  // What is in the log has passed the limits once.
  sse::Parser parser({SIZE_MAX, SIZE_MAX});
  dialect::Interpreter interpreter(dialect);
  sse::Event event;
  for (log::Offset at = 0; at < end;) {
    const log::Read read = log.read(stream, at);
    if (read.state != log::Read::State::Bytes) break;
    const std::string_view bytes = read.bytes.substr(0, end - at);
    at += bytes.size();
    parser.feed(bytes);
    for (;;) {
      const sse::Step step = parser.next(event);
      if (step == sse::Step::Event) {
        tail.append(interpreter.interpret(event).text);
      } else if (step != sse::Step::Comment) {
        break;
      }
    }
  }
  return tail;
}

/// What a term wrote beyond the beginning of the next was never a part of this stream.
bool holds(const std::string& epoch, bool of_the_event, seam::Seq watermark, const std::vector<log::Term>& terms) {
  const auto term =
      std::find_if(terms.begin(), terms.end(), [&epoch](const log::Term& one) { return one.epoch == epoch; });
  if (term == terms.end()) return false;
  return std::all_of(std::next(term), terms.end(), [of_the_event, watermark](const log::Term& later) {
    return watermark < later.first || (later.sure && !of_the_event);
  });
}

}  // namespace

Result<ResumePoint, ResumeError> read_resume_point(const ResumeFields& fields) {
  ResumePoint point;
  point.epoch = fields.epoch;
  point.tail_fingerprint = fields.tail_fingerprint;
  point.received_length = fields.received_length;
  if (!fields.resume_seq.empty()) {
    const auto watermark = seam::parse_watermark(fields.resume_seq);
    if (!watermark) return ResumeError::Invalid;
    point.watermark = *watermark;
    point.asked = true;
    const auto id = seam::parse_event_id(fields.last_event_id);
    if (id && id->seq == point.watermark) point.id_epoch = id->epoch;
  } else if (!fields.last_event_id.empty()) {
    if (const auto id = seam::parse_event_id(fields.last_event_id)) {
      point.watermark = id->seq;
      point.id_epoch = id->epoch;
    } else if (const auto watermark = seam::parse_watermark(fields.last_event_id)) {
      point.watermark = *watermark;
    } else {
      return ResumeError::Invalid;
    }
    point.asked = true;
  }
  return point;
}

Result<log::Offset, ResumeError> locate(const ResumePoint& point, const log::StreamLog& log, log::StreamId stream,
                                        const std::vector<log::Term>& terms, dialect::Dialect dialect) {
  if (!log.contains(stream)) return ResumeError::Expired;
  if (!point.epoch.empty() && !holds(point.epoch, false, point.watermark, terms)) return ResumeError::Mismatch;
  if (!point.id_epoch.empty() && !holds(point.id_epoch, true, point.watermark, terms)) return ResumeError::Mismatch;
  const auto offset = log.offset_above(stream, point.watermark);
  if (!offset) return ResumeError::Ahead;
  if (!point.tail_fingerprint.empty() || !point.received_length.empty()) {
    const seam::Tail tail = tail_of(log, stream, *offset, dialect);
    if (!point.tail_fingerprint.empty() && point.tail_fingerprint != seam::to_hex(tail.fingerprint())) {
      return ResumeError::Mismatch;
    }
    if (!point.received_length.empty() && point.received_length != std::to_string(tail.utf16_length())) {
      return ResumeError::Mismatch;
    }
  }
  return *offset;
}

}  // namespace tidemark::proxy
