// Heartbeat and deadlines.
#include <algorithm>

#include "core/liveness/deadlines.hpp"
#include "core/liveness/heartbeat.hpp"
#include "tests/catch.hpp"

namespace tidemark::liveness {
namespace {

TEST_CASE("silence for the whole timeout loses the leg", "[heartbeat]") {
  Heartbeat heartbeat(100);
  CHECK(heartbeat.deadline() == kNever);
  heartbeat.start(10);
  CHECK(heartbeat.deadline() == 110);
  CHECK_FALSE(heartbeat.expired(109));
  CHECK(heartbeat.expired(110));
  heartbeat.beat(90);
  CHECK_FALSE(heartbeat.expired(110));
  CHECK(heartbeat.expired(190));
  heartbeat.stop();
  CHECK_FALSE(heartbeat.expired(190));
}

TEST_CASE("a pause is no silence", "[heartbeat]") {
  Heartbeat heartbeat(100);
  heartbeat.start(0);
  heartbeat.pause();
  CHECK(heartbeat.deadline() == kNever);
  CHECK_FALSE(heartbeat.expired(1000));
  heartbeat.resume(1000);
  CHECK(heartbeat.deadline() == 1100);
}

TEST_CASE("a leg that starts during a pause is judged after it", "[heartbeat]") {
  Heartbeat heartbeat(100);
  heartbeat.pause();
  heartbeat.start(0);
  CHECK(heartbeat.deadline() == kNever);
  CHECK_FALSE(heartbeat.expired(150));
  heartbeat.resume(200);
  CHECK(heartbeat.deadline() == 300);
  CHECK(heartbeat.expired(300));
}

TEST_CASE("a pause over a stopped leg starts nothing", "[heartbeat]") {
  Heartbeat heartbeat(100);
  heartbeat.start(0);
  heartbeat.stop();
  heartbeat.pause();
  heartbeat.resume(50);
  CHECK(heartbeat.deadline() == kNever);
}

TEST_CASE("a timer is late by one timeout before it counts as much too late", "[heartbeat]") {
  Heartbeat in_time(100), late(100);
  in_time.start(0);
  late.start(0);
  CHECK(in_time.expired(200));
  CHECK_FALSE(late.expired(201));
}

TEST_CASE("a timeout beyond all time never comes", "[heartbeat]") {
  Heartbeat heartbeat(kNever - 1);
  heartbeat.start(1000);
  CHECK(heartbeat.deadline() == kNever);
  CHECK_FALSE(heartbeat.expired(kNever - 1));
}

TEST_CASE("what was silent before a pause stays so, with a grace where the timeout is longer than that",
          "[heartbeat]") {
  constexpr TimeMs kTimeout = 20000;
  for (const TimeMs length : {TimeMs{0}, TimeMs{17999}, TimeMs{18000}, TimeMs{18001}, TimeMs{900000}}) {
    Heartbeat heartbeat(kTimeout);
    heartbeat.start(0);
    heartbeat.pause();
    heartbeat.resume(length);
    CHECK(heartbeat.deadline() == std::max(kTimeout, length + Heartbeat::kGraceMs));
  }
  // Bytes that come within the grace are life as ever.
  Heartbeat woken(kTimeout);
  woken.start(0);
  CHECK_FALSE(woken.expired(900000));
  CHECK(woken.deadline() == 902000);
  woken.beat(901000);
  CHECK(woken.deadline() == 921000);
}

TEST_CASE("a timer that comes much too late gives a short timeout once more", "[heartbeat]") {
  Heartbeat heartbeat(100);
  heartbeat.start(0);
  CHECK_FALSE(heartbeat.expired(5000));
  CHECK(heartbeat.deadline() == 5100);
  CHECK(heartbeat.expired(5150));
}

TEST_CASE("timeout 0 never judges", "[heartbeat]") {
  Heartbeat heartbeat(0);
  heartbeat.start(0);
  CHECK(heartbeat.deadline() == kNever);
  CHECK_FALSE(heartbeat.expired(1000000));
}

enum class Id { First, Second, Count };

TEST_CASE("deadlines come in order, ties by the enum", "[deadlines]") {
  Deadlines<Id> deadlines;
  CHECK(deadlines.next_deadline() == kNever);
  CHECK_FALSE(deadlines.pop_due(kNever - 1));
  deadlines.set(Id::First, 20);
  deadlines.set(Id::Second, 10);
  CHECK(deadlines.next_deadline() == 10);
  CHECK_FALSE(deadlines.pop_due(9));
  CHECK(deadlines.pop_due(20) == Id::Second);
  CHECK(deadlines.pop_due(20) == Id::First);
  CHECK_FALSE(deadlines.pop_due(20));
  deadlines.set(Id::Second, 5);
  deadlines.set(Id::First, 5);
  CHECK(deadlines.pop_due(5) == Id::First);
  CHECK(deadlines.is_set(Id::Second));
  deadlines.clear_all();
  CHECK_FALSE(deadlines.is_set(Id::Second));
}

}  // namespace
}  // namespace tidemark::liveness
