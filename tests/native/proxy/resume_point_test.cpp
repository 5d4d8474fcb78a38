// Which cursors hold, over all the terms that a stream has had.
#include <string>

#include "native/log/memory_log.hpp"
#include "native/proxy/random_name.hpp"
#include "native/proxy/resume.hpp"
#include "tests/catch.hpp"

namespace tidemark::proxy {
namespace {

TEST_CASE("resume points: an epoch holds for the events that it wrote, up to the next one's first") {
  log::MemoryLog log({});
  const log::StreamId stream = *log.open({});
  for (seam::Seq seq = 0; seq < 7; ++seq) REQUIRE(log.append(stream, seq, "event") == log::Append::Done);
  const std::vector<log::Term> terms{{"7", 0}, {"8", 3}, {"9", 5}};
  const auto where = [&](std::string epoch, seam::Seq watermark) -> std::string {
    ResumePoint point;
    point.epoch = std::move(epoch);
    point.watermark = watermark;
    const auto at = locate(point, log, stream, terms, dialect::Dialect::Opaque);
    if (at.ok()) return std::to_string(at.value() / 5);
    return at.error() == ResumeError::Mismatch ? "mismatch" : at.error() == ResumeError::Ahead ? "ahead" : "other";
  };
  for (seam::Seq watermark = -1; watermark < 8; ++watermark) {
    INFO(watermark);
    const std::string next = watermark < 7 ? std::to_string(watermark + 1) : "ahead";
    CHECK(where("", watermark) == next);
    CHECK(where("7", watermark) == (watermark < 3 ? next : "mismatch"));
    // A response names the present epoch before it has brought an event of it.
    CHECK(where("8", watermark) == (watermark < 5 ? next : "mismatch"));
    CHECK(where("9", watermark) == next);
    CHECK(where("10", watermark) == "mismatch");
  }
}

TEST_CASE("resume points: an epoch that counts is a decimal number below 2^40, and none like the other") {
  std::string last;
  bool large = false;
  for (int i = 0; i < 64; ++i) {
    const std::string epoch = draw_number_epoch();
    CHECK(epoch.find_first_not_of("0123456789") == std::string::npos);
    CHECK(std::stoull(epoch) < std::uint64_t{1} << 40);
    CHECK(epoch != last);
    large = large || std::stoull(epoch) >= std::uint64_t{1} << 39;
    last = epoch;
  }
  CHECK(large);
}

}  // namespace
}  // namespace tidemark::proxy
