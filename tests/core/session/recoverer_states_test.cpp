// The table of the client leg's states: complete, and as the documentation draws it.
#include "core/session/recoverer_states.hpp"

#include "tests/state_table.hpp"

namespace tidemark::session {
namespace {

const test::StateTable table(kRecovererTransitions, kRecovererStateCount, kRecovererSignalCount);

TEST_CASE("the client leg's table is sound, and the documentation draws it") {
  table.check_pairs();
  table.check_names();
  table.check_diagram("The client leg", RecovererState::Handshaking);
}

TEST_CASE("every living state can end and be lost, and nothing leaves the last one") {
  table.for_every_state([](RecovererState state) {
    const bool living = state != RecovererState::Finalized;
    const auto ended = next_state(state, RecovererSignal::Ended);
    const auto lost = next_state(state, RecovererSignal::Lost);
    CHECK(ended.has_value() == living);
    CHECK(lost.has_value() == living);
    if (!living) return;
    CHECK(*ended == RecovererState::Finalized);
    CHECK(*lost == RecovererState::Compensating);
  });
}

}  // namespace
}  // namespace tidemark::session
