// Jittered exponential backoff. Randomness is an argument.
#pragma once

#include "core/base/time.hpp"

namespace tidemark::retry {

struct BackoffOptions {
  double base_ms = 1000;
  double factor = 1.8;
  double jitter_ms = 400;
  double max_ms = 8000;
};

/// min(base * factor^attempt + unit * jitter, max), in whole milliseconds. attempt counts from 0; `unit` in [0, 1).
/// Never negative, never above max nor above 2^52, also where the power overflows.
TimeMs backoff_delay(const BackoffOptions& options, unsigned attempt, double unit);

}  // namespace tidemark::retry
