// Building the continuing requests.
#include "native/continuation/continuation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "native/continuation/conditions.hpp"
#include "native/continuation/interruption.hpp"
#include "native/continuation/json_edit.hpp"
#include "native/continuation/providers.hpp"
#include "native/continuation/turns.hpp"
#include "native/continuation/white_space.hpp"

namespace tidemark::continuation {
namespace {

using dialect::Dialect;
using seam::Continuer;
using seam::Form;
using Built = Result<ContinuedRequest, std::string_view>;

constexpr std::string_view kNotJson = "not-json";
constexpr std::string_view kNothing = "nothing-to-continue";
constexpr std::string_view kPrefixRefused = "prefix-refused";
constexpr std::string_view kThinking = "thinking";
constexpr std::string_view kPositionUnknown = "position-unknown";

// They say where the client wants to go on, which is another place.
constexpr std::array<std::string_view, 4> kResumeHeaders{"x-resume-seq", "last-event-id", "tidemark-epoch",
                                                         "x-tail-fingerprint"};
// They hold for one body only.
constexpr std::array<std::string_view, 5> kBodyHeaders{"idempotency-key", "content-md5", "content-digest", "digest",
                                                       "repr-digest"};
constexpr std::array<std::string_view, 3> kContentHeaders{"content-type", "content-length", "content-encoding"};

template <std::size_t N>
void leave_out(ContinuedRequest& request, const std::array<std::string_view, N>& names) {
  request.remove.insert(request.remove.end(), names.begin(), names.end());
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find_first_of("?#")); }

std::string_view query_of(std::string_view target) {
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1, target.find('#') - mark - 1);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

/// The provider's own resume of a Responses answer.
Built reattaching_responses(const CutAnswer& cut) {
  const auto body = JsonObject::read(cut.body);
  if (!body) return kNotJson;
  if (const auto why = why_no_seam(Form::Reattach, cut.dialect, *body)) return *why;
  if (cut.answer_id.empty() || !cut.last_sequence) return kPositionUnknown;
  std::string_view path = path_of(cut.target);
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  ContinuedRequest request;
  request.method = "GET";
  request.target = cut.upstream.base.path;
  request.target.append(path).append("/").append(percent_encoded(cut.answer_id)).append("?");
  if (const std::string_view query = query_of(cut.target); !query.empty()) request.target.append(query).append("&");
  request.target.append("stream=true&starting_after=").append(std::to_string(*cut.last_sequence));
  for (const std::string_view part : elements_of(body->find("include"))) {
    if (const auto name = said(part)) request.target.append("&include%5B%5D=").append(percent_encoded(*name));
  }
  leave_out(request, kResumeHeaders);
  leave_out(request, kBodyHeaders);
  leave_out(request, kContentHeaders);
  request.continuer = Continuer::SameGeneration;
  return request;
}

/// The same request again, and where to go on: the server knows it by its key.
Built reattaching_seq_delta(const CutAnswer& cut) {
  if (!cut.last_sequence) return kPositionUnknown;
  ContinuedRequest request;
  request.method = "POST";
  request.target = cut.upstream.base.path;
  request.target.append(cut.target);
  request.body = cut.body;
  leave_out(request, kResumeHeaders);
  request.set.add("X-Resume-Seq", std::to_string(*cut.last_sequence));
  request.continuer = Continuer::SameGeneration;
  return request;
}

/// Takes what was spent off a limit, down to `least`.
void spend(JsonEdit& edit, std::string_view limit, std::uint64_t tokens, std::uint64_t least) {
  const auto allowed = whole_number(limit);
  if (!allowed || tokens == 0 || *allowed <= least) return;
  const std::uint64_t left = *allowed > tokens ? *allowed - tokens : 0;
  edit.replace(limit, std::to_string(std::max(left, least)));
}

void spend(JsonEdit& edit, Dialect dialect, const JsonObject& body, std::uint64_t tokens) {
  if (dialect == Dialect::OpenaiChat) {
    spend(edit, body.find("max_tokens"), tokens, 1);
    spend(edit, body.find("max_completion_tokens"), tokens, 1);
    spend(edit, body.find("min_tokens"), tokens, 0);  // vLLM's; above the limit it is an error
  } else if (dialect == Dialect::OpenaiResponses) {
    constexpr std::uint64_t kLeast = 16;  // OpenAI refuses a lower one
    spend(edit, body.find("max_output_tokens"), tokens, kLeast);
  } else if (dialect == Dialect::AnthropicMessages) {
    // The budget for thinking must stay below the limit.
    const JsonObject thinking = JsonObject::of(body.find("thinking"));
    const auto budget = thinking.is("type", "enabled") ? whole_number(thinking.find("budget_tokens")) : std::nullopt;
    spend(edit, body.find("max_tokens"), tokens, budget.value_or(0) + 1);
  } else {
    const JsonObject config = JsonObject::of(body.find("generationConfig", "generation_config"));
    spend(edit, config.find("maxOutputTokens", "max_output_tokens"), tokens, 1);
  }
}

}  // namespace

