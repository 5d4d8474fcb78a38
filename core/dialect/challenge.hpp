// Telling a challenge (contract § 4.1) from an answer: an upstream's refusal dressed as one. Pure functions.
#pragma once

#include <string_view>

#include "core/dialect/json_reader.hpp"

namespace tidemark::dialect {

/// As much of a body as is looked at.
inline constexpr std::size_t kMaxChallengeBytes = 256u << 10;

/// Whether a body, or its beginning, is a challenge: the JSON frame (bare, in a `data:` line, as a JSON body), or an
/// HTML page of Aliyun x5sec, Cloudflare or AWS WAF. The beginning is enough as soon as it has what gives the page
/// away; ordinary HTML is none, nor is JSON or text that merely speaks of one. `content_type` as in the header, or
/// empty.
bool is_challenge_body(int status, std::string_view content_type, std::string_view body_prefix);

/// Whether a response header says so: `cf-mitigated: challenge`, `x-amzn-waf-action: challenge` or `captcha`.
bool is_challenge_header(std::string_view name, std::string_view value);

/// The data of an event, whole or cut: what the challenge's frame says, absent where it is no challenge.
JsonString challenge_in(std::string_view data);

/// The value of a frame's `ret`, read by `json`: its first element that names a challenge.
JsonString challenge_in_ret(JsonReader& json);

}  // namespace tidemark::dialect
