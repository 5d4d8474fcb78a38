// What the proxy reads of a JSON request body, and what it takes out of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::proxy {

/// Of a body's top-level object. Where a member is there twice the last one counts, as for most readers of JSON.
struct BodyFacts {
  bool stream = false;             // `"stream": true`
  bool has_resume_fields = false;  // one of the next three is there
  // The values as they stand in the body, strings without their quotes; nullopt where absent or null.
  std::optional<std::string> resume_seq;
  std::optional<std::string> received_length;
  std::optional<std::string> tail_fingerprint;
};

/// nullopt where the body is not a JSON object as far as its top level goes (what lies deeper is not checked).
/// Cost: one pass, no allocation but for what it returns.
std::optional<BodyFacts> read_body(std::string_view body);

/// The body without `resumeSeq`, `receivedLength` and `tailFingerprint`, every other byte as it was (contract § 3.1).
/// Precondition: read_body(body) found an object.
std::string without_resume_fields(std::string_view body);

}  // namespace tidemark::proxy
