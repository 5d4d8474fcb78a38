// Error words and statuses.
#include "core/session/upstream_error.hpp"

#include <array>
#include <string_view>

namespace tidemark::session {

bool is_final(const dialect::ErrorInfo& error) {
  if (error.retryable()) return false;
  return !error.code.empty() || !error.type.empty() || (error.status >= 400 && error.status < 500);
}

int status_for(const dialect::ErrorInfo& error) {
  if (error.status >= 400 && error.status < 600) return error.status;
  struct Word {
    std::string_view part;
    int status;
  };
  constexpr std::array kWords{
      Word{"quota", 429},      Word{"rate_limit", 429}, Word{"authentication", 401}, Word{"api_key", 401},
      Word{"billing", 402},    Word{"permission", 403}, Word{"not_found", 404},      Word{"too_large", 413},
      Word{"overloaded", 529}, Word{"timeout", 504},    Word{"invalid", 400},        Word{"context_length", 400},
      Word{"policy", 400},     Word{"filter", 400},
  };
  for (const std::string_view said : {error.code, error.type}) {
    for (const Word& word : kWords) {
      if (said.find(word.part) != std::string_view::npos) return word.status;
    }
  }
  return 502;
}

}  // namespace tidemark::session
