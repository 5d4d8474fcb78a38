// Backoff.
#include "core/retry/backoff.hpp"

namespace tidemark::retry {
namespace {

constexpr double kMost = 0x1p52;  // longer waits are all the same, and exact in a double

// By squaring: the C library's power brings kilobytes of tables for exponents that are no whole numbers.
double power(double base, unsigned exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if ((exponent & 1u) != 0) result *= base;
  }
  return result;
}

}  // namespace

TimeMs backoff_delay(const BackoffOptions& options, unsigned attempt, double unit) {
  const double delay = options.base_ms * power(options.factor, attempt) + unit * options.jitter_ms;
  const double most = options.max_ms < kMost ? options.max_ms : kMost;
  // Written so that a NaN (0 * infinity) ends at the bound too.
  const double bounded = delay < most ? delay : most;
  return bounded > 0 ? static_cast<TimeMs>(bounded) : 0;
}

}  // namespace tidemark::retry
