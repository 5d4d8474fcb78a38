// The states of a stream on the upstream leg, and the table of their transitions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::session {

enum class RelayState : std::uint8_t {
  Idle,      // not started
  Asking,    // an attempt is out, no head yet
  Peeking,   // the head announces something else than an event stream: the body is looked at
  Holding,   // an event stream without content so far; a failure is repeated in silence
  Flowing,   // content has come; nothing of it can be taken back, but a cut answer may be continued
  Draining,  // the answer's last word has come; stragglers are let in until EOF or a short grace
  Waiting,   // an attempt has failed, or an answer broke off; the next one goes out after a while
  Passing,   // the upstream's own response is handed on byte for byte, past this machine
  Over,      // refused or ended; nothing leaves this state (a log that refuses the last events ends it anew)
};
inline constexpr int kRelayStateCount = 9;

enum class RelaySignal : std::uint8_t {
  Send,       // an attempt goes out
  Stream,     // the head of an event stream, or its first bytes under another name
  OtherBody,  // a head, or first bytes, of something else
  Content,    // content, or an answer that is one without content (a length limit, a content filter)
  LastWord,   // the terminal marker
  Lose,       // the attempt has failed and will be repeated
  HandOn,     // the response is handed on as it is
  Finish,     // refused before the commit, or ended after it; also by an error event
};
inline constexpr int kRelaySignalCount = 8;

struct RelayTransition {
  RelayState from;
  RelaySignal on;
  RelayState to;
};

/// Every legal transition; docs/state-machines.md draws this table.
inline constexpr std::array<RelayTransition, 22> kRelayTransitions{{
    {RelayState::Idle, RelaySignal::Send, RelayState::Asking},
    {RelayState::Idle, RelaySignal::Finish, RelayState::Over},
    {RelayState::Asking, RelaySignal::Stream, RelayState::Holding},
    {RelayState::Asking, RelaySignal::OtherBody, RelayState::Peeking},
    {RelayState::Asking, RelaySignal::Lose, RelayState::Waiting},
    {RelayState::Asking, RelaySignal::Finish, RelayState::Over},
    {RelayState::Peeking, RelaySignal::Stream, RelayState::Holding},
    {RelayState::Peeking, RelaySignal::HandOn, RelayState::Passing},
    {RelayState::Peeking, RelaySignal::Lose, RelayState::Waiting},
    {RelayState::Peeking, RelaySignal::Finish, RelayState::Over},
    {RelayState::Holding, RelaySignal::OtherBody, RelayState::Peeking},
    {RelayState::Holding, RelaySignal::Content, RelayState::Flowing},
    {RelayState::Holding, RelaySignal::LastWord, RelayState::Draining},
    {RelayState::Holding, RelaySignal::Lose, RelayState::Waiting},
    {RelayState::Holding, RelaySignal::Finish, RelayState::Over},
    {RelayState::Flowing, RelaySignal::LastWord, RelayState::Draining},
    {RelayState::Flowing, RelaySignal::Lose, RelayState::Waiting},
    {RelayState::Flowing, RelaySignal::Finish, RelayState::Over},
    {RelayState::Draining, RelaySignal::Finish, RelayState::Over},
    {RelayState::Waiting, RelaySignal::Send, RelayState::Asking},
    {RelayState::Waiting, RelaySignal::Finish, RelayState::Over},
    {RelayState::Over, RelaySignal::Finish, RelayState::Over},
}};

constexpr std::optional<RelayState> next_state(RelayState from, RelaySignal on) {
  for (const RelayTransition& transition : kRelayTransitions) {
    if (transition.from == from && transition.on == on) return transition.to;
  }
  return std::nullopt;
}

/// "idle", "asking", …
std::string_view name(RelayState state);
/// "send", "stream", …
std::string_view name(RelaySignal signal);

}  // namespace tidemark::session
