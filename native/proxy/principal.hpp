// Who is asking (contract § 1), and whether a client may (client_tokens).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "native/http/message.hpp"

namespace tidemark::proxy {

inline constexpr std::string_view kAnonymous = "anonymous";

/// The SHA-256, in hex, of the header `principal_header`, or of the credential header where that is empty; "anonymous"
/// where the request has none.
std::string principal_of(const http::Headers& headers, std::string_view principal_header);

/// Headers that carry a credential, lower case: authorization, x-api-key, api-key, x-goog-api-key.
bool is_credential_header(std::string_view name);

/// Takes the same time wherever the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// Whether the request shows one of `tokens`, as `Authorization: Bearer TOKEN` or in another credential header.
/// `shown_in` is that header's name, for it must not go upstream.
bool shows_token(const http::Headers& headers, const std::vector<std::string>& tokens, std::string_view& shown_in);

}  // namespace tidemark::proxy
