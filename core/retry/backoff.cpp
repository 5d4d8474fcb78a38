// Backoff.
#include "core/retry/backoff.hpp"

#include <cmath>

namespace tidemark::retry {
namespace {

constexpr double kMost = 0x1p52;  // longer waits are all the same, and exact in a double

}  // namespace

TimeMs backoff_delay(const BackoffOptions& options, unsigned attempt, double unit) {
  const double delay =
      options.base_ms * std::pow(options.factor, static_cast<double>(attempt)) + unit * options.jitter_ms;
  const double most = options.max_ms < kMost ? options.max_ms : kMost;
  // Written so that a NaN (0 * infinity) ends at the bound too.
  const double bounded = delay < most ? delay : most;
  return bounded > 0 ? static_cast<TimeMs>(bounded) : 0;
}

}  // namespace tidemark::retry
