// The client leg's words: states, modes, causes and ends.
#include "core/session/recoverer.hpp"

namespace tidemark::session {

std::string_view name(RecovererState state) {
  switch (state) {
    case RecovererState::Handshaking:
      return "handshaking";
    case RecovererState::Streaming:
      return "streaming";
    case RecovererState::Compensating:
      return "compensating";
    case RecovererState::Merging:
      return "merging";
    case RecovererState::Finalized:
      return "finalized";
  }
  return "";
}

std::string_view name(RecovererSignal signal) {
  switch (signal) {
    case RecovererSignal::Opened:
      return "opened";
    case RecovererSignal::Joined:
      return "joined";
    case RecovererSignal::Lost:
      return "lost";
    case RecovererSignal::Ended:
      return "ended";
  }
  return "";
}

std::string_view name(ResumeMode mode) {
  switch (mode) {
    case ResumeMode::Auto:
      return "auto";
    case ResumeMode::Tidemark:
      return "tidemark";
    case ResumeMode::Seq:
      return "seq";
    case ResumeMode::LastEventId:
      return "last-event-id";
    case ResumeMode::Tail:
      return "tail";
    case ResumeMode::None:
      return "none";
  }
  return "";
}

std::optional<ResumeMode> resume_mode_from_name(std::string_view text) {
  for (const ResumeMode mode : {ResumeMode::Auto, ResumeMode::Tidemark, ResumeMode::Seq, ResumeMode::LastEventId,
                                ResumeMode::Tail, ResumeMode::None}) {
    if (name(mode) == text) return mode;
  }
  return std::nullopt;
}

std::string_view code(LossCause cause) {
  switch (cause) {
    case LossCause::Network:
      return "network_error";
    case LossCause::Status:
      return "http_status";
    case LossCause::Heartbeat:
      return "heartbeat_timeout";
    case LossCause::EndOfStream:
      return "stream_interrupted";
    case LossCause::Hole:
      return "sequence_hole";
    case LossCause::NotEventStream:
      return "not_event_stream";
  }
  return "";
}

std::string_view name(RecoveredEnd end) {
  switch (end) {
    case RecoveredEnd::Complete:
      return "complete";
    case RecoveredEnd::Stopped:
      return "stopped";
    case RecoveredEnd::Truncated:
      return "truncated";
  }
  return "";
}

}  // namespace tidemark::session
