// Requests to the simulated upstream as a proxy makes them, and what their answers say.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/dialect/interpreter.hpp"
#include "core/sse/parser.hpp"
#include "tests/native/simulate/running_upstream.hpp"

namespace tidemark::simulate {

using Json = nlohmann::json;

struct Answer {
  int status = 0;
  std::string body;
  bool complete = false;  // the body ended as its framing says
  std::vector<std::string> data;
  std::vector<std::string> pieces;  // of text, one an event
  std::string text;
  std::string reasoning;
  std::string id;
  std::string usage;  // the last that was told, as it came
  dialect::EofVerdict verdict = dialect::EofVerdict::Empty;
};

inline Answer ask(const RunningUpstream& upstream, dialect::Dialect spoken, const std::string& method,
                  const std::string& target, const http::Headers& headers, const std::string& body) {
  test::HttpClient client = upstream.connect();
  client.request(method, target, headers, body);
  Answer answer;
  const test::Reply head = client.read_head();
  answer.status = head.status;
  if (answer.status == 0) return answer;
  for (std::string more = client.read_some(65536, answer.complete); !more.empty();
       more = client.read_some(65536, answer.complete)) {
    answer.body += more;
  }
  if (head.headers.get("Content-Type") != "text/event-stream") return answer;
  sse::Parser parser;
  dialect::Interpreter interpreter(spoken);
  parser.feed(answer.body);
  sse::Event event;
  for (sse::Step step = parser.next(event); step != sse::Step::NeedMore; step = parser.next(event)) {
    REQUIRE(step != sse::Step::Failed);
    if (step != sse::Step::Event) continue;
    const dialect::Meaning meaning = interpreter.interpret(event);
    answer.data.emplace_back(event.data);
    if (!meaning.text.empty()) answer.pieces.emplace_back(meaning.text);
    answer.text += meaning.text;
    answer.reasoning += meaning.reasoning;
  }
  answer.id = interpreter.answer().id;
  answer.usage = interpreter.answer().usage_json;
  answer.verdict = interpreter.at_eof();
  return answer;
}

inline std::string path_of(dialect::Dialect spoken) {
  switch (spoken) {
    case dialect::Dialect::OpenaiResponses:
      return "/v1/responses";
    case dialect::Dialect::AnthropicMessages:
      return "/v1/messages";
    case dialect::Dialect::SeqDelta:
      return "/v1/seq";
    case dialect::Dialect::OpenaiChat:
    case dialect::Dialect::Gemini:
    case dialect::Dialect::AiSdkUi:
    case dialect::Dialect::Opaque:
      break;
  }
  return "/v1/chat/completions";
}

/// A question with its faults; empty: none of its own.
struct Question {
  dialect::Dialect spoken = dialect::Dialect::OpenaiChat;
  std::string faults;
  std::string key;
  Json body;

  Question(dialect::Dialect dialect, std::string list, const std::string& said)
      : spoken(dialect), faults(std::move(list)) {
    body = {{"model", "m"}, {"stream", true}};
    turns() = Json::array({{{"role", "user"}, {"content", said}}});
  }
  Json& turns() { return body[spoken == dialect::Dialect::OpenaiResponses ? "input" : "messages"]; }

  Question prefix(const Json& text_so_far) const {
    Question asking = *this;
    asking.turns().push_back({{"role", "assistant"}, {"content", text_so_far}});
    return asking;
  }
  Question turn(const std::string& text_so_far) const {
    Question asking = prefix(text_so_far);
    const std::string quoted = text_so_far.substr(text_so_far.size() - std::min<std::size_t>(text_so_far.size(), 40));
    asking.turns().push_back(
        {{"role", "user"}, {"content", "It was interrupted and ended with `" + quoted + "`. Go on."}});
    return asking;
  }
  Question with(const char* field, const Json& value) const {
    Question asking = *this;
    asking.body[field] = value;
    return asking;
  }
  /// Sets a field of the last turn.
  Question last_with(const char* field, const Json& value) const {
    Question asking = *this;
    asking.turns().back()[field] = value;
    return asking;
  }

  Answer ask(const RunningUpstream& upstream) const {
    http::Headers headers;
    if (!faults.empty()) headers.add("X-Simulate", faults);
    if (!key.empty()) headers.add("Idempotency-Key", key);
    return simulate::ask(upstream, spoken, "POST", path_of(spoken), headers, body.dump());
  }
};

}  // namespace tidemark::simulate
