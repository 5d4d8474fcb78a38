// Backoff.
#include "core/retry/backoff.hpp"

#include <limits>

#include "core/base/random.hpp"
#include "tests/catch.hpp"

namespace tidemark::retry {
namespace {

TEST_CASE("delays grow by the factor, up to the maximum", "[backoff]") {
  const BackoffOptions options;
  CHECK(backoff_delay(options, 0, 0) == 1000);
  CHECK(backoff_delay(options, 1, 0) == 1800);
  CHECK(backoff_delay(options, 2, 0) == 3240);
  CHECK(backoff_delay(options, 4, 0) == 8000);
  CHECK(backoff_delay(options, 0, 0.5) == 1200);
  CHECK(backoff_delay(options, 100000, 0.5) == 8000);
  CHECK(backoff_delay({0, 1e300, 0, 500}, 100000, 0) == 500);
  CHECK(backoff_delay({0, 1.8, 0, 0}, 3, 0.9) == 0);
}

TEST_CASE("no option makes a delay negative or longer than 2^52", "[backoff]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(backoff_delay({1e300, 1.8, 400, 1e300}, 9, 0.5) == TimeMs{1} << 52);
  CHECK(backoff_delay({1000, kInfinity, 400, kInfinity}, 1, 0.5) == TimeMs{1} << 52);
  CHECK(backoff_delay({-1000, 1.8, 0, 8000}, 1, 0.5) == 0);
  CHECK(backoff_delay({1000, 1.8, 400, -1}, 1, 0.5) == 0);
  CHECK(backoff_delay({1000, 1.8, 400, kNan}, 1, 0.5) >= 0);
  CHECK(backoff_delay({kNan, 1.8, 400, 8000}, 1, 0.5) == 8000);
}

TEST_CASE("jitter stays in its range", "[backoff]") {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const TimeMs delay = backoff_delay({}, 0, random.unit());
    REQUIRE(delay >= 1000);
    REQUIRE(delay < 1400);
  }
}

}  // namespace
}  // namespace tidemark::retry
