// What one response of the simulated upstream consists of, worked out before a byte is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/simulate/fault.hpp"
#include "native/simulate/script.hpp"

namespace tidemark::simulate {

/// What happens after the last frame.
enum class PlanEnd : std::uint8_t {
  EndOfBody,  // the body ends properly
  Reset,      // the connection is reset
  Cut,        // the connection is closed before the body has ended
  Stall,      // nothing more comes, the connection stays open
  Repeat,     // the last frame is sent again, for ever
};

struct Plan {
  int status = 200;
  std::string content_type = "text/event-stream";
  std::optional<int> retry_after_s;
  std::vector<std::string> frames;  // one write each, an interval apart
  bool byte_by_byte = false;        // every byte its own write
  PlanEnd end = PlanEnd::EndOfBody;
};

/// The plan for a stream: `script` from its event number `from` on, with `fault`. A reset before the response has no
/// frames and PlanEnd::Reset with status 0. FaultKind::ReasoningOnly wants a script that begins with reasoning.
Plan plan_stream(const Script& script, const Fault& fault, std::size_t from);

}  // namespace tidemark::simulate
