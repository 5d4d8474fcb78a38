// `tidemark simulate`, from its flags to its exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"

namespace tidemark::simulate {

struct RunOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8788;
  std::optional<std::string> recording;  // a file
  std::optional<std::string> dialect;    // of the recording
  TimeMs interval_ms = 20;
  std::vector<std::string> faults;  // each a fault, or several, comma-separated
};

/// Serves until SIGTERM or SIGINT. Prints `tidemark listening on http://HOST:PORT` when ready. Returns the exit status:
/// 0, or 2 (a wrong flag) or 1 (anything else) with one line on standard error.
int run(const RunOptions& options);

}  // namespace tidemark::simulate
