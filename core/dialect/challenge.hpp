// Telling a challenge (contract § 4.1) from an answer: an upstream's refusal dressed as one. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// How a body ended of which nothing more comes: as its framing says, or by the connection's loss.
enum class BodyEnd : std::uint8_t { Proper, Lost };

/// Whether a body that is_challenge_body() does not know is a challenge that ends inside of what gives it away. A sign
/// counts from as many of its characters as nothing else begins with: `FAIL_SYS_USER` (the gateway's other errors are
/// FAIL_SYS_TOKEN_…, FAIL_SYS_UNAUTHORIZED_… and so on) and `RGV5`, as the body's last bytes and, in the JSON frame, in
/// a `ret` whose string has no end; of a page's signs most of the word. The titles of the pages count where the
/// connection was lost: such a body is handed on in no case.
bool is_cut_challenge_body(std::string_view content_type, std::string_view body, BodyEnd end);

/// Whether a response header says so: `cf-mitigated: challenge`, `x-amzn-waf-action: challenge` or `captcha`.
bool is_challenge_header(std::string_view name, std::string_view value);

/// The data of an event: what the challenge's frame says, absent where it is no challenge. The frame may be cut, also
/// inside its string as is_cut_challenge_body() says; the bare words may not, since an answer's piece may be as short.
JsonString challenge_in(std::string_view data);

/// The value of a frame's `ret`, read by `json`: its first element that names a challenge.
JsonString challenge_in_ret(JsonReader& json);

}  // namespace tidemark::dialect
