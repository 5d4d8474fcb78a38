// All streams that can be attached to, by owner and name.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "native/log/stream_log.hpp"
#include "native/proxy/stream.hpp"

namespace tidemark::proxy {

/// A name belongs to a principal: the same name of another principal is another stream, and looking for it takes the
/// same steps as for one that does not exist.
class Registry {
 public:
  /// Null where this principal has no stream of this name.
  std::shared_ptr<Stream> find(std::string_view principal, std::string_view id) const;
  /// By its log; null where no stream has that one.
  std::shared_ptr<Stream> find(log::StreamId log) const;
  /// Precondition: the name is free.
  void add(std::shared_ptr<Stream> stream);
  /// The stream has got its log, by which remove(log) will find it.
  void logged(const Stream& stream);
  /// The name is free again. Both do nothing where the stream is not there.
  void remove(const Stream& stream);
  void remove(log::StreamId log);

  void clear();

  std::size_t size() const { return streams_.size(); }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [name, stream] : streams_) visit(stream);
  }

 private:
  std::unordered_map<std::string, std::shared_ptr<Stream>> streams_;
  std::unordered_map<log::StreamId, std::string> names_;
};

}  // namespace tidemark::proxy
