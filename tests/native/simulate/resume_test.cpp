// A faulty attempt on /v1/seq and a resume above its watermark make the whole answer, through real sockets.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/sse/parser.hpp"
#include "tests/catch.hpp"
#include "tests/native/simulate/running_upstream.hpp"

namespace tidemark::simulate {
namespace {

using test::HttpClient;
using Json = nlohmann::json;

enum class By { Header, Body };

constexpr int kNothing = -1;

// The data of an answer's numbered events by their number; no number comes twice.
using Numbered = std::map<int, std::string>;

struct Asking {
  std::string faults;  // empty: none of its own
  std::string key = "a-request";
  int watermark = kNothing;
  By by = By::Header;
};

// Reads an answer until it ends, or has brought `enough` numbered events; then leaves.
Numbered ask(const RunningUpstream& upstream, const Asking& asking, std::size_t enough = 1000) {
  http::Headers headers;
  headers.add("Idempotency-Key", asking.key);
  if (!asking.faults.empty()) headers.add("X-Simulate", asking.faults);
  Json body = {{"question", "tides"}};
  if (asking.watermark != kNothing) {
    if (asking.by == By::Header) headers.add("X-Resume-Seq", std::to_string(asking.watermark));
    if (asking.by == By::Body) body["resumeSeq"] = asking.watermark;
  }
  HttpClient client = upstream.connect();
  client.request("POST", "/v1/seq", headers, body.dump());
  Numbered numbered;
  if (client.read_head().headers.get("Content-Type") != "text/event-stream") return numbered;
  sse::Parser parser;
  bool complete = false;
  while (numbered.size() < enough) {
    const std::string more = client.read_some(100, complete);
    if (more.empty()) break;
    parser.feed(more);
    sse::Event event;
    for (sse::Step step = parser.next(event); step != sse::Step::NeedMore; step = parser.next(event)) {
      REQUIRE(step != sse::Step::Failed);
      if (step != sse::Step::Event) continue;
      const Json data = Json::parse(event.data);
      if (!data.contains("seq")) continue;
      CHECK(numbered.emplace(data["seq"].get<int>(), std::string(event.data)).second);
    }
  }
  return numbered;
}

struct Faulty {
  const char* faults;
  std::size_t enough;  // so much of the faulty answer is read: 0 where none of its events has a number
};

constexpr std::size_t kAll = 1000;
const Faulty kFaulty[] = {{"status=503", 0},
                          {"connect-reset", 0},
                          {"reset-after=7", kAll},
                          {"eof-after=9", kAll},
                          {"eof-after=0", kAll},
                          {"stall-after=5", 5},
                          {"empty", kAll},
                          {"preamble-only", kAll},
                          {"reasoning-only", kAll},
                          {"error-event", kAll},
                          {"challenge-json", 0},
                          {"challenge-html", 0},
                          {"challenge-html-cut", 0},
                          {"silence", 0},
                          {"pings-only", 0},
                          {"crlf", 12},
                          {"split", 12},
                          {"none", 12},
                          {"reset-after=7,reasoning-only", kAll},
                          {"reasoning-only,eof-after=4", kAll}};

void check_holds_together(const Numbered& first, const Numbered& rest, const Numbered& whole) {
  Numbered joined = first;
  for (const auto& [seq, data] : rest) CHECK(joined.emplace(seq, data).second);
  CHECK(joined == whole);
  REQUIRE_FALSE(whole.empty());
  CHECK(whole.begin()->first == 0);
  CHECK(whole.rbegin()->first + 1 == static_cast<int>(whole.size()));
  CHECK(Json::parse(whole.rbegin()->second).value("done", false));
}

TEST_CASE("a resume after each fault brings exactly the missing events", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Faulty& faulty : kFaulty) {
    for (const By by : {By::Header, By::Body}) {
      INFO(faulty.faults << (by == By::Header ? ", header" : ", body"));
      const std::string faults = faulty.faults;
      const auto attempts = std::count(faults.begin(), faults.end(), ',') + 1;
      Asking asking{faults, faults + (by == By::Header ? "-header" : "-body"), kNothing, by};
      Numbered received;
      for (std::ptrdiff_t attempt = 0; attempt < attempts; ++attempt) {
        for (auto& event : ask(upstream, asking, faulty.enough)) CHECK(received.insert(std::move(event)).second);
        if (!received.empty()) asking.watermark = received.rbegin()->first;
      }
      const Numbered rest = ask(upstream, asking);
      // The undisturbed answer is what an equal request gets that has its faults behind it.
      Asking undisturbed{faults, asking.key + "-whole", kNothing, by};
      for (std::ptrdiff_t attempt = 0; attempt < attempts; ++attempt) ask(upstream, undisturbed, faulty.enough);
      check_holds_together(received, rest, ask(upstream, undisturbed));
    }
  }
}

TEST_CASE("a reset comes after all that was said, however slowly it is taken", "[simulate]") {
  const RunningUpstream upstream({});
  HttpClient client = upstream.connect(2048);
  client.request("POST", "/v1/chat/completions", {{"X-Simulate", "reset-after=250"}}, R"({"stream":true})");
  REQUIRE(client.read_head().status == 200);
  bool complete = false;
  std::string body;
  for (std::string more = client.read_some(100, complete); !more.empty(); more = client.read_some(100, complete)) {
    body += more;
  }
  CHECK_FALSE(complete);
  std::size_t events = 0;
  for (std::size_t at = body.find("\n\n"); at != std::string::npos; at = body.find("\n\n", at + 2)) ++events;
  CHECK(events == 250);
}

TEST_CASE("the program's own faults leave answers that can be resumed", "[simulate]") {
  const RunningUpstream upstream(parse_faults("reasoning-only,eof-after=3").value());
  Asking asking;
  Numbered received = ask(upstream, asking);
  REQUIRE_FALSE(received.empty());
  asking.watermark = received.rbegin()->first;
  for (auto& event : ask(upstream, asking)) CHECK(received.insert(std::move(event)).second);
  asking.watermark = received.rbegin()->first;
  const Numbered rest = ask(upstream, asking);
  check_holds_together(received, rest, ask(upstream, Asking{}));
}

TEST_CASE("reasoning comes before the text it thought about, and only where the fault is asked for", "[simulate]") {
  const RunningUpstream upstream({});
  const Numbered reasoning = ask(upstream, {"reasoning-only"});
  REQUIRE_FALSE(reasoning.empty());
  for (const auto& [seq, data] : reasoning) CHECK(Json::parse(data).contains("reasoning"));
  for (const auto& [seq, data] : ask(upstream, {})) CHECK_FALSE(Json::parse(data).contains("reasoning"));
}

}  // namespace
}  // namespace tidemark::simulate
