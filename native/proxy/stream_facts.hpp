// What is kept of a stream beside its events, so that another process can go on with it. No credential is among it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "native/proxy/stream.hpp"

namespace tidemark::proxy {

/// As JSON. `request`: what it is to be continued by, without its credentials (the header `principal_header` is one,
/// too); null: it is not to be continued.
std::string facts_of(const Stream& stream, const RunRequest* request, std::string_view principal_header);

/// Null where these are no facts of this version.
std::shared_ptr<Stream> stream_of(std::string_view facts);

/// Puts the credentials of somebody who came for the stream into the request that was left.
void lend_credentials(RunRequest& request, const http::Headers& from);

}  // namespace tidemark::proxy
