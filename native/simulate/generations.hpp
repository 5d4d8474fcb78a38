// Responses that were asked for in the background, kept for who comes back for them (GET /v1/responses/ID).
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "native/simulate/fault.hpp"
#include "native/simulate/script.hpp"

namespace tidemark::simulate {

struct Generation {
  Script script;
  std::string identity;                   // of the request that began it
  std::optional<std::vector<Fault>> own;  // that request's own list of faults
};

class Generations {
 public:
  /// More than this are not kept; the oldest is forgotten.
  static constexpr std::size_t kMax = 128;

  void keep(const std::string& id, Generation generation);
  /// Valid until the next keep(); nullptr where none has that id.
  const Generation* find(const std::string& id) const;

 private:
  std::unordered_map<std::string, Generation> by_id_;
  std::list<std::string> ids_;  // oldest first
};

}  // namespace tidemark::simulate
