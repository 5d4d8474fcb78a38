// Runs the cases of seams and retries (format: tests/conformance/README.md) against the core.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/retry/backoff.hpp"
#include "core/retry/retry_after.hpp"
#include "core/seam/joiner.hpp"
#include "core/seam/overlap_trimmer.hpp"
#include "core/seam/tail_fingerprint.hpp"
#include "core/seam/watermark.hpp"
#include "tests/conformance/cases.hpp"

namespace tidemark {
namespace {

using test::bytes;
using test::for_every_case;
using test::Json;

constexpr std::size_t kCutInTwo = 4096;
constexpr std::int64_t kNow = 1796014800000;  // Mon, 30 Nov 2026 05:00:00 GMT

std::optional<std::int64_t> number_or_null(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<std::int64_t>();
}

void check_tail(const Json& item, const std::vector<std::string_view>& pieces) {
  seam::Tail tail;
  for (const std::string_view piece : pieces) tail.append(piece);
  CHECK(seam::to_hex(tail.fingerprint()) == item.at("fingerprint").get<std::string>());
  CHECK(tail.utf16_length() == item.at("length").get<std::uint64_t>());
}

TEST_CASE("the fingerprint cases, whole and in pieces") {
  for_every_case("seam/fingerprint.json", 20, {"name", "text", "fingerprint", "length"}, [](const Json& item) {
    const std::string text = bytes(item.at("text"));
    const std::string_view view = text;
    CHECK(seam::to_hex(seam::tail_fingerprint(text)) == item.at("fingerprint").get<std::string>());
    check_tail(item, {view});
    std::vector<std::string_view> single;
    for (std::size_t i = 0; i < view.size(); ++i) single.push_back(view.substr(i, 1));
    check_tail(item, single);
    if (view.size() > kCutInTwo) return;
    for (std::size_t i = 1; i < view.size(); ++i) check_tail(item, {view.substr(0, i), view.substr(i)});
  });
}

seam::Continuer continuer_of(const Json& item) {
  const std::string name = item.value("continuer", "same-generation");
  if (name == "model") return seam::Continuer::Model;
  if (name == "echo") return seam::Continuer::Echo;
  REQUIRE(name == "same-generation");
  return seam::Continuer::SameGeneration;
}

// The text that the reader has in the end, and why the continuation was refused.
struct Joined {
  std::string text;
  seam::Refusal refused = seam::Refusal::None;
};

Joined join(const std::string& delivered, const seam::JoinOptions& options, const std::vector<std::string>& events) {
  using Step = seam::Joiner::Step;
  seam::Joiner joiner(delivered, options);
  Joined joined{delivered};
  std::string held;
  const auto take = [&](const seam::Joiner::Decision& decision) {
    if (decision.step == Step::Join) joined.text += held.substr(decision.trim_bytes);
    if (decision.step == Step::Drop || decision.step == Step::Join) held.clear();
    joined.refused = decision.why;
  };
  for (const std::string& event : events) {
    held += event;
    take(joiner.offer(event));
    if (joined.refused != seam::Refusal::None) return joined;
  }
  if (!joiner.decided()) take(joiner.finish());
  return joined;
}

TEST_CASE("the joiner cases") {
  const std::vector<std::string> keys{"name",     "delivered", "continuer", "overlap_min",
                                      "stripped", "events",    "text",      "refused"};
  for_every_case("seam/joiner.json", 40, keys, [](const Json& item) {
    Json named = item;
    if (!named.contains("continuer")) named["continuer"] = "model";
    const seam::JoinOptions options{continuer_of(named), item.value("overlap_min", 12u),
                                    item.value("stripped", std::size_t{0})};
    std::vector<std::string> events;
    for (const Json& event : item.at("events")) events.push_back(bytes(event));
    const Joined joined = join(bytes(item.at("delivered")), options, events);
    CHECK(name(joined.refused) == item.value("refused", "none"));
    CHECK(joined.text == bytes(item.at(item.contains("refused") ? "delivered" : "text")));
  });
}

TEST_CASE("the overlap cases") {
  const std::vector<std::string> keys{"name", "delivered", "continuer", "overlap_min", "events", "dropped", "released"};
  for_every_case("seam/overlap.json", 40, keys, [](const Json& item) {
    seam::OverlapTrimmer trimmer(bytes(item.at("delivered")), continuer_of(item), item.value("overlap_min", 12u));
    std::string joined;
    std::size_t trimmed = 0;
    std::optional<std::int64_t> released;
    std::int64_t events = 0;
    for (const Json& event : item.at("events")) {
      const std::string text = bytes(event);
      joined += text;
      ++events;
      const auto decision = trimmer.offer(text);
      trimmed += decision.trim_bytes;
      if (decision.decided && !released) released = events;
    }
    CHECK(trimmer.decided() == released.has_value());
    trimmed += trimmer.finish().trim_bytes;
    CHECK(joined.substr(0, trimmed) == bytes(item.at("dropped")));
    CHECK(released == number_or_null(item.value("released", Json())));
  });
}

TEST_CASE("the weight cases") {
  for_every_case("seam/weight.json", 15, {"name", "text", "weight"}, [](const Json& item) {
    CHECK(seam::weight(bytes(item.at("text"))) == item.at("weight").get<std::uint32_t>());
  });
}

TEST_CASE("the backoff cases") {
  const std::vector<std::string> keys{"name", "base_ms", "factor", "jitter_ms", "max_ms", "delays"};
  for_every_case("seam/backoff.json", 8, keys, [](const Json& item) {
    const retry::BackoffOptions options{item.at("base_ms").get<double>(), item.at("factor").get<double>(),
                                        item.at("jitter_ms").get<double>(), item.at("max_ms").get<double>()};
    for (const Json& delay : item.at("delays")) {
      test::require_keys(delay, {"attempt", "unit", "ms"});
      INFO(delay);
      CHECK(retry::backoff_delay(options, delay.at("attempt").get<unsigned>(), delay.at("unit").get<double>()) ==
            delay.at("ms").get<TimeMs>());
    }
  });
}

TEST_CASE("the Retry-After cases") {
  const std::vector<std::string> keys{"name", "retry_after", "retry_after_ms", "now", "wait"};
  for_every_case("seam/retry_after.json", 60, keys, [](const Json& item) {
    CHECK(retry::parse_retry_after(item.value("retry_after", ""), item.value("retry_after_ms", ""),
                                   item.value("now", kNow)) == number_or_null(item.at("wait")));
  });
}

TEST_CASE("the watermark cases") {
  for_every_case("seam/watermark.json", 15, {"name", "text", "watermark"}, [](const Json& item) {
    CHECK(seam::parse_watermark(item.at("text").get<std::string>()) == number_or_null(item.at("watermark")));
  });
}

}  // namespace
}  // namespace tidemark
