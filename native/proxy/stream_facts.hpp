// What is kept of a stream beside its events, so that another process can go on with it. No credential is among it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "native/proxy/stream.hpp"

namespace tidemark::proxy {

/// As JSON. `request`: what it is to be continued by, of its headers those alone that are known to be no credentials
/// (the header `principal_header` is one in any case); null: it is not to be continued.
std::string to_facts(const Stream& stream, const RunRequest* request, std::string_view principal_header);

/// Null where these are no facts of this version.
std::shared_ptr<Stream> from_facts(std::string_view facts);

/// Puts the credentials of somebody who came for the stream into the request that was left. One of `client_tokens` is
/// for the proxy alone, in whichever header it is shown.
void lend_credentials(RunRequest& request, const http::Headers& from, const std::vector<std::string>& client_tokens);

}  // namespace tidemark::proxy
