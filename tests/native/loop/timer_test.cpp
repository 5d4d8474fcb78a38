// Timers: order, cancelling, and what a handler may do to its own timer.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "native/loop/loop.hpp"
#include "tests/catch.hpp"
#include "tests/native/loop/run_until.hpp"

using namespace tidemark;
using namespace tidemark::loop;
using tidemark::testing::run_ready;
using tidemark::testing::run_until;

TEST_CASE("timers fire in the order of their deadlines, equal ones in the order of setting") {
  Loop loop;
  const TimeMs past = loop.now_ms() - 1000;
  std::mt19937 random(7);
  std::vector<std::unique_ptr<Timer>> timers;
  std::vector<std::pair<TimeMs, int>> expected;
  std::vector<std::pair<TimeMs, int>> fired;
  for (int i = 0; i < 500; ++i) {
    const TimeMs deadline = past + static_cast<TimeMs>(random() % 50);
    timers.push_back(std::make_unique<Timer>(loop));
    timers.back()->set(deadline, [&fired, deadline, i] { fired.emplace_back(deadline, i); });
    if (i % 3 != 0) expected.emplace_back(deadline, i);
  }
  // A third is taken out again, by cancelling, by kNever or by destruction.
  for (std::size_t i = 0; i < timers.size(); i += 3) {
    if (i % 9 == 0) timers[i]->cancel();
    if (i % 9 == 3) timers[i]->set(kNever, [] { FAIL(); });
    if (i % 9 == 6) timers[i].reset();
  }
  std::sort(expected.begin(), expected.end());
  run_ready(loop);
  CHECK(fired == expected);
}

TEST_CASE("setting again replaces, and a timer knows its deadline") {
  Loop loop;
  Timer timer(loop);
  CHECK_FALSE(timer.armed());
  CHECK(timer.deadline() == kNever);
  int which = 0;
  timer.set(loop.now_ms() + 1'000'000, [&] { which = 1; });
  CHECK(timer.armed());
  timer.set(5, [&] { which = 2; });
  CHECK(timer.deadline() == 5);
  run_ready(loop);
  CHECK(which == 2);
  CHECK_FALSE(timer.armed());
}

TEST_CASE("a handler may set its timer into the past, and others still have their turn") {
  Loop loop;
  Timer timer(loop);
  int count = 0;
  bool other = false;
  std::function<void()> again = [&] {
    if (++count < 3) timer.set(0, again);
    if (count == 1) loop.post([&] { other = count < 3; });
  };
  timer.set(0, again);
  run_ready(loop);
  CHECK(count == 3);
  CHECK(other);
}

TEST_CASE("a handler may destroy its timer, and one that is due with it") {
  Loop loop;
  auto first = std::make_unique<Timer>(loop);
  auto second = std::make_unique<Timer>(loop);
  bool wrong = false;
  first->set(0, [&] {
    first.reset();
    second.reset();
  });
  second->set(0, [&] { wrong = true; });
  run_ready(loop);
  CHECK(first == nullptr);
  CHECK_FALSE(wrong);
}

TEST_CASE("a timer never fires before its deadline") {
  Loop loop;
  Timer timer(loop);
  const TimeMs deadline = loop.now_ms() + 20;
  TimeMs fired = 0;
  timer.set(deadline, [&] { fired = loop.now_ms(); });
  REQUIRE(run_until(loop, [&] { return fired != 0; }));
  CHECK(fired >= deadline);
}
