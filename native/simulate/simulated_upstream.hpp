// The simulated upstream: a model API that answers from a recording and fails on cue (contract § 7).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/dialect/dialect.hpp"
#include "native/downstream/server.hpp"
#include "native/loop/loop.hpp"
#include "native/simulate/fault.hpp"
#include "native/simulate/plan.hpp"
#include "native/simulate/script.hpp"

namespace tidemark::simulate {

class SimulatedUpstream final : public downstream::Handler {
 public:
  /// `interval_ms`: between the events of a stream; 0: all at once.
  SimulatedUpstream(loop::Loop& loop, Recording recording, std::vector<Fault> program, TimeMs interval_ms);

  void handle(std::shared_ptr<downstream::Exchange> exchange) override;

 private:
  void answer_stream(const std::shared_ptr<downstream::Exchange>& exchange, Plan plan);

  loop::Loop& loop_;
  Recording recording_;
  bool program_thinks_;  // the program's own faults include the one that shows reasoning
  FaultSchedule schedule_;
  TimeMs interval_ms_;
};

}  // namespace tidemark::simulate
