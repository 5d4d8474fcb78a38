// Requests to the simulated upstream, and the paced bodies of its answers.
#include "native/simulate/simulated_upstream.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/dialect/ending.hpp"
#include "native/simulate/paced_body.hpp"
#include "native/simulate/rest.hpp"
#include "native/simulate/whole_answer.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using Json = nlohmann::ordered_json;

struct Endpoint {
  std::string_view path;
  Dialect dialect;
};
constexpr std::array kEndpoints = {
    Endpoint{"/v1/chat/completions", Dialect::OpenaiChat},
    Endpoint{"/v1/responses", Dialect::OpenaiResponses},
    Endpoint{"/v1/messages", Dialect::AnthropicMessages},
    Endpoint{"/v1/seq", Dialect::SeqDelta},
};

// Responses that are kept are found below this.
constexpr std::string_view kKept = "/v1/responses/";

std::optional<Dialect> endpoint_of(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  for (const Endpoint& endpoint : kEndpoints) {
    if (endpoint.path == path) return endpoint.dialect;
  }
  return std::nullopt;
}

// Any page may try the simulated upstream: it has nothing to protect.
http::ResponseHead make_head(int status, std::string_view content_type) {
  http::ResponseHead head;
  head.status = status;
  if (!content_type.empty()) head.headers.add("Content-Type", std::string(content_type));
  head.headers.add("Access-Control-Allow-Origin", "*");
  head.headers.add("Access-Control-Expose-Headers", "*");
  return head;
}

void respond_error(downstream::Exchange& exchange, Dialect spoken, int status, std::string_view code,
                   std::string_view message) {
  dialect::ErrorFacts facts;
  facts.status = status;
  facts.type = "invalid_request_error";
  facts.code = code;
  facts.message = message;
  exchange.respond(make_head(status, "application/json"), dialect::error_body(spoken, facts));
}

bool shows_reasoning(const std::vector<Fault>& faults) {
  return std::any_of(faults.begin(), faults.end(),
                     [](const Fault& fault) { return fault.kind == FaultKind::ReasoningOnly; });
}

// So many code points before `at`, or the beginning.
std::size_t earlier(std::string_view text, std::size_t at, std::size_t points) {
  for (std::size_t i = 0; i < points && at > 0; ++i) {
    do --at;
    while (at > 0 && is_continuation(text[at]));
  }
  return at;
}

// The value of a field of the target's query, nothing decoded.
std::optional<std::string_view> query_field(std::string_view target, std::string_view name) {
  std::string_view query = target.substr(std::min(target.find('?'), target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const std::string_view field = query.substr(0, query.find('&'));
    if (field.size() > name.size() && field.substr(0, name.size()) == name && field[name.size()] == '=') {
      return field.substr(name.size() + 1);
    }
    query.remove_prefix(field.size());
  }
  return std::nullopt;
}

// openai-responses: the response that an event holds.
Json response_in(const ScriptEvent& event) {
  const Json json = Json::parse(event.data, nullptr, false);
  return json.is_object() ? json.value("response", Json::object()) : Json::object();
}

}  // namespace

SimulatedUpstream::SimulatedUpstream(loop::Loop& loop, Recording recording, std::vector<Fault> program,
                                     TimeMs interval_ms)
    : loop_(loop),
      recording_(std::move(recording)),
      answer_(recording_.pieces().joined_text()),
      program_thinks_(shows_reasoning(program)),
      schedule_(std::move(program)),
      interval_ms_(interval_ms) {}

