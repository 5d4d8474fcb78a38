// Runs the cases of each dialect (format: tests/conformance/README.md) against the interpreter.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/dialect/interpreter.hpp"
#include "tests/conformance/cases.hpp"

namespace tidemark::dialect {
namespace {

using test::Json;
using test::require_keys;
using Shortcut = Interpreter::Shortcut;

Json as_json(const Meaning& meaning) {
  Json out = {{"kind", name(meaning.kind)}};
  if (!meaning.text.empty()) out["text"] = meaning.text;
  if (!meaning.reasoning.empty()) out["reasoning"] = meaning.reasoning;
  if (meaning.finish != Finish::None) out["finish"] = name(meaning.finish);
  if (meaning.terminal) out["terminal"] = true;
  if (meaning.sequence) out["sequence"] = *meaning.sequence;
  if (meaning.kind == Kind::Error || meaning.kind == Kind::Challenge) {
    const ErrorInfo& error = meaning.error;
    out["error"] = {{"message", error.message}, {"retryable", error.retryable()}};
    if (!error.type.empty()) out["error"]["type"] = error.type;
    if (!error.code.empty()) out["error"]["code"] = error.code;
    if (error.status != 0) out["error"]["status"] = error.status;
  }
  return out;
}

void run(Dialect dialect, const Json& item, Shortcut shortcut) {
  require_keys(item, {"name", "events", "eof"});
  Interpreter interpreter(dialect, shortcut);
  for (const Json& each : item.at("events")) {
    require_keys(each, {"event", "data", "means"});
    const auto event_name = each.value("event", "");
    const auto data = each.at("data").get<std::string>();
    INFO(data);
    sse::Event event;
    event.name = event_name;
    event.data = data;
    CHECK(as_json(interpreter.interpret(event)) == each.at("means"));
  }
  CHECK(name(interpreter.at_eof()) == item.at("eof").get<std::string>());
}

TEST_CASE("the cases of every dialect") {
  for (const std::string file :
       {"openai_chat", "openai_responses", "anthropic_messages", "gemini", "seq_delta", "ai_sdk_ui", "opaque"}) {
    INFO(file);
    std::ifstream in("tests/conformance/dialect/" + file + ".json");
    REQUIRE(in.is_open());
    const Json cases = Json::parse(in);
    const auto dialect = from_name(cases.at("dialect").get<std::string>());
    REQUIRE(dialect.has_value());
    REQUIRE(cases.at("cases").size() >= 5);
    std::set<std::string> names;
    for (const Json& item : cases.at("cases")) {
      INFO(item.at("name").get<std::string>());
      CHECK(names.insert(item.at("name").get<std::string>()).second);
      run(*dialect, item, Shortcut::On);
      run(*dialect, item, Shortcut::Off);
    }
  }
}

}  // namespace
}  // namespace tidemark::dialect
