// What is said first on a connection; for the sources of this directory only.
#pragma once

#include <string>
#include <vector>

#include "native/redis/link.hpp"

namespace tidemark::redis {

class Greeting {
 public:
  Greeting(const Endpoint& endpoint, const std::string& client_name);

  const std::vector<std::vector<std::string>>& commands() const { return commands_; }
  /// The reply to the next of them; an error, or an empty string.
  std::string take(const Reply& reply);
  bool done() const { return taken_ == commands_.size(); }
  const ServerFacts& facts() const { return facts_; }

 private:
  std::vector<std::vector<std::string>> commands_;
  std::size_t taken_ = 0;
  std::string secret_;
  ServerFacts facts_;
};

/// One line that can be shown: without control characters, and no longer than a line may be.
std::string one_line(std::string text);

}  // namespace tidemark::redis
