// Requests to the simulated upstream, and the paced bodies of its answers.
#include "native/simulate/simulated_upstream.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/dialect/ending.hpp"
#include "core/seam/watermark.hpp"

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

// Where a resumed /v1/seq answer starts: behind the watermark of the header, or of the body.
std::optional<seam::Seq> watermark_of(const http::Headers& headers, const Json& body) {
  if (const std::string* given = headers.find("X-Resume-Seq")) return seam::parse_watermark(*given);
  const auto field = body.find("resumeSeq");
  if (field == body.end()) return seam::kNothing;
  if (!field->is_number_integer() || field->get<seam::Seq>() < seam::kNothing) return std::nullopt;
  return field->get<seam::Seq>();
}

// What repetitions of a request have in common: all but the resume fields.
std::string identity_of(const http::RequestHead& head, Json body) {
  for (const char* field : {"resumeSeq", "receivedLength", "tailFingerprint"}) body.erase(field);
  std::string identity(head.target);
  identity += '\n';
  identity += head.headers.get("Idempotency-Key");
  identity += '\n';
  identity += head.headers.get("X-Simulate");
  identity += '\n';
  identity += body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return identity;
}

bool shows_reasoning(const std::vector<Fault>& faults) {
  return std::any_of(faults.begin(), faults.end(),
                     [](const Fault& fault) { return fault.kind == FaultKind::ReasoningOnly; });
}

std::string whole_answer(Dialect spoken, const std::string& text) {
  const Json usage = {{"prompt_tokens", 12}, {"completion_tokens", 1}, {"total_tokens", 13}};
  switch (spoken) {
    case Dialect::AnthropicMessages:
      return Json{{"id", "msg_simulated"},
                  {"type", "message"},
                  {"role", "assistant"},
                  {"model", "simulated-1"},
                  {"content", Json::array({{{"type", "text"}, {"text", text}}})},
                  {"stop_reason", "end_turn"},
                  {"stop_sequence", nullptr},
                  {"usage", {{"input_tokens", 12}, {"output_tokens", 1}}}}
          .dump();
    case Dialect::OpenaiResponses:
      return Json{{"id", "resp_simulated"},
                  {"object", "response"},
                  {"status", "completed"},
                  {"model", "simulated-1"},
                  {"output", Json::array({{{"id", "msg_simulated"},
                                           {"type", "message"},
                                           {"role", "assistant"},
                                           {"status", "completed"},
                                           {"content", Json::array({{{"type", "output_text"}, {"text", text}}})}}})}}
          .dump();
    case Dialect::OpenaiChat:
    case Dialect::Gemini:
    case Dialect::SeqDelta:
    case Dialect::AiSdkUi:
    case Dialect::Opaque:
      break;
  }
  const Json message = {{"role", "assistant"}, {"content", text}};
  return Json{{"id", "chatcmpl-simulated"},
              {"object", "chat.completion"},
              {"created", 1760000000},
              {"model", "simulated-1"},
              {"choices", Json::array({{{"index", 0}, {"message", message}, {"finish_reason", "stop"}}})},
              {"usage", usage}}
      .dump();
}

// A plan, one frame an interval.
class PacedBody final : public downstream::BodySource {
 public:
  PacedBody(loop::Loop& loop, const std::shared_ptr<downstream::Exchange>& exchange, Plan plan, TimeMs interval_ms)
      : loop_(loop), exchange_(exchange), plan_(std::move(plan)), interval_ms_(interval_ms), timer_(loop) {}

  downstream::Pull pull(std::string& out, std::size_t /*max*/) override {
    if (waiting_) return downstream::Pull::Pending;
    if (next_ == plan_.frames.size()) return end();
    const std::string& frame = plan_.frames[next_];
    if (plan_.byte_by_byte) {
      out += frame[offset_++];
      if (offset_ < frame.size()) {
        // Its own turn, and so its own write.
        wait(loop_.now_ms());
        return downstream::Pull::Pending;
      }
      offset_ = 0;
    } else {
      out += frame;
    }
    ++next_;
    if (next_ == plan_.frames.size() && plan_.end == PlanEnd::Repeat) --next_;
    if (interval_ms_ == 0 && plan_.end != PlanEnd::Repeat) {
      return next_ == plan_.frames.size() ? end() : downstream::Pull::More;
    }
    wait(loop_.now_ms() + std::max<TimeMs>(interval_ms_, plan_.end == PlanEnd::Repeat ? kRepeatMs : 0));
    return downstream::Pull::Pending;
  }

