// Runs cases.json (format: tests/conformance/README.md) against the parser, in every split, and against the reference.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"
#include "tests/core/sse/reference_parser.hpp"

namespace tidemark::sse {
namespace {

using Json = nlohmann::json;
using test::Entry;
using test::Trace;

constexpr std::size_t kCutInTwo = 4096;
constexpr std::size_t kCutInThree = 40;

std::string from_hex(const std::string& hex) {
  REQUIRE(hex.size() % 2 == 0);
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

std::string bytes(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("hex")) return from_hex(value.at("hex").get<std::string>());
  std::string out;
  if (value.is_object()) {
    const std::string part = bytes(value.at("repeat"));
    for (auto left = value.at("times").get<std::size_t>(); left > 0; --left) out += part;
    return out;
  }
  REQUIRE(value.is_array());
  for (const Json& part : value) out += bytes(part);
  return out;
}

std::string bytes(const Json& object, const char* key) {
  return object.contains(key) ? bytes(object.at(key)) : std::string();
}

// An unknown key is a typing mistake that would otherwise leave something unchecked.
void require_keys(const Json& object, const std::vector<std::string>& allowed) {
  for (const auto& [key, value] : object.items()) {
    INFO("key " << key);
    REQUIRE(std::find(allowed.begin(), allowed.end(), key) != allowed.end());
  }
}

Error error_from(const std::string& name) {
  if (name == "line_too_long") return Error::LineTooLong;
  if (name == "event_too_large") return Error::EventTooLarge;
  REQUIRE(name.empty());
  return Error::None;
}

Trace expected_trace(const Json& item) {
  Trace trace;
  for (const Json& entry : item.at("trace")) {
    require_keys(entry, {"data", "event", "id", "comment", "block", "line_end"});
    const bool is_event = entry.contains("data");
    trace.entries.push_back({is_event ? Step::Event : Step::Comment, bytes(entry, "event"), bytes(entry, "data"),
                             bytes(entry, "id"), bytes(entry, is_event ? "block" : "comment"),
                             bytes(entry, "line_end")});
  }
  trace.error = error_from(item.value("error", ""));
  if (item.contains("retry")) trace.retry = item.at("retry").get<std::uint64_t>();
  trace.last_event_id = bytes(item, "last_event_id");
  return trace;
}

// `trace` without what the case does not speak of.
Trace as_far_as(const Json& item, Trace trace) {
  const Json& wanted = item.at("trace");
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    Entry& entry = trace.entries[i];
    entry.has_id = false;
    if (i >= wanted.size()) continue;
    if (entry.step == Step::Event && !wanted[i].contains("block")) entry.block.clear();
    if (!wanted[i].contains("line_end")) entry.line_end.clear();
  }
  return trace;
}

TEST_CASE("the event stream cases, in every split") {
  std::ifstream file("tests/conformance/sse/cases.json");
  REQUIRE(file.is_open());
  const Json cases = Json::parse(file).at("cases");
  REQUIRE(cases.size() >= 100);

  for (const Json& item : cases) {
    const auto name = item.at("name").get<std::string>();
    INFO(name);
    require_keys(item, {"name", "input", "limits", "tail", "trace", "error", "retry", "last_event_id"});
    const std::string input = bytes(item.at("input"));
    Limits limits;
    if (item.contains("limits")) {
      limits = {item["limits"].at("max_line_bytes").get<std::size_t>(),
                item["limits"].at("max_event_bytes").get<std::size_t>()};
    }
    const auto tail = item.value("tail", "discard") == "dispatch" ? Parser::Tail::Dispatch : Parser::Tail::Discard;
    const Trace expected = expected_trace(item);

    const Trace reference = test::reference_parse(input, limits, tail);
    CHECK(test::show(as_far_as(item, reference)) == test::show(expected));

    const auto check = [&](const std::vector<std::string_view>& chunks) {
      const Trace trace = test::parse_chunks(chunks, limits, tail);
      if (trace == reference) return;
      INFO("in " << chunks.size() << " chunks, the first of " << (chunks.empty() ? 0 : chunks[0].size()));
      REQUIRE(test::show(trace) == test::show(reference));
    };
    if (input.size() <= kCutInTwo) {
      test::for_every_split(input, input.size() <= kCutInThree, check);
    } else {
      check({input});
      for (const std::size_t size : {1u, 2u, 3u, 7u, 1400u, 16384u}) check(test::in_chunks_of(input, size));
    }
  }
}

}  // namespace
}  // namespace tidemark::sse
