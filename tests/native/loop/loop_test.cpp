// Turns of the loop: order, threads, what dies when.
#include "native/loop/loop.hpp"

#include <csignal>
#include <string>
#include <thread>

#include "tests/catch.hpp"
#include "tests/native/loop/run_until.hpp"

using namespace tidemark;
using namespace tidemark::loop;
using tidemark::testing::run_until;

TEST_CASE("a turn: the handler, what it deferred, the timers, the end of what was retired") {
  Loop loop;
  std::string order;
  Timer timer(loop);
  struct Noted {
    explicit Noted(std::string& to) : text(to) {}
    ~Noted() { text += "retired "; }
    std::string& text;
  };
  loop.post([&] {
    loop.retire(std::make_shared<Noted>(order));
    timer.set(loop.now_ms(), [&] { order += "timer "; });
    loop.defer([&] {
      order += "deferred ";
      loop.defer([&] { order += "deferred-again "; });
    });
    order += "handler ";
  });
  loop.post([&] { order += "next "; });
  REQUIRE(loop.run_one(1000));
  CHECK(order == "handler deferred deferred-again timer retired ");
  REQUIRE(loop.run_one(1000));
  CHECK(order == "handler deferred deferred-again timer retired next ");
  CHECK_FALSE(loop.run_one(0));
}

TEST_CASE("a task deferred outside of a turn runs in the next, without waiting") {
  Loop loop;
  bool ran = false;
  loop.defer([&] { ran = true; });
  CHECK(loop.run_one(1'000'000));
  CHECK(ran);
}

TEST_CASE("post and stop from another thread") {
  Loop loop;
  int count = 0;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) loop.post([&] { ++count; });
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  other.join();
  CHECK(count == 1000);
}

TEST_CASE("a stop before run is not lost, and the loop can be run again") {
  Loop loop;
  loop.stop();
  loop.run();
  bool ran = false;
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  CHECK(ran);
}

TEST_CASE("what was posted, deferred or retired and never ran dies with the loop") {
  const auto held = std::make_shared<int>(0);
  {
    Loop loop;
    loop.post([held] {});
    loop.defer([held] {});
    loop.retire(held);
    CHECK(held.use_count() == 4);
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("each termination signal calls the handler") {
  Loop loop;
  int called = 0;
  loop.on_termination([&] { ++called; });
  std::raise(SIGTERM);
  CHECK(run_until(loop, [&] { return called == 1; }));
  loop.on_termination([&] { called += 10; });
  std::raise(SIGINT);
  CHECK(run_until(loop, [&] { return called == 11; }));
}
