// Relay, calls and log, joined.
#include "native/proxy/stream_run.hpp"

#include <utility>

#include "core/dialect/challenge.hpp"
#include "native/proxy/forwarding.hpp"
#include "native/proxy/random_name.hpp"

namespace tidemark::proxy {
namespace {

session::RelayOptions relay_options(const Context& context, const Stream& stream, const RunRequest& request) {
  const config::Config& config = context.config;
  session::RelayOptions options;
  options.dialect = context.upstreams[0].dialect ? context.upstreams[0].dialect : request.dialect;
  options.expects_stream = request.expects_stream;
  options.epoch = stream.epoch;
  // A request of unknown meaning is sent once: nobody has said that it may be repeated.
  options.stream_empty_retry_max = request.expects_stream ? config.stream_empty_retry_max : 0;
  options.attempts = request.expects_stream ? config.retry.attempts : 1;
  options.first_byte_timeout_ms = config.stream_first_byte_timeout_ms;
  options.commit_hold_ms = config.commit_hold_ms;
  options.hold_max_ms = config.hold_max_ms;
  options.idle_timeout_ms = config.stream_idle_timeout_ms;
  options.client_timeout_ms = request.client_timeout_ms;
  options.backoff = config.retry.backoff;
  options.truncated_finish = config.truncated_finish;
  options.max_event_bytes = config.limits.event_bytes;
  options.max_stream_bytes = config.log_limits.max_stream_bytes;
  options.seed = draw_seed();
  return options;
}

bool wants_event_stream(const http::RequestHead& request) {
  return request.headers.get("accept").find("text/event-stream") != std::string_view::npos;
}

}  // namespace

StreamRun::StreamRun(Context& context, Stream& stream, RunRequest request, RunOwner& owner)
    : context_(context),
      stream_(stream),
      request_(std::move(request)),
      owner_(owner),
      relay_(relay_options(context, stream, request_)),
      started_at_(context.loop.now_ms()),
      timer_(context.loop) {
  ++context_.counters.running;
}

StreamRun::~StreamRun() {
  close();
  --context_.counters.running;
}

void StreamRun::start() {
  relay_.start(now());
  carry_out();
}

void StreamRun::stop() {
  relay_.stop(now());
  carry_out();
}

void StreamRun::abandon() {
  relay_.abandon(now());
  carry_out();
}

void StreamRun::shut_down() {
  relay_.shutdown(now());
  carry_out();
}

void StreamRun::on_head(const http::ResponseHead& head) {
  head_ = head;
  unreachable_ = false;
  session::UpstreamHead facts;
  facts.status = head_.status;
  facts.content_type = head_.headers.get("content-type");
  facts.retry_after = head_.headers.get("retry-after");
  facts.retry_after_ms = head_.headers.get("retry-after-ms");
  facts.unix_now_ms = context_.loop.unix_now_ms();
  for (const http::Header& header : head_.headers) {
    facts.challenge_header |= dialect::is_challenge_header(header.name, header.value);
  }
  relay_.handle_head(now(), relay_.attempts(), facts);
  carry_out();
}

void StreamRun::on_body(std::string_view bytes) {
  relay_.handle_bytes(now(), relay_.attempts(), bytes);
  carry_out();
}

void StreamRun::on_end(bool /*framed*/) {
  relay_.handle_eof(now(), relay_.attempts());
  carry_out();
}

void StreamRun::on_failure(const upstream::Failure& failure) {
  unreachable_ = failure.kind != upstream::FailureKind::Reset && failure.kind != upstream::FailureKind::Protocol;
  relay_.handle_failure(now(), relay_.attempts(),
                        unreachable_ ? session::AttemptFailure::Unreachable : session::AttemptFailure::Broken,
                        failure.message);
  carry_out();
}

void StreamRun::carry_out() {
  if (!carry_out_actions()) return;
  if (paused_for_) {
    relay_.handle_paused(now(), relay_.attempts(), *std::exchange(paused_for_, std::nullopt));
    return carry_out();
  }
  // An open stream is idle most of the time: what it holds beyond its log counts more than two allocations an event.
  if (relay_.committed()) relay_.forget_actions();
  forget_request();
  arm_timer();
}

/// Once content has come the request is never sent again: an open stream holds nothing of it but its first line.
void StreamRun::forget_request() {
  const session::RelayState state = relay_.state();
  if (state != session::RelayState::Flowing && state != session::RelayState::Draining) return;
  if (request_.head.headers.empty()) return;
  std::string().swap(request_.body);
  request_.head.headers = {};
  head_ = {};
}

/// False when the run is over; then the owner has been told, and `this` is closed.
bool StreamRun::carry_out_actions() {
  using Kind = session::RelayAction::Kind;
  stream_.attempts = relay_.attempts();
  for (std::size_t i = 0; i < relay_.actions().size();) {
    const session::RelayAction action = relay_.actions()[i++];
    switch (action.kind) {
      case Kind::SendAttempt:
        send(action.attempt);
        break;
      case Kind::CutAttempt:
        attempt_.reset();
        break;
      case Kind::Outcome:
        if (ticket_)
          context_.upstreams.outcome(upstream_, *std::exchange(ticket_, std::nullopt), action.outcome, now());
        break;
      case Kind::Commit:
        if (action.attempt == 0) head_ = {};
        if (!commit()) return false;
        break;
      case Kind::Append:
        if (context_.log.append(*stream_.log, action.seq, relay_.bytes(action)) == log::Append::Done) {
          ++context_.counters.events;
          break;
        }
        relay_.log_refused(now(), action.seq);
        i = 0;
        break;
      case Kind::PassThrough:
        pass_through(action);
        return false;
      case Kind::Refuse:
        close();
        stream_.dialect = relay_.dialect();
        owner_.refused(stream_, relay_.error());
        return false;
      case Kind::End:
        close();
        stream_.end = StreamEnd{action.state, action.reason, context_.loop.unix_now_ms()};
        context_.log.end(*stream_.log, now());
        owner_.ended(stream_);
        return false;
    }
  }
  return true;
}

void StreamRun::send(unsigned attempt) {
  if (attempt > 1 && unreachable_) upstream_ = (upstream_ + 1) % context_.upstreams.size();
  const retry::Admission admission = context_.upstreams.admit(upstream_, now());
  if (!admission.allowed) {
    paused_for_ = admission.retry_in_ms;
    return;
  }
  ticket_ = admission.ticket;
  head_ = {};
  const bool may_stream = request_.expects_stream || wants_event_stream(request_.head);
  const Outgoing outgoing{context_.upstreams[upstream_], relay_.dialect(), may_stream, request_.token_in};
  attempt_ = std::make_unique<Attempt>(*this);
  attempt_->begin(context_.client.send(context_.upstreams.origin(upstream_), to_upstream(request_.head, outgoing),
                                       request_.body, *attempt_));
}

bool StreamRun::commit() {
  stream_.dialect = relay_.dialect();
  stream_.headers = from_upstream(head_.headers, true);
  stream_.log = context_.log.open();
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

void StreamRun::pass_through(const session::RelayAction& action) {
  auto pipe = std::make_unique<ResponsePipe>(relay_.bytes(action), action.whole ? nullptr : std::move(attempt_));
  http::ResponseHead head = std::move(head_);
  head.headers = from_upstream(head.headers, false);
  close();
  owner_.passes(stream_, std::move(head), std::move(pipe));
}

/// Nothing more happens here: no call, no timer, no outcome owed.
void StreamRun::close() {
  timer_.cancel();
  attempt_.reset();
  if (ticket_) {
    context_.upstreams.outcome(upstream_, *std::exchange(ticket_, std::nullopt), retry::Outcome::Neutral, now());
  }
}

void StreamRun::arm_timer() {
  // A deadline that has moved back is noticed when the timer runs: most deadlines move with every event.
  const TimeMs deadline = relay_.next_deadline();
  if (deadline >= armed_for_) return;
  armed_for_ = deadline;
  timer_.set(deadline, [this] {
    armed_for_ = kNever;
    relay_.handle_timeout(now());
    carry_out();
  });
}

}  // namespace tidemark::proxy
