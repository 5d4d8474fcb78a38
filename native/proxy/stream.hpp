// One stream as the proxy knows it: who owns it, what was asked, how far it has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/dialect.hpp"
#include "core/session/relay_actions.hpp"
#include "native/downstream/exchange.hpp"
#include "native/http/message.hpp"
#include "native/log/shared_log.hpp"
#include "native/log/stream_log.hpp"
#include "native/loop/loop.hpp"
#include "native/proxy/resume.hpp"
#include "native/proxy/run_request.hpp"
#include "native/tls/sha256.hpp"

namespace tidemark::proxy {

class StreamRun;

struct StreamEnd {
  session::EndState state = session::EndState::Complete;
  session::EndReason reason = session::EndReason::TerminalMarker;
  std::int64_t at_unix_ms = 0;
};

/// A session::SeamRecord, of whichever process made the attempt.
struct Seam {
  unsigned attempt = 0;
  seam::Form form = seam::Form::Prefix;
  seam::Seq at = 0;
  std::size_t trimmed = 0;
  std::string verdict;
};

/// A request that waits for the commit.
struct Waiter {
  std::shared_ptr<downstream::Exchange> exchange;
  ResumePoint point;
  bool attached = false;          // the stream was there before it
  bool finished_sending = false;  // so it may have gone
};

struct Stream {
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::string principal;
  std::string id;
  std::vector<log::Term> terms;  // one, but in a log that replicas share
  tls::Digest request{};         // of method, path and body
  dialect::Dialect dialect = dialect::Dialect::Opaque;
  std::optional<log::StreamId> log;  // from the commit on
  http::Headers headers;             // of the upstream's response, for everyone who attaches
  std::optional<StreamEnd> end;
  bool may_linger = false;  // an Idempotency-Key or a resume was used: `disconnect` applies, else `cancel`
  unsigned attempts = 0;
  std::vector<Seam> seams;
  std::size_t readers = 0;
  std::vector<Waiter> waiters;          // before the commit
  std::unique_ptr<loop::Timer> linger;  // while it runs without readers
  std::int64_t created_unix_ms = 0;
  std::unique_ptr<StreamRun> run;  // the upstream leg, until the stream has ended
  // Another process has left it before its end: nobody feeds it until somebody comes for it.
  std::unique_ptr<RunRequest> left;

  // Where replicas share the log.
  bool fed_elsewhere = false;           // by another replica, until its end: it is read here and no more
  std::unique_ptr<RunRequest> standby;  // then: what it can be gone on with here, should that replica go
  bool being_taken = false;             // it is `left`, and the log has been asked to make it this replica's
  TimeMs wanted_until = 0;              // it has readers at other replicas, as far as they have told
  // Of those who wait for its end, or for somebody to feed it: called once when it has ended, was taken over or is
  // lost.
  std::vector<std::function<void()>> watchers;

  /// Of what is appended now. Precondition: there is a term.
  const std::string& epoch() const { return terms.back().epoch; }
  /// "waiting" (before the commit), "running", or the end state.
  std::string_view state() const;
  /// `: tidemark end=STATE reason=REASON` and a blank line; empty before the end.
  std::string end_comment() const;
};

}  // namespace tidemark::proxy