void SimulatedUpstream::handle(std::shared_ptr<downstream::Exchange> exchange) {
  const http::RequestHead& head = exchange->head();
  if (head.method == "OPTIONS") {
    http::ResponseHead preflight = make_head(204, {});
    preflight.headers.add("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
    preflight.headers.add("Access-Control-Allow-Headers",
                          std::string(head.headers.get("Access-Control-Request-Headers")));
    preflight.headers.add("Access-Control-Max-Age", "600");
    exchange->respond(std::move(preflight), std::string());
    return;
  }
  if (head.target.compare(0, kKept.size(), kKept) == 0) {
    reattach(exchange);
    return;
  }
  const auto spoken = endpoint_of(head.target);
  if (!spoken) {
    respond_error(*exchange, Dialect::OpenaiChat, 404, "not_found",
                  "no such endpoint; allowed: /v1/chat/completions, /v1/responses, /v1/messages, /v1/seq");
    return;
  }
  if (head.method != "POST") {
    respond_error(*exchange, *spoken, 405, "method_not_allowed", "method: allowed: POST");
    return;
  }
  const auto request = read_request(*spoken, head, exchange->body(), answer_);
  if (!request) {
    respond_error(*exchange, *spoken, 400, request.error().code, request.error().message);
    return;
  }
  std::optional<std::vector<Fault>> own;
  if (const std::string* given = head.headers.find("X-Simulate")) {
    auto faults = parse_faults(*given);
    if (!faults) {
      respond_error(*exchange, *spoken, 400, "invalid_fault", "X-Simulate: " + faults.error());
      return;
    }
    own = std::move(faults).value();
  }
  answer(exchange, *spoken, request.value(), own);
}

void SimulatedUpstream::answer(const std::shared_ptr<downstream::Exchange>& exchange, Dialect spoken,
                               const Request& request, const std::optional<std::vector<Fault>>& own) {
  std::string identity = request.identity;
  if (request.continues != Continues::Nothing && !schedule_.knows(identity)) {
    identity = schedule_.latest(request.subject).value_or(identity);
  }
  const Fault fault = next_fault(identity, own);
  if (fault.seam == SeamFault::RefusePrefix && request.ends_with_assistant) {
    respond_error(*exchange, spoken, 400, "prefill_unsupported",
                  "This model does not support assistant message prefill. The conversation must end with a user "
                  "message.");
    return;
  }
  if (fault.kind == FaultKind::ConnectReset) {
    exchange->reset();
    return;
  }
  const bool thinks = own ? shows_reasoning(*own) : program_thinks_;
  const std::string mark = "-" + std::to_string(++answers_);
  Script script = told(spoken, request, fault, thinks, mark);
  const bool answers_well =
      fault.kind == FaultKind::None || fault.kind == FaultKind::Crlf || fault.kind == FaultKind::Split;
  if (!request.stream && answers_well) {
    const std::string text = script.text();
    const Script whole = recording_.script(spoken);
    const std::size_t shown = request.continues == Continues::Tail ? 0 : tokens_in(whole, request.so_far);
    exchange->respond(make_head(200, "application/json"),
                      whole_answer(spoken, {text, 12 + shown, tokens_in(script, text.size()), mark}));
    return;
  }
  const bool resumes = spoken == Dialect::SeqDelta && request.continues == Continues::Nothing;
  Plan plan = plan_stream(script, fault, resumes ? script.above(request.watermark) : 0);
  if (request.background && request.stream && fault.kind != FaultKind::Status) {
    const std::string id = response_in(script.events.front()).value("id", std::string());
    generations_.keep(id, {std::move(script), identity, own});
  }
  send(exchange, std::move(plan));
}

Script SimulatedUpstream::told(Dialect spoken, const Request& request, const Fault& fault, bool thinks,
                               const std::string& mark) const {
  // A resumed answer must be the one that was begun: on /v1/seq all attempts under one list have the same events. The
  // other dialects start anew, and only the attempt that shows nothing but reasoning has any.
  const bool same = spoken == Dialect::SeqDelta;
  const Reasoning reasoning =
      (same ? thinks : fault.kind == FaultKind::ReasoningOnly) ? Reasoning::First : Reasoning::AsRecorded;
  if (request.continues == Continues::Nothing || fault.kind == FaultKind::ReasoningOnly) {
    if (!request.background) return recording_.script(spoken, reasoning, mark);
    return marked(recording_.script(spoken, reasoning), mark);
  }
  const Script whole = recording_.script(spoken, reasoning);
  Telling telling;
  telling.from = request.so_far;
  telling.shown = request.continues == Continues::Tail ? 0 : tokens_in(whole, request.so_far);
  telling.mark = mark;
  switch (fault.seam) {
    case SeamFault::None:
    case SeamFault::RefusePrefix:
      break;
    case SeamFault::Overlap:
      telling.from = earlier(answer_, request.so_far, fault.overlap);
      break;
    case SeamFault::Echo:
      telling.lead = answer_.substr(0, request.so_far);
      telling.leading = telling.shown;
      break;
    case SeamFault::LeadIn:
      telling.lead = "Sure, continuing: ";
      telling.leading = 1;
      break;
    case SeamFault::Restart:
      return marked(whole, mark);
    case SeamFault::RestartParaphrased:
      return render(spoken, paraphrased(recording_.pieces()), mark);
    case SeamFault::Different:
      return render(spoken, other_pieces(), mark);
  }
  return rest_of(whole, same ? Rest::Same : Rest::Fresh, telling);
}

Fault SimulatedUpstream::next_fault(const std::string& identity, const std::optional<std::vector<Fault>>& own) {
  return own ? schedule_.next(identity, *own) : schedule_.next();
}

void SimulatedUpstream::reattach(const std::shared_ptr<downstream::Exchange>& exchange) {
  const http::RequestHead& head = exchange->head();
  if (head.method != "GET") {
    respond_error(*exchange, Dialect::OpenaiResponses, 405, "method_not_allowed", "method: allowed: GET");
    return;
  }
  const std::string_view target = head.target;
  const std::string id(target.substr(kKept.size(), target.find('?') - kKept.size()));
  const Generation* generation = generations_.find(id);
  if (generation == nullptr) {
    respond_error(*exchange, Dialect::OpenaiResponses, 404, "not_found", "Response with id '" + id + "' not found.");
    return;
  }
  if (query_field(target, "stream") != "true") {
    std::string latest = "{}";
    for (const ScriptEvent& event : generation->script.events) {
      if (const Json response = response_in(event); !response.empty()) latest = response.dump();
    }
    exchange->respond(make_head(200, "application/json"), std::move(latest));
    return;
  }
  const auto after = query_field(target, "starting_after");
  const auto watermark = after ? seam::parse_watermark(*after) : seam::kNothing;
  if (!watermark || (after && *watermark < 0)) {
    respond_error(*exchange, Dialect::OpenaiResponses, 400, "invalid_request",
                  "starting_after: allowed: an integer from 0 on");
    return;
  }
  const Fault fault = next_fault(generation->identity, generation->own);
  if (fault.kind == FaultKind::ConnectReset) {
    exchange->reset();
    return;
  }
  send(exchange, plan_stream(generation->script, fault, generation->script.above(*watermark)));
}

void SimulatedUpstream::send(const std::shared_ptr<downstream::Exchange>& exchange, Plan plan) {
  http::ResponseHead head = make_head(plan.status, plan.content_type);
  if (plan.retry_after_s) head.headers.add("Retry-After", std::to_string(*plan.retry_after_s));
  const bool whole = plan.content_type != "text/event-stream" && plan.end == PlanEnd::EndOfBody;
  if (whole) {
    exchange->respond(std::move(head), std::move(plan.frames.front()));
    return;
  }
  head.headers.add("Cache-Control", "no-cache");
  exchange->respond(std::move(head), std::make_unique<PacedBody>(loop_, exchange, std::move(plan), interval_ms_));
}

}  // namespace tidemark::simulate
