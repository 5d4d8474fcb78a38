// Runs a loop in the test's thread until something is so.
#pragma once

#include "native/loop/loop.hpp"
#include "tests/native/loop/raw_socket.hpp"

namespace tidemark::testing {

/// False where it has not come to be so within the limit.
template <class Condition>
bool run_until(loop::Loop& loop, Condition condition) {
  const TimeMs end = loop.now_ms() + kPatienceMs;
  while (!condition()) {
    if (loop.now_ms() >= end) return false;
    loop.run_one(50);
  }
  return true;
}

/// Lets everything happen that needs no waiting.
inline void run_ready(loop::Loop& loop) {
  while (loop.run_one(0)) {
  }
}

}  // namespace tidemark::testing
