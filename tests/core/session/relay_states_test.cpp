// The table of the upstream leg's states: complete, and as the documentation draws it.
#include "core/session/relay_states.hpp"

#include "tests/state_table.hpp"

namespace tidemark::session {
namespace {

const test::StateTable table(kRelayTransitions, kRelayStateCount, kRelaySignalCount);

TEST_CASE("relay: the table is sound, and the documentation draws it") {
  table.check_pairs();
  table.check_names();
  table.check_diagram("The upstream leg", RelayState::Idle);
}

TEST_CASE("relay: what the contract forbids is not in the table") {
  // Content is never taken back (§ 4, rules 1 and 2): after the last word nothing is asked for again.
  CHECK_FALSE(next_state(RelayState::Draining, RelaySignal::Lose));
  CHECK_FALSE(next_state(RelayState::Holding, RelaySignal::HandOn));
  table.for_every_pair([](RelayState state, RelaySignal signal) {
    if (state == RelayState::Passing) CHECK_FALSE(next_state(state, signal));
    if (state == RelayState::Over) CHECK(next_state(state, signal).value_or(RelayState::Over) == RelayState::Over);
  });
  // Every attempt that is repeated waits, if only for no time at all, and goes out from there.
  for (const RelayTransition& row : kRelayTransitions) {
    CHECK((row.on == RelaySignal::Lose) == (row.to == RelayState::Waiting));
    CHECK((row.on == RelaySignal::Send) == (row.to == RelayState::Asking));
  }
}

}  // namespace
}  // namespace tidemark::session
