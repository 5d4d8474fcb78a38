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
  const bool by_id = GENERATE(true, false);
  const bool sure = GENERATE(true, false);
  CAPTURE(by_id, sure);
  const std::vector<log::Term> terms{{"7", 0}, {"8", 3, sure}, {"9", 5, sure}};
  const auto where = [&](std::string epoch, seam::Seq watermark) -> std::string {
    ResumePoint point;
    (by_id ? point.id_epoch : point.epoch) = std::move(epoch);
    point.watermark = watermark;
    const auto at = locate(point, log, stream, terms, dialect::Dialect::Opaque);
    if (at.ok()) return std::to_string(at.value() / 5);
    return at.error() == ResumeError::Mismatch ? "mismatch" : at.error() == ResumeError::Ahead ? "ahead" : "other";
  };
  for (seam::Seq watermark = -1; watermark < 8; ++watermark) {
    INFO(watermark);
    const std::string next = watermark < 7 ? std::to_string(watermark + 1) : "ahead";
    CHECK(where("", watermark) == next);
    // A response that names an epoch may have brought events of later ones, too; an id names its own.
    const std::string too_far = sure && !by_id ? next : "mismatch";
    CHECK(where("7", watermark) == (watermark < 3 ? next : too_far));
    // A response names the present epoch before it has brought an event of it.
    CHECK(where("8", watermark) == (watermark < 5 ? next : too_far));
    CHECK(where("9", watermark) == next);
    CHECK(where("10", watermark) == "mismatch");
  }
}

TEST_CASE("resume points: an id counts where it names the watermark's event") {
  const auto read = [](const char* seq, const char* id, const char* epoch) {
    ResumeFields fields;
    fields.resume_seq = seq;
    fields.last_event_id = id;
    fields.epoch = epoch;
    return read_resume_point(fields).value();
  };
  const ResumePoint both = read("5", "8-5", "7");
  CHECK(both.watermark == 5);
  CHECK(both.epoch == "7");
  CHECK(both.id_epoch == "8");
  CHECK(read("5", "8-4", "7").id_epoch.empty());
  CHECK(read("5", "not an id", "7").watermark == 5);
  CHECK(read("", "8-4", "").id_epoch == "8");
  CHECK(read("", "8-4", "").watermark == 4);
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
