// Keys: whose turn it is, and what a status does to one.
#include "core/retry/key_ring.hpp"

#include "tests/catch.hpp"

using tidemark::kNever;
using tidemark::retry::is_key_status;
using tidemark::retry::KeyRing;

TEST_CASE("keys go out in turn") {
  KeyRing ring(3);
  CHECK(ring.take(0) == 0u);
  CHECK(ring.take(0) == 1u);
  CHECK(ring.take(0) == 2u);
  CHECK(ring.take(0) == 0u);
}

TEST_CASE("a further attempt takes the key after its last one, whatever others have taken meanwhile") {
  KeyRing ring(3);
  const auto first = ring.take(0);
  ring.take(0);
  ring.take(0);
  CHECK(ring.take(0, first) == 1u);
  CHECK(ring.take(0, 2u) == 0u);
}

TEST_CASE("401 and 403 put a key aside for good") {
  for (const int status : {401, 403}) {
    KeyRing ring(2);
    ring.judge(0, status, 1, 0);
    CHECK(ring.usable(0) == 1);
    CHECK_FALSE(ring.is_usable(0, 0));
    CHECK(ring.take(1'000'000'000) == 1u);
    CHECK(ring.take(1'000'000'000) == 1u);
    ring.judge(1, status, std::nullopt, 0);
    CHECK_FALSE(ring.take(1'000'000'000));
    CHECK(ring.usable(1'000'000'000) == 0);
    CHECK(ring.usable_in(0) == kNever);
  }
}

TEST_CASE("402 and 429 put a key aside for as long as the upstream says") {
  for (const int status : {402, 429}) {
    KeyRing ring(2);
    ring.judge(0, status, 5000, 1000);
    ring.judge(1, status, 9000, 1000);
    CHECK_FALSE(ring.take(5999));
    CHECK(ring.usable_in(1000) == 5000);
    CHECK(ring.usable_in(7000) == 0);
    CHECK(ring.take(6000) == 0u);
    CHECK(ring.take(6000) == 0u);
    CHECK(ring.take(10000, 0u) == 1u);
  }
}

TEST_CASE("a limit that names no time leaves its key in turn, and never shortens what was said before") {
  KeyRing ring(1);
  ring.judge(0, 429, std::nullopt, 0);
  CHECK(ring.take(0) == 0u);
  ring.judge(0, 401, std::nullopt, 0);
  ring.judge(0, 429, 10, 0);
  CHECK(ring.usable_in(1000) == kNever);
}

TEST_CASE("other statuses say nothing about a key") {
  KeyRing ring(1);
  for (const int status : {200, 400, 404, 408, 409, 500, 503, 529}) {
    CHECK_FALSE(is_key_status(status));
    ring.judge(0, status, 60000, 0);
  }
  CHECK(ring.usable(0) == 1);
}

TEST_CASE("without keys there is none to take") {
  KeyRing ring(0);
  CHECK_FALSE(ring.take(0));
  CHECK(ring.usable(0) == 0);
}
