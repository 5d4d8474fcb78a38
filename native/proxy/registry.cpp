// The table of streams.
#include "native/proxy/registry.hpp"

#include <utility>

namespace tidemark::proxy {
namespace {

std::string full_name(std::string_view principal, std::string_view id) {
  std::string name(principal);
  name.append(1, '\0').append(id);
  return name;
}

}  // namespace

std::shared_ptr<Stream> Registry::find(std::string_view principal, std::string_view id) const {
  const auto found = streams_.find(full_name(principal, id));
  return found == streams_.end() ? nullptr : found->second;
}

std::shared_ptr<Stream> Registry::find(log::StreamId log) const {
  const auto name = names_.find(log);
  if (name == names_.end()) return nullptr;
  const auto found = streams_.find(name->second);
  return found == streams_.end() || found->second->log != log ? nullptr : found->second;
}

void Registry::add(std::shared_ptr<Stream> stream) {
  std::string name = full_name(stream->principal, stream->id);
  streams_.emplace(std::move(name), std::move(stream));
}

void Registry::logged(const Stream& stream) { names_.emplace(*stream.log, full_name(stream.principal, stream.id)); }

void Registry::remove(const Stream& stream) {
  if (stream.log) names_.erase(*stream.log);
  const auto found = streams_.find(full_name(stream.principal, stream.id));
  // By now the name may be another stream's.
  if (found != streams_.end() && found->second.get() == &stream) streams_.erase(found);
}

void Registry::remove(log::StreamId log) {
  const auto found = names_.find(log);
  if (found == names_.end()) return;
  streams_.erase(found->second);
  names_.erase(found);
}

void Registry::clear() {
  streams_.clear();
  names_.clear();
}

}  // namespace tidemark::proxy
