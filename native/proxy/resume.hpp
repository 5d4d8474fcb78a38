// Attaching to a stream: where a reader wants to go on, and whether the log has that place (contract § 3.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/dialect/dialect.hpp"
#include "core/seam/watermark.hpp"
#include "native/log/shared_log.hpp"
#include "native/log/stream_log.hpp"

namespace tidemark::proxy {

enum class ResumeError : std::uint8_t {
  Invalid,   // 400 resume_invalid: the watermark is not an integer, or below -1
  Ahead,     // 409 resume_ahead: beyond the log's end
  Mismatch,  // 409 resume_mismatch: another epoch, or another text
  Expired,   // 410 resume_expired: dropped from the log, or the stream is gone
};

/// As the request says it, not yet judged. Empty strings count as absent.
struct ResumeFields {
  std::string resume_seq;        // X-Resume-Seq, `resumeSeq`, ?after=
  std::string last_event_id;     // Last-Event-ID: EPOCH-SEQ, or a number alone
  std::string epoch;             // Tidemark-Epoch
  std::string tail_fingerprint;  // X-Tail-Fingerprint, `tailFingerprint`
  std::string received_length;   // `receivedLength`, in UTF-16 code units
};

struct ResumePoint {
  seam::Seq watermark = seam::kNothing;
  bool asked = false;    // a watermark was given at all
  std::string epoch;     // Tidemark-Epoch; empty: not said
  std::string id_epoch;  // of the watermark's own event, by its id; empty: not said
  std::string tail_fingerprint;
  std::string received_length;
};

/// X-Resume-Seq comes before Last-Event-ID, whose epoch counts where it names the same event.
Result<ResumePoint, ResumeError> read_resume_point(const ResumeFields& fields);

/// Where the reader goes on. The epoch of an id must be a term's, and the watermark's event one that this term or one
/// before it has. So must one that was given by itself, but for terms that are sure: a response may have begun before
/// they did, and brought their events under the epoch that its head names. Precondition: `terms` is not empty. A
/// fingerprint or length that was given is checked against the answer text in the log up to the watermark: cost is
/// linear in that part of the log, and nothing where neither was given.
Result<log::Offset, ResumeError> locate(const ResumePoint& point, const log::StreamLog& log, log::StreamId stream,
                                        const std::vector<log::Term>& terms, dialect::Dialect dialect);

}  // namespace tidemark::proxy
