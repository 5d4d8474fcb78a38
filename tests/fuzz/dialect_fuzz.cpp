// The JSON reader against nlohmann/json; every dialect over any events: the shortcut against the long way, no meaning
// from broken JSON, texts that are UTF-8, endings that end.
//
// Input: a byte that chooses the dialect, then one event a line, NAME and a tab before its data if it has a name.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "core/dialect/challenge.hpp"
#include "core/dialect/ending.hpp"
#include "tests/core/dialect/json_oracle.hpp"
#include "tests/core/dialect/stream_pair.hpp"

namespace {

using tidemark::dialect::Answer;
using tidemark::dialect::Dialect;
using tidemark::dialect::EofVerdict;
using tidemark::dialect::FinishStyle;
using tidemark::dialect::Interpreter;
using tidemark::dialect::Kind;
using tidemark::dialect::Meaning;
using tidemark::dialect::OwnEvent;
namespace test = tidemark::dialect::test;

[[noreturn]] void fail(std::string_view what, std::string_view data) {
  std::fprintf(stderr, "%.*s\n-- at: %.*s\n", static_cast<int>(what.size()), what.data(), static_cast<int>(data.size()),
               data.data());
  std::abort();
}

void expect(bool holds, std::string_view what, std::string_view data) {
  if (!holds) fail(what, data);
}

bool is_json_object(std::string_view data) {
  tidemark::dialect::JsonReader reader(data);
  return reader.object([&](std::string_view) { reader.skip(); }) && reader.at_end();
}

tidemark::sse::Event event_of(std::string_view name, std::string_view data) {
  tidemark::sse::Event event;
  event.name = name;
  event.data = data;
  return event;
}

void check_meaning(Dialect dialect, std::string_view name, std::string_view data) {
  Interpreter interpreter(dialect);
  const Meaning meaning = interpreter.interpret(event_of(name, data));
  for (const std::string_view text : {meaning.text, meaning.reasoning, meaning.error.message, meaning.error.code}) {
    expect(test::repaired_utf8(text) == text, "a text is not UTF-8", data);
  }
  expect(!(meaning.terminal && meaning.kind == Kind::Error), "an error is terminal", data);
  if (dialect == Dialect::Opaque || data.empty() || data.substr(0, 6) == "[DONE]") return;
  if (meaning.kind == Kind::Malformed) expect(!is_json_object(data), "a JSON object is malformed", data);
  const bool excused = name == "error" || meaning.kind == Kind::Challenge;
  if (meaning.kind != Kind::Malformed && !excused) expect(is_json_object(data), "broken JSON means something", data);
  if (meaning.kind == Kind::Malformed) {
    expect(test::show(interpreter.answer()) == test::show(Answer{}), "broken JSON changes the answer", data);
  }
}

void check_ending(Dialect dialect, const Answer& answer, std::string_view data) {
  if (dialect == Dialect::Opaque || !answer.progress || answer.tool_open || answer.terminal) return;
  for (const FinishStyle style : {FinishStyle::Stop, FinishStyle::Length, FinishStyle::Error}) {
    Interpreter again(dialect, answer);
    for (const OwnEvent& own : ending(dialect, answer, style, "text")) {
      const Kind kind = again.interpret(event_of(own.name, own.data)).kind;
      expect(own.data == "[DONE]" || test::Json::accept(test::repaired_utf8(test::without_lone_surrogates(own.data))),
             "an ending is not JSON", own.data);
      expect((kind == Kind::Error) == (style == FinishStyle::Error), "an ending is an error, or the other way",
             own.data);
    }
    if (style != FinishStyle::Error) expect(again.at_eof() == EofVerdict::Complete, "an ending does not end", data);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const auto dialect = static_cast<Dialect>(bytes[0] % tidemark::dialect::kDialectCount);
  std::string_view input(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  test::StreamPair pair(dialect);
  while (!input.empty()) {
    std::string_view data = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), data.size() + 1));
    std::string_view name;
    if (const std::size_t tab = data.find('\t'); tab != std::string_view::npos) {
      name = data.substr(0, tab);
      data.remove_prefix(tab + 1);
    }
    if (const auto wrong = test::disagreement(data)) fail(*wrong, data);
    if (const auto wrong = pair.difference(name, data)) fail(*wrong, data);
    check_meaning(dialect, name, data);
    check_ending(dialect, pair.plain().answer(), data);
    tidemark::dialect::from_first_event(event_of(name, data));
    tidemark::dialect::is_challenge_body(200, name, data);
  }
  return 0;
}
