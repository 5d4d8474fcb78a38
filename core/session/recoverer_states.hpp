// The five states of a recovered stream (contract § 1), and the table of their transitions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::session {

enum class RecovererState : std::uint8_t {
  Handshaking,   // the first request is out, no response yet
  Streaming,     // events come in
  Compensating,  // the leg is lost; a retry is waited for or under way
  Merging,       // the new leg is connected; its first event is still to be joined on
  Finalized,     // over; nothing leaves this state
};
inline constexpr int kRecovererStateCount = 5;

/// What moves a stream from state to state.
enum class RecovererSignal : std::uint8_t {
  Opened,  // a response that is an event stream
  Joined,  // the new leg's first event has been taken
  Lost,    // the leg is lost, and will be retried
  Ended,   // the end, good or bad
};
inline constexpr int kRecovererSignalCount = 4;

struct RecovererTransition {
  RecovererState from;
  RecovererSignal on;
  RecovererState to;
};

/// Every legal transition. docs/state-machines.md draws this table.
inline constexpr std::array<RecovererTransition, 11> kRecovererTransitions{{
    {RecovererState::Handshaking, RecovererSignal::Opened, RecovererState::Streaming},
    {RecovererState::Handshaking, RecovererSignal::Lost, RecovererState::Compensating},
    {RecovererState::Handshaking, RecovererSignal::Ended, RecovererState::Finalized},
    {RecovererState::Streaming, RecovererSignal::Lost, RecovererState::Compensating},
    {RecovererState::Streaming, RecovererSignal::Ended, RecovererState::Finalized},
    {RecovererState::Compensating, RecovererSignal::Opened, RecovererState::Merging},
    {RecovererState::Compensating, RecovererSignal::Lost, RecovererState::Compensating},
    {RecovererState::Compensating, RecovererSignal::Ended, RecovererState::Finalized},
    {RecovererState::Merging, RecovererSignal::Joined, RecovererState::Streaming},
    {RecovererState::Merging, RecovererSignal::Lost, RecovererState::Compensating},
    {RecovererState::Merging, RecovererSignal::Ended, RecovererState::Finalized},
}};

constexpr std::optional<RecovererState> next_state(RecovererState from, RecovererSignal on) {
  for (const RecovererTransition& transition : kRecovererTransitions) {
    if (transition.from == from && transition.on == on) return transition.to;
  }
  return std::nullopt;
}

/// "handshaking", "streaming", …
std::string_view name(RecovererState state);
/// "opened", "joined", …
std::string_view name(RecovererSignal signal);

}  // namespace tidemark::session