std::optional<std::string_view> why_no_seam(Form form, Dialect dialect, std::string_view body) {
  if (form == Form::Reattach && dialect == Dialect::SeqDelta) return std::nullopt;
  const auto object = JsonObject::read(body);
  return object ? why_no_seam(form, dialect, *object) : kNotJson;
}

Built continued_request(Form form, const CutAnswer& cut) {
  if (form == Form::Reattach) {
    return cut.dialect == Dialect::SeqDelta ? reattaching_seq_delta(cut) : reattaching_responses(cut);
  }
  const auto body = JsonObject::read(cut.body);
  if (!body) return kNotJson;
  if (const auto why = why_no_seam(form, cut.dialect, *body)) return *why;
  const std::size_t space = space_at_end(cut.text);
  if (space == cut.text.size()) return kNothing;

  const std::string model = model_of(cut.target, cut.body);
  PrefixManner manner = prefix_manner(cut.upstream, cut.dialect, model);
  ContinuedRequest request;
  request.method = "POST";
  request.target = cut.upstream.base.path;
  request.target.append(cut.target);
  JsonEdit edit(cut.body);
  if (form == Form::Prefix) {
    if (manner.refused) return kPrefixRefused;
    const bool thinks = manner.never_thinking && asks_for_thinking(*body, model);
    if (thinks || (manner.never_after_thought && cut.reasoned)) return kThinking;
    if (manner.beta_path) request.target = under_beta(request.target);
    if (manner.strips) request.stripped_bytes = space;
    manner.echo |= cut.dialect == Dialect::OpenaiChat && body->is_true("echo");  // vLLM's
    if (manner.echo) request.continuer = Continuer::Echo;
    add_prefix(edit, cut.dialect, *body, cut.text.substr(0, cut.text.size() - request.stripped_bytes), manner);
  } else {
    add_user_turn(edit, cut.dialect, *body, cut.text, interruption_notice(cut.text), !manner.refused);
  }
  spend(edit, cut.dialect, *body, cut.tokens);
  request.body = edit.apply();
  leave_out(request, kResumeHeaders);
  leave_out(request, kBodyHeaders);
  return request;
}

void apply(const ContinuedRequest& request, http::RequestHead& head) {
  head.method = request.method;
  head.target = request.target;
  for (const std::string_view name : request.remove) head.headers.remove(name);
  for (const http::Header& header : request.set) head.headers.set(header.name, header.value);
}

std::string model_of(std::string_view target, std::string_view body) {
  if (const auto object = JsonObject::read(body)) {
    if (auto model = object->string("model")) return *std::move(model);
  }
  const std::string_view path = path_of(target);
  for (const std::string_view before : {"/models/", "/deployments/", "/model/"}) {
    const std::size_t at = path.rfind(before);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = path.substr(at + before.size());
    return std::string(rest.substr(0, rest.find_first_of(":/")));
  }
  return {};
}

}  // namespace tidemark::continuation
