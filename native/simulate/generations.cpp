// Kept responses, oldest forgotten first.
#include "native/simulate/generations.hpp"

#include <utility>

namespace tidemark::simulate {

void Generations::keep(const std::string& id, Generation generation) {
  if (!by_id_.insert_or_assign(id, std::move(generation)).second) return;
  ids_.push_back(id);
  if (ids_.size() <= kMax) return;
  by_id_.erase(ids_.front());
  ids_.pop_front();
}

const Generation* Generations::find(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

}  // namespace tidemark::simulate
