// Backoff.
#include "core/retry/backoff.hpp"

#include <cmath>

namespace tidemark::retry {

TimeMs backoff_delay(const BackoffOptions& options, unsigned attempt, double unit) {
  const double delay =
      options.base_ms * std::pow(options.factor, static_cast<double>(attempt)) + unit * options.jitter_ms;
  // Written so that a NaN (0 * infinity) ends at the bound too.
  const double bounded = delay < options.max_ms ? delay : options.max_ms;
  return bounded > 0 ? static_cast<TimeMs>(bounded) : 0;
}

}  // namespace tidemark::retry
