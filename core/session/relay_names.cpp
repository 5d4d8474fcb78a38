// The upstream leg's words: states, signals, ends and reasons.
#include "core/session/relay.hpp"

namespace tidemark::session {

std::string_view name(RelayState state) {
  switch (state) {
    case RelayState::Idle:
      return "idle";
    case RelayState::Asking:
      return "asking";
    case RelayState::Peeking:
      return "peeking";
    case RelayState::Holding:
      return "holding";
    case RelayState::Flowing:
      return "flowing";
    case RelayState::Draining:
      return "draining";
    case RelayState::Waiting:
      return "waiting";
    case RelayState::Passing:
      return "passing";
    case RelayState::Over:
      return "over";
  }
  return "";
}

std::string_view name(RelaySignal signal) {
  switch (signal) {
    case RelaySignal::Send:
      return "send";
    case RelaySignal::Stream:
      return "stream";
    case RelaySignal::OtherBody:
      return "other-body";
    case RelaySignal::Content:
      return "content";
    case RelaySignal::LastWord:
      return "last-word";
    case RelaySignal::Lose:
      return "lose";
    case RelaySignal::HandOn:
      return "hand-on";
    case RelaySignal::Finish:
      return "finish";
  }
  return "";
}

std::string_view name(Loss loss) {
  switch (loss) {
    case Loss::Unreachable:
      return "unreachable";
    case Loss::Status:
      return "status";
    case Loss::Key:
      return "key";
    case Loss::Empty:
      return "empty";
    case Loss::ErrorEvent:
      return "error-event";
    case Loss::Silent:
      return "silent";
    case Loss::Challenge:
      return "challenge";
    case Loss::Cut:
      return "cut";
  }
  return "";
}

std::string_view name(CommitCause cause) {
  switch (cause) {
    case CommitCause::None:
      return "none";
    case CommitCause::Content:
      return "content";
    case CommitCause::Progress:
      return "progress";
    case CommitCause::HoldMax:
      return "hold-max";
    case CommitCause::Stop:
      return "stop";
  }
  return "";
}

std::string_view name(EndState state) {
  switch (state) {
    case EndState::Complete:
      return "complete";
    case EndState::Stopped:
      return "stopped";
    case EndState::Truncated:
      return "truncated";
    case EndState::Failed:
      return "failed";
  }
  return "";
}

std::string_view name(EndReason reason) {
  switch (reason) {
    case EndReason::TerminalMarker:
      return "terminal-marker";
    case EndReason::EndOfBody:
      return "end-of-body";
    case EndReason::ClientStop:
      return "client-stop";
    case EndReason::SynthesizedStop:
      return "synthesized-stop";
    case EndReason::PromotedReasoning:
      return "promoted-reasoning";
    case EndReason::UpstreamError:
      return "upstream-error";
    case EndReason::UpstreamEmpty:
      return "upstream-empty";
    case EndReason::UpstreamTimeout:
      return "upstream-timeout";
    case EndReason::UpstreamChallenge:
      return "upstream-challenge";
    case EndReason::OpenToolCall:
      return "open-tool-call";
    case EndReason::SeamRefused:
      return "seam-refused";
    case EndReason::LogLimit:
      return "log-limit";
    case EndReason::Shutdown:
      return "shutdown";
  }
  return "";
}

std::optional<EndState> end_state_from_name(std::string_view text) {
  for (const EndState state : {EndState::Complete, EndState::Stopped, EndState::Truncated, EndState::Failed}) {
    if (name(state) == text) return state;
  }
  return std::nullopt;
}

std::optional<EndReason> end_reason_from_name(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(EndReason::Shutdown); ++i) {
    const auto reason = static_cast<EndReason>(i);
    if (name(reason) == text) return reason;
  }
  return std::nullopt;
}

}  // namespace tidemark::session
