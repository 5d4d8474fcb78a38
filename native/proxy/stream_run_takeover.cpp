// The run at its log: opened, described for a later process, and gone on with by that.
#include <algorithm>

#include "native/proxy/forwarding.hpp"
#include "native/proxy/stream_facts.hpp"
#include "native/proxy/stream_run.hpp"
#include "native/proxy/stream_search.hpp"

namespace tidemark::proxy {
namespace {

// Of a request in a log that replicas share: a longer one is continued only for who makes it again.
constexpr std::size_t kMostShared = std::size_t{1} << 20;

}  // namespace

bool StreamRun::commit() {
  stream_.dialect = relay_.dialect();
  stream_.headers = from_upstream(head_.headers, true);
  stream_.log = context_.shared != nullptr
                    ? context_.shared->open_shared(shared_name(stream_.principal, stream_.id),
                                                   {stream_.epoch(), tls::to_hex(stream_.request), facts()})
                    : context_.log.open(facts());
  if (!stream_.log) {
    close();
    const bool anthropic = stream_.dialect == dialect::Dialect::AnthropicMessages;
    owner_.refused(stream_, {anthropic ? 529 : 503, anthropic ? "overloaded_error" : "upstream_unavailable",
                             "log_limit", "there is no room for one more stream", 5});
    return false;
  }
  owner_.committed(stream_);
  return true;
}

/// What a later process is to know; nothing where none is told.
std::string StreamRun::facts() const {
  if (!context_.log.keeps_facts()) return {};
  const auto& upstreams = context_.config.upstreams;
  const bool continuable = std::any_of(upstreams.begin(), upstreams.end(),
                                       [](const config::Upstream& upstream) { return !upstream.continuation.empty(); });
  const bool kept = continuable && (context_.shared == nullptr || request_.body.size() <= kMostShared);
  return to_facts(stream_, kept ? &request_ : nullptr, context_.config.principal_header);
}

/// A further attempt counts, whoever looks at the stream later. Where there is no room for it the facts before stay.
void StreamRun::note_facts() {
  if (stream_.log && context_.log.keeps_facts()) context_.log.describe(*stream_.log, facts());
}

/// Those that the relay has made since.
void StreamRun::note_seams() {
  if (seams_noted_ == relay_.seams().size()) return;
  for (; seams_noted_ < relay_.seams().size(); ++seams_noted_) {
    const session::SeamRecord& seam = relay_.seams()[seams_noted_];
    ++context_.counters.seams[{seam::name(seam.form), seam.verdict}];
    stream_.seams.push_back(
        {attempts_before_ + seam.attempt, seam.form, seam.at, seam.trimmed, std::string(seam.verdict)});
  }
  note_facts();
}

void StreamRun::take_over(Then then) {
  attempts_before_ = stream_.attempts > 0 ? stream_.attempts - 1 : 0;
  told_before_ = context_.log.next_seq(*stream_.log);
  taking_over_ = true;
  relay_.set_dialect(stream_.dialect);
  if (!read_again()) return;
  taking_over_ = false;
  if (relay_.next_seq() != told_before_) {
    return end({session::EndState::Truncated, session::EndReason::Shutdown, context_.loop.unix_now_ms()});
  }
  switch (then) {
    case Then::GoOn:
      relay_.handle_failure(now(), relay_.attempts(), session::AttemptFailure::Broken,
                            "the process that fed the stream is gone");
      return carry_out();
    case Then::Stop:
      return stop();
    case Then::ShutDown:
      return shut_down();
  }
}

/// False when the run is over, since the log has the whole answer.
bool StreamRun::read_again() {
  relay_.start(now());
  session::UpstreamHead head;
  head.status = 200;
  head.content_type = "text/event-stream";
  relay_.handle_head(now(), relay_.attempts(), head);
  for (log::Offset at = 0;;) {
    const log::Read read = context_.log.read(*stream_.log, at);
    if (read.state != log::Read::State::Bytes) break;
    at += read.bytes.size();
    relay_.handle_bytes(now(), relay_.attempts(), read.bytes, {});
    if (!carry_out_actions()) return false;
  }
  relay_.taken_over();
  return carry_out_actions();
}

}  // namespace tidemark::proxy
