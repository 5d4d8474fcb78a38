// Faults applied to a script.
#include "native/simulate/plan.hpp"

#include <algorithm>

#include "core/dialect/ending.hpp"
#include "core/sse/encoder.hpp"

namespace tidemark::simulate {
namespace {

constexpr std::string_view kChallengeJson =
    R"({"api":"simulated","v":"1.0","ret":["FAIL_SYS_USER_VALIDATE","RGV587_ERROR::SM::simulated challenge"],)"
    R"("data":{"url":"https://simulated.invalid/_____tmd_____/punish?x5secdata=simulated"}})";

constexpr std::string_view kChallengeHtml =
    "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>Captcha Interception</title></head>\n<body>\n"
    "<script>window._config_ = {\"action\": \"captcha\", \"url\": "
    "\"https://simulated.invalid:443/v1/_____tmd_____/punish?x5secdata=simulated&x5step=1\"};</script>\n"
    "<p>Please slide to verify.</p>\n</body>\n</html>\n";

std::string frame(const ScriptEvent& event) {
  std::string out;
  sse::append_event(out, event.name, event.data);
  return out;
}

std::string to_crlf(const std::string& lines) {
  std::string out;
  for (const char c : lines) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

std::vector<std::string> frames(const Script& script, std::size_t from, std::size_t to) {
  std::vector<std::string> out;
  for (std::size_t i = std::min(from, script.events.size()); i < std::min(to, script.events.size()); ++i) {
    out.push_back(frame(script.events[i]));
  }
  return out;
}

std::string error_frame(dialect::Dialect spoken) {
  dialect::ErrorFacts facts;
  facts.status = 500;
  facts.type = spoken == dialect::Dialect::AnthropicMessages ? "overloaded_error" : "server_error";
  facts.code = "server_error";
  facts.message = "The simulated model is overloaded.";
  const dialect::OwnEvent event = dialect::error_event(spoken, dialect::Answer{}, facts);
  return frame({event.name, event.data});
}

}  // namespace

Plan plan_stream(const Script& script, const Fault& fault, std::size_t from) {
  constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  Plan plan;
  switch (fault.kind) {
    case FaultKind::None:
      plan.frames = frames(script, from, kAll);
      break;
    case FaultKind::Status: {
      dialect::ErrorFacts facts;
      facts.status = fault.status;
      facts.type = script.dialect == dialect::Dialect::AnthropicMessages ? "api_error" : "server_error";
      facts.code = "simulated_status";
      const std::string message = "The simulated upstream answers with status " + std::to_string(fault.status) + ".";
      facts.message = message;
      plan.status = fault.status;
      plan.retry_after_s = fault.retry_after_s;
      plan.content_type = "application/json";
      plan.frames = {dialect::error_body(script.dialect, facts)};
      break;
    }
    case FaultKind::ConnectReset:
      plan.status = 0;
      plan.end = PlanEnd::Reset;
      break;
    case FaultKind::ResetAfter:
      plan.frames = frames(script, from, from + fault.events);
      plan.end = PlanEnd::Reset;
      break;
    case FaultKind::EofAfter:
      plan.frames = frames(script, from, from + fault.events);
      break;
    case FaultKind::StallAfter:
      plan.frames = frames(script, from, from + fault.events);
      plan.end = PlanEnd::Stall;
      break;
    case FaultKind::Empty:
      break;
    case FaultKind::PreambleOnly:
      plan.frames = frames(script, from, script.preamble);
      break;
    case FaultKind::ReasoningOnly:
      plan.frames = frames(script, from, script.thoughts);
      break;
    case FaultKind::ErrorEvent:
      plan.frames = frames(script, from, script.preamble);
      plan.frames.push_back(error_frame(script.dialect));
      break;
    case FaultKind::ChallengeJson:
      plan.content_type = "application/json";
      plan.frames = {std::string(kChallengeJson)};
      break;
    case FaultKind::ChallengeHtml:
      plan.content_type = "text/html; charset=utf-8";
      plan.frames = {std::string(kChallengeHtml)};
      break;
    case FaultKind::ChallengeHtmlCut:
      plan.content_type = "text/html; charset=utf-8";
      plan.frames = {std::string(kChallengeHtml.substr(0, kChallengeHtml.find("&x5step")))};
      plan.end = PlanEnd::Cut;
      break;
    case FaultKind::Silence:
      plan.end = PlanEnd::Stall;
      break;
    case FaultKind::PingsOnly:
      plan.frames = {std::string(dialect::keepalive(script.dialect))};
      plan.end = PlanEnd::Repeat;
      break;
    case FaultKind::Crlf:
      for (const std::string& lines : frames(script, from, kAll)) plan.frames.push_back(to_crlf(lines));
      break;
    case FaultKind::Split:
      plan.frames = frames(script, from, kAll);
      plan.byte_by_byte = true;
      break;
  }
  return plan;
}

}  // namespace tidemark::simulate
