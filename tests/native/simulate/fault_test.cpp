// Fault specifications, and whose turn it is.
#include "native/simulate/fault.hpp"

#include "tests/catch.hpp"
#include "tests/native/simulate/running_upstream.hpp"

namespace tidemark::simulate {
namespace {

TEST_CASE("every fault of the contract is read", "[simulate]") {
  struct Case {
    const char* spec;
    FaultKind kind;
    std::size_t events;
    int status;
  };
  const auto c = GENERATE(
      Case{"none", FaultKind::None, 0, 0}, Case{"status=504", FaultKind::Status, 0, 504},
      Case{"connect-reset", FaultKind::ConnectReset, 0, 0}, Case{"reset-after=12", FaultKind::ResetAfter, 12, 0},
      Case{"eof-after=0", FaultKind::EofAfter, 0, 0}, Case{"stall-after=1", FaultKind::StallAfter, 1, 0},
      Case{"empty", FaultKind::Empty, 0, 0}, Case{"preamble-only", FaultKind::PreambleOnly, 0, 0},
      Case{"reasoning-only", FaultKind::ReasoningOnly, 0, 0}, Case{"error-event", FaultKind::ErrorEvent, 0, 0},
      Case{"challenge-json", FaultKind::ChallengeJson, 0, 0}, Case{"challenge-html", FaultKind::ChallengeHtml, 0, 0},
      Case{"challenge-html-cut", FaultKind::ChallengeHtmlCut, 0, 0}, Case{"silence", FaultKind::Silence, 0, 0},
      Case{"pings-only", FaultKind::PingsOnly, 0, 0}, Case{"crlf", FaultKind::Crlf, 0, 0},
      Case{"split", FaultKind::Split, 0, 0});
  const auto fault = parse_fault(c.spec);
  REQUIRE(fault.ok());
  CHECK(fault.value().kind == c.kind);
  CHECK(fault.value().events == c.events);
  CHECK(fault.value().status == c.status);
}

TEST_CASE("a fault of the seam stands alone or beside another", "[simulate]") {
  struct Case {
    const char* spec;
    FaultKind kind;
    std::size_t events;
    SeamFault seam;
    std::size_t overlap;
  };
  const auto c = GENERATE(Case{"overlap=0", FaultKind::None, 0, SeamFault::Overlap, 0},
                          Case{"echo", FaultKind::None, 0, SeamFault::Echo, 0},
                          Case{"restart", FaultKind::None, 0, SeamFault::Restart, 0},
                          Case{"restart-paraphrased", FaultKind::None, 0, SeamFault::RestartParaphrased, 0},
                          Case{"lead-in", FaultKind::None, 0, SeamFault::LeadIn, 0},
                          Case{"different", FaultKind::None, 0, SeamFault::Different, 0},
                          Case{"refuse-prefix", FaultKind::None, 0, SeamFault::RefusePrefix, 0},
                          Case{"overlap=20+reset-after=10", FaultKind::ResetAfter, 10, SeamFault::Overlap, 20},
                          Case{"crlf+echo", FaultKind::Crlf, 0, SeamFault::Echo, 0});
  const auto fault = parse_fault(c.spec);
  REQUIRE(fault.ok());
  CHECK(fault.value().kind == c.kind);
  CHECK(fault.value().events == c.events);
  CHECK(fault.value().seam == c.seam);
  CHECK(fault.value().overlap == c.overlap);
}

TEST_CASE("what is no fault is named, with what is allowed", "[simulate]") {
  const auto* spec =
      GENERATE("", "nonsense", "status", "status=", "status=200", "status=600", "status=5o4", "reset-after",
               "reset-after=-1", "reset-after=1000001", "reset-after= 1", "none=1", "NONE", "overlap", "overlap=-1",
               "echo=1", "echo+restart", "empty+silence", "echo+", "+", "overlap=1 + empty", "status=429+retry-after",
               "status=429+retry-after=", "status=429+retry-after=-1", "retry-after=2", "empty+retry-after=2",
               "status=429+retry-after=1000001", "status=429+retry-after=2+retry-after=2");
  const auto fault = parse_fault(spec);
  REQUIRE_FALSE(fault.ok());
  CHECK(fault.error().find("'" + std::string(spec) + "'") != std::string::npos);
  CHECK(fault.error().find("reset-after=N") != std::string::npos);
  CHECK(fault.error().find('\n') == std::string::npos);
}

TEST_CASE("an error status may say when to come back", "[simulate]") {
  const auto faults = parse_faults("status=429+retry-after=2,retry-after=0+status=503+echo, status=503");
  REQUIRE(faults.ok());
  REQUIRE(faults.value().size() == 3);
  CHECK(faults.value()[0].status == 429);
  CHECK(faults.value()[0].retry_after_s == 2);
  CHECK(faults.value()[1].status == 503);
  CHECK(faults.value()[1].retry_after_s == 0);
  CHECK(faults.value()[1].seam == SeamFault::Echo);
  CHECK_FALSE(faults.value()[2].retry_after_s);

  const RunningUpstream upstream(faults.value());
  test::HttpClient client = upstream.connect();
  const auto ask = [&client] { return client.ask("POST", "/v1/messages", {}, R"({"stream":true})"); };
  const test::Reply first = ask();
  CHECK(first.status == 429);
  CHECK(first.headers.get("retry-after") == "2");
  CHECK(ask().headers.get("retry-after") == "0");
  const test::Reply last = ask();
  CHECK(last.status == 503);
  CHECK_FALSE(last.headers.has("retry-after"));
}

TEST_CASE("a list is comma-separated", "[simulate]") {
  const auto faults = parse_faults("status=504, reset-after=3 ,none");
  REQUIRE(faults.ok());
  REQUIRE(faults.value().size() == 3);
  CHECK(faults.value()[1].events == 3);
  CHECK_FALSE(parse_faults("").ok());
  CHECK_FALSE(parse_faults("none,").ok());
}

TEST_CASE("the program's list is used up once", "[simulate]") {
  FaultSchedule schedule({Fault{FaultKind::Empty, 0, 0}, Fault{FaultKind::Silence, 0, 0}});
  CHECK(schedule.next().kind == FaultKind::Empty);
  CHECK(schedule.next().kind == FaultKind::Silence);
  CHECK(schedule.next().kind == FaultKind::None);
  CHECK(schedule.next().kind == FaultKind::None);
}

TEST_CASE("a request's own list goes with its identity, and starts anew after a good answer", "[simulate]") {
  FaultSchedule schedule({});
  const std::vector<Fault> own{Fault{FaultKind::Empty, 0, 0}, Fault{FaultKind::Silence, 0, 0}};
  CHECK(schedule.next("a", own).kind == FaultKind::Empty);
  CHECK(schedule.next("b", own).kind == FaultKind::Empty);
  CHECK(schedule.next("a", own).kind == FaultKind::Silence);
  CHECK(schedule.next("a", own).kind == FaultKind::None);
  CHECK(schedule.next("a", own).kind == FaultKind::Empty);
  CHECK(schedule.next("b", own).kind == FaultKind::Silence);
}

TEST_CASE("the identity used longest ago is forgotten at the bound", "[simulate]") {
  FaultSchedule schedule({});
  const std::vector<Fault> own{Fault{FaultKind::Empty, 0, 0}, Fault{FaultKind::Silence, 0, 0}};
  for (std::size_t i = 0; i < FaultSchedule::kMaxIdentities; ++i) schedule.next(std::to_string(i), own);
  CHECK(schedule.next("0", own).kind == FaultKind::Silence);  // still known, and now the newest
  schedule.next("one more", own);
  CHECK(schedule.next("1", own).kind == FaultKind::Empty);  // forgotten, so it starts anew
  CHECK(schedule.next("0", own).kind == FaultKind::None);
}

}  // namespace
}  // namespace tidemark::simulate
