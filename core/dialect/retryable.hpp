// Whether an error that an upstream names is worth another attempt.
#pragma once

#include <string_view>

namespace tidemark::dialect {

/// By the error's code, then its type, then the HTTP status (0: unknown). Server trouble, overload, timeouts and rate
/// limits are; a quota, billing, an invalid request, authentication and a context that is too long are final, whatever
/// stands beside them. What names nothing known is final. Letter case does not matter.
bool is_retryable(std::string_view code, std::string_view type, int status);

}  // namespace tidemark::dialect
