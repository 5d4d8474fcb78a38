// What an error that the upstream tells means for the attempt and for the client.
#pragma once

#include "core/dialect/interpreter.hpp"

namespace tidemark::session {

/// Final by its own account: asking again would bring the same. What names nothing is given another chance.
bool is_final(const dialect::ErrorInfo& error);

/// The status that an upstream would have answered with, had it known in time; 502 where nothing tells.
int status_for(const dialect::ErrorInfo& error);

}  // namespace tidemark::session
