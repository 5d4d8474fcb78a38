// Looking for a stream by its owner and name: here first, then in the log that replicas share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "native/downstream/exchange.hpp"
#include "native/log/shared_log.hpp"
#include "native/loop/loop.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/stream.hpp"

namespace tidemark::proxy {

/// What replicas call a stream: says nothing of its owner or id to whoever does not know both.
std::string shared_name(std::string_view principal, std::string_view id);

struct Sought {
  enum class Answer : std::uint8_t {
    Found,    // `stream`
    Claimed,  // another replica is about to begin it; `stream` is what is known of it so far, and not the registry's
    Free,     // it is for who asked to begin it, by `epoch`; only where that was asked for
    Absent,   // there is none
    Reused,   // there is one, of another request
    Away,     // nobody can tell now
    Full,     // it is at another replica, and here is no room to read it
  };
  Answer answer = Answer::Absent;
  std::shared_ptr<Stream> stream{};
  std::string epoch{};
};

struct Seeker {
  std::shared_ptr<downstream::Exchange> exchange;  // for whom: nothing is done for one that has left
  std::string principal;
  std::string id;
  std::optional<tls::Digest> request;                   // of method, path and body, where the stream must be of these
  bool begins = false;                                  // where nobody has it; then `request` is there
  dialect::Dialect dialect = dialect::Dialect::Opaque;  // and this is its path's
  /// What one wants of a stream that another replica is about to begin.
  enum class Unopened : std::uint8_t {
    Wait,  // for its beginning
    Tell,  // to know of it
    Stop,  // its end
  };
  Unopened unopened = Unopened::Wait;
  TimeMs give_up_at = kNever;          // waiting for another replica's commit
  std::function<void(Sought)> done{};  // once, perhaps before seek() returns; never where the client has left
};

/// Of all who look for a stream at the same time one is told Free, the others find what that one began.
class StreamSearch {
 public:
  /// `adopt` makes a stream that was found in the shared log one of the registry's; null where that can't be.
  using Adopt = std::function<std::shared_ptr<Stream>(const Seeker&, log::LookUp)>;
  StreamSearch(Context& context, Adopt adopt) : context_(context), adopt_(std::move(adopt)) {}

  /// Precondition: replicas share the log.
  void seek(Seeker seeker);

 private:
  struct Search {
    std::vector<Seeker> seekers;
    std::optional<log::SharedLog::Claim> claim;  // that was made for one of them
    std::unique_ptr<loop::Timer> again;
  };
  void ask(const std::string& name);
  void answered(const std::string& name, log::LookUp found);
  void claimed_for_us(const std::string& name, Search search);
  void claimed_elsewhere(const std::string& name, Search search, const log::LookUp& found);

  Context& context_;
  Adopt adopt_;
  std::unordered_map<std::string, Search> searches_;
};

}  // namespace tidemark::proxy
