// The requests that continue a cut answer (contract § 5), as values: what is sent, and what may not be continued.
//
// Bodies are edited where they stand, not written anew: every member that a continuation does not concern keeps its
// bytes, numbers of any size and keys that stand twice included (of those the last one counts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/dialect/dialect.hpp"
#include "core/seam/continuer.hpp"
#include "core/seam/form.hpp"
#include "native/config/config.hpp"
#include "native/http/message.hpp"

namespace tidemark::continuation {

/// A request whose answer was cut, and what there is of the answer. Views need to live during the call only.
struct CutAnswer {
  const config::Upstream& upstream;  // where the continuing request goes
  dialect::Dialect dialect = dialect::Dialect::Opaque;
  std::string_view target = {};                     // of the request as the client sent it
  std::string_view body = {};                       // as it went upstream at first, without what other seams added
  std::string_view text = {};                       // all of the answer's text so far
  std::string_view answer_id = {};                  // the provider's id of the answer; empty: not known
  std::optional<std::uint64_t> last_sequence = {};  // the provider's number of the last event that was delivered
  std::uint64_t tokens = 0;                         // of the answer so far
  bool reasoned = false;                            // reasoning came before the text
};

struct ContinuedRequest {
  std::string method;
  std::string target;                    // whole: the base path is part of it
  http::Headers set;                     // to be set in the head as it goes upstream
  std::vector<std::string_view> remove;  // to be left out of it; the views are of constants
  std::string body;
  seam::Continuer continuer = seam::Continuer::Model;
  std::size_t stripped_bytes = 0;  // of white space at the end of the text, which the model is not shown
};

/// Why a request's answer may not be continued in this form, whatever the upstream: "several-choices",
/// "structured-output", … nullopt where it may. Whether the answer may (no open tool call, no refusal) is for others to
/// see.
std::optional<std::string_view> why_no_seam(seam::Form form, dialect::Dialect dialect, std::string_view body);

/// The request that continues the answer, or why there is none: what why_no_seam() says, or why this upstream or this
/// answer does not allow it ("prefix-refused", "nothing-to-continue", …). Linear in body and text.
Result<ContinuedRequest, std::string_view> continued_request(seam::Form form, const CutAnswer& cut);

/// Makes the head of the first request, as it goes upstream (proxy::to_upstream), that of the continuing one. An
/// Idempotency-Key goes only with the same request: with another body a provider would refuse it or answer with the
/// first answer again, and this attempt's stream is owned here, under the client's own key.
void apply(const ContinuedRequest& request, http::RequestHead& head);

/// The model that a request names, in its body or its path; empty where it names none.
std::string model_of(std::string_view target, std::string_view body);

}  // namespace tidemark::continuation
