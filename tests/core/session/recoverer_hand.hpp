// One recoverer, driven by hand, for the tests of the client leg's rules.
#pragma once

#include <string>
#include <string_view>

#include "core/retry/retry_after.hpp"
#include "tests/core/session/recoverer_world.hpp"

namespace tidemark::test {

using session::ResponseFacts;

struct Hand {
  explicit Hand(RecovererOptions options = {}) : recoverer(options, seen) { recoverer.start(0); }

  Recorder seen;
  Recoverer recoverer;

  static ResponseFacts event_stream() {
    ResponseFacts facts;
    facts.status = 200;
    facts.content_type = "text/event-stream";
    return facts;
  }
  static ResponseFacts named(std::string_view epoch = "e") {
    ResponseFacts facts = event_stream();
    facts.tidemark_stream = "s";
    facts.tidemark_epoch = epoch;
    return facts;
  }
  static ResponseFacts status(int code, std::string_view retry_after = {}) {
    ResponseFacts facts;
    facts.status = code;
    facts.content_type = "application/json";
    facts.retry_after_ms = retry::parse_retry_after(retry_after, {}, 0);
    return facts;
  }

  unsigned attempt() const { return recoverer.attempts(); }
  void respond(TimeMs now, const ResponseFacts& facts) { recoverer.handle_response(now, attempt(), facts); }
  void bytes(TimeMs now, std::string_view chunk) { recoverer.handle_bytes(now, attempt(), chunk); }
  void lose(TimeMs now) { recoverer.handle_failure(now, attempt(), "Load failed"); }
  void next_attempt() { recoverer.handle_timeout(recoverer.next_deadline()); }
  std::string final_code() const { return seen.failure ? seen.failure->code : ""; }
};

inline constexpr std::string_view kDelta0 = "data: {\"seq\":0,\"delta\":\"a\"}\n\n";
inline constexpr std::string_view kDelta1 = "data: {\"seq\":1,\"delta\":\"b\"}\n\n";
inline constexpr std::string_view kDelta2 = "data: {\"seq\":2,\"delta\":\"c\"}\n\n";

}  // namespace tidemark::test
