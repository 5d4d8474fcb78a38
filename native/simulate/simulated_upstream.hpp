// The simulated upstream: a model API that answers from a recording and fails on cue (contract § 7).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/dialect/dialect.hpp"
#include "native/downstream/server.hpp"
#include "native/loop/loop.hpp"
#include "native/simulate/fault.hpp"
#include "native/simulate/generations.hpp"
#include "native/simulate/plan.hpp"
#include "native/simulate/request.hpp"
#include "native/simulate/script.hpp"

namespace tidemark::simulate {

class SimulatedUpstream final : public downstream::Handler {
 public:
  /// `interval_ms`: between the events of a stream; 0: all at once.
  SimulatedUpstream(loop::Loop& loop, Recording recording, std::vector<Fault> program, TimeMs interval_ms);

  void handle(std::shared_ptr<downstream::Exchange> exchange) override;

 private:
  void answer(const std::shared_ptr<downstream::Exchange>& exchange, dialect::Dialect spoken, const Request& request,
              const std::optional<std::vector<Fault>>& own);
  void reattach(const std::shared_ptr<downstream::Exchange>& exchange);
  /// What the request would be told if only its seam were at fault.
  Script told(dialect::Dialect spoken, const Request& request, const Fault& fault, bool thinks,
              const std::string& mark) const;
  Fault next_fault(const std::string& identity, const std::optional<std::vector<Fault>>& own);
  void send(const std::shared_ptr<downstream::Exchange>& exchange, Plan plan);

  loop::Loop& loop_;
  Recording recording_;
  std::string answer_;   // the recording's text
  bool program_thinks_;  // the program's own faults include the one that shows reasoning
  FaultSchedule schedule_;
  Generations generations_;
  std::uint64_t answers_ = 0;  // so many have been given; no two have the same ids
  TimeMs interval_ms_;
};

}  // namespace tidemark::simulate