 private:
  // Keepalives without an interval would be a flood.
  static constexpr TimeMs kRepeatMs = 10;

  downstream::Pull end() {
    switch (plan_.end) {
      case PlanEnd::EndOfBody:
        return downstream::Pull::End;
      case PlanEnd::Cut:
        return downstream::Pull::Abort;
      case PlanEnd::Reset:
        // After what was said has been written: a reset throws away what is still on its way.
        loop_.post([exchange = exchange_] {
          if (const auto open = exchange.lock()) open->reset();
        });
        return downstream::Pull::Pending;
      case PlanEnd::Stall:
      case PlanEnd::Repeat:
        return downstream::Pull::Pending;
    }
    return downstream::Pull::End;
  }

  void wait(TimeMs until) {
    waiting_ = true;
    timer_.set(until, [this] {
      waiting_ = false;
      if (const auto open = exchange_.lock()) open->wake();
    });
  }

  loop::Loop& loop_;
  std::weak_ptr<downstream::Exchange> exchange_;
  Plan plan_;
  TimeMs interval_ms_;
  loop::Timer timer_;
  std::size_t next_ = 0;
  std::size_t offset_ = 0;
  bool waiting_ = false;
};

}  // namespace

SimulatedUpstream::SimulatedUpstream(loop::Loop& loop, Recording recording, std::vector<Fault> program,
                                     TimeMs interval_ms)
    : loop_(loop),
      recording_(std::move(recording)),
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
  const Json body = Json::parse(exchange->body(), nullptr, false);
  if (!body.is_object()) {
    respond_error(*exchange, *spoken, 400, "invalid_body", "body: allowed: a JSON object");
    return;
  }
  const auto watermark = watermark_of(head.headers, body);
  if (!watermark) {
    respond_error(*exchange, *spoken, 400, "resume_invalid", "X-Resume-Seq: allowed: an integer from -1 on");
    return;
  }
  Fault fault;
  bool thinks = program_thinks_;
  if (const std::string* own = head.headers.find("X-Simulate")) {
    const auto faults = parse_faults(*own);
    if (!faults) {
      respond_error(*exchange, *spoken, 400, "invalid_fault", "X-Simulate: " + faults.error());
      return;
    }
    fault = schedule_.next(identity_of(head, body), faults.value());
    thinks = shows_reasoning(faults.value());
  } else {
    fault = schedule_.next();
  }
  if (fault.kind == FaultKind::ConnectReset) {
    exchange->reset();
    return;
  }
  const bool stream = *spoken == Dialect::SeqDelta || body.value("stream", Json(false)) == true;
  const bool answers_well =
      fault.kind == FaultKind::None || fault.kind == FaultKind::Crlf || fault.kind == FaultKind::Split;
  if (!stream && answers_well) {
    exchange->respond(make_head(200, "application/json"), whole_answer(*spoken, recording_.pieces().joined_text()));
    return;
  }
  // A resumed answer must be the one that was begun: on /v1/seq all attempts under one list have the same events. The
  // other dialects start anew, and only the attempt that shows nothing but reasoning has any.
  const bool resumable = *spoken == Dialect::SeqDelta;
  if (!resumable) thinks = fault.kind == FaultKind::ReasoningOnly;
  const Script script = recording_.script(*spoken, thinks ? Reasoning::First : Reasoning::AsRecorded);
  answer_stream(exchange, plan_stream(script, fault, resumable ? script.above(*watermark) : 0));
}

void SimulatedUpstream::answer_stream(const std::shared_ptr<downstream::Exchange>& exchange, Plan plan) {
  http::ResponseHead head = make_head(plan.status, plan.content_type);
  const bool whole = plan.content_type != "text/event-stream" && plan.end == PlanEnd::EndOfBody;
  if (whole) {
    exchange->respond(std::move(head), std::move(plan.frames.front()));
    return;
  }
  head.headers.add("Cache-Control", "no-cache");
  exchange->respond(std::move(head), std::make_unique<PacedBody>(loop_, exchange, std::move(plan), interval_ms_));
}

}  // namespace tidemark::simulate
