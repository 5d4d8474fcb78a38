// What a run asks for where an answer was cut, and what it learns from being refused (contract § 5).
#include <algorithm>

#include "native/proxy/stream_run.hpp"

namespace tidemark::proxy {

Result<continuation::ContinuedRequest, std::string_view> StreamRun::continued(seam::Form form,
                                                                              std::size_t upstream) const {
  const config::Upstream& to = context_.upstreams[upstream];
  if (std::find(to.continuation.begin(), to.continuation.end(), form) == to.continuation.end()) {
    return std::string_view("not-configured");
  }
  const auto spoken = context_.upstreams.dialect(upstream, request_.dialect);
  if (spoken && *spoken != relay_.dialect()) return std::string_view("another-dialect");
  const std::string model = continuation::model_of(request_.head.target, request_.body);
  if (context_.refused_forms.is_refused(to.name, model, form)) return std::string_view("refused-before");
  const dialect::Answer& answer = relay_.provider_answer();
  return continuation::continued_request(form, {.upstream = to,
                                                .dialect = relay_.dialect(),
                                                .target = request_.head.target,
                                                .body = request_.body,
                                                .text = relay_.text(),
                                                .answer_id = answer.id,
                                                .last_sequence = answer.sequence,
                                                .tokens = std::max(relay_.tokens(), relay_.text().size() / 4),
                                                .reasoned = answer.reasoning});
}

/// What the upstream's refusal says of the form, for requests to come.
void StreamRun::judge_form(const session::RelayAction& action) {
  if (!continuation::refuses_form(*action.form, head_.status, relay_.bytes(action))) return;
  const config::Upstream& upstream = context_.upstreams[sent_.back().upstream];
  const std::string model = continuation::model_of(request_.head.target, request_.body);
  context_.refused_forms.refused(upstream.name, model, *action.form);
  context_.logger.write(observe::Level::Info, observe::Line("continuation refused")
                                                  .text("upstream", upstream.name)
                                                  .text("model", model)
                                                  .text("form", seam::name(*action.form)));
}

}  // namespace tidemark::proxy
