// Relay, calls and log, joined.
#include "native/proxy/stream_run.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/dialect/challenge.hpp"
#include "native/proxy/forwarding.hpp"
#include "native/proxy/random_name.hpp"
#include "native/proxy/reply.hpp"

namespace tidemark::proxy {
namespace {

/// What any upstream is configured for, in the order of the first that is.
std::vector<seam::Form> forms_of(const config::Config& config) {
  std::vector<seam::Form> forms;
  for (const config::Upstream& upstream : config.upstreams) {
    for (const seam::Form form : upstream.continuation) {
      if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
    }
  }
  return forms;
}

session::RelayOptions relay_options(const Context& context, const Stream& stream, const RunRequest& request) {
  const config::Config& config = context.config;
  session::RelayOptions options;
  options.dialect = context.upstreams.dialect(0, request.dialect);
  options.expects_stream = request.expects_stream;
  options.epoch = stream.epoch();
  options.repeatable = request.expects_stream || request.resumable;
  options.stream_empty_retry_max = request.repeated_enough ? 0 : config.stream_empty_retry_max;
  options.attempts = request.repeated_enough ? 1 : config.retry.attempts;
  options.first_byte_timeout_ms = config.stream_first_byte_timeout_ms;
  options.commit_hold_ms = config.commit_hold_ms;
  options.hold_max_ms = config.hold_max_ms;
  options.idle_timeout_ms = config.stream_idle_timeout_ms;
  options.client_timeout_ms = request.client_timeout_ms;
  options.backoff = config.retry.backoff;
  options.truncated_finish = config.truncated_finish;
  options.max_event_bytes = config.limits.event_bytes;
  options.max_stream_bytes = config.log_limits.max_stream_bytes;
  options.challenge_patterns = &config.challenge_patterns;
  if (request.expects_stream) options.continuation = forms_of(config);
  options.seed = draw_seed();
  return options;
}

session::UpstreamHead facts_of(const http::ResponseHead& head, std::int64_t unix_now_ms) {
  session::UpstreamHead facts;
  facts.status = head.status;
  facts.content_type = head.headers.get("content-type");
  facts.retry_after = head.headers.get("retry-after");
  facts.retry_after_ms = head.headers.get("retry-after-ms");
  facts.unix_now_ms = unix_now_ms;
  for (const http::Header& header : head.headers) {
    facts.challenge_header |= dialect::is_challenge_header(header.name, header.value);
  }
  return facts;
}

// One that another upstream may not have; a key's trouble is another matter.
bool may_be_other_elsewhere(int status) { return status >= 500 || status == 408; }

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

void StreamRun::hand_over_probe() {
  if (probe_) tell_outcome(retry::Outcome::Neutral);
}

void StreamRun::shut_down() {
  relay_.shutdown(now());
  carry_out();
}

void StreamRun::on_head(const http::ResponseHead& head) {
  head_ = head;
  const TimeMs time = now();
  const std::size_t upstream = sent_.back().upstream;
  const auto tried = std::span(sent_).subspan(answered_);
  const bool another_here = context_.upstreams.has_untried(upstream, tried, time);
  bool another_elsewhere = false;
  for (std::size_t i = 0; i < context_.upstreams.size(); ++i) {
    another_elsewhere |= i != upstream && context_.upstreams.has_untried(i, tried, time);
  }
  move_on_ = may_be_other_elsewhere(head_.status) || (retry::is_key_status(head_.status) && !another_here);
  session::UpstreamHead facts = facts_of(head_, context_.loop.unix_now_ms());
  facts.coding = readable_.begin(head_.headers);
  facts.own_key = sent_.back().key.has_value();
  facts.another_key = another_here || another_elsewhere;
  relay_.handle_head(time, relay_.attempts(), facts);
  carry_out();
}

void StreamRun::on_body(std::string_view bytes) {
  relay_.lend_buffers(std::exchange(context_.relay_buffers, {}));
  relay_.handle_bytes(now(), relay_.attempts(), bytes, readable_.read(bytes));
  carry_out();
}

void StreamRun::on_end(bool /*framed*/) {
  relay_.handle_eof(now(), relay_.attempts());
  carry_out();
}

void StreamRun::on_failure(const upstream::Failure& failure) {
  const bool unreachable =
      failure.kind != upstream::FailureKind::Reset && failure.kind != upstream::FailureKind::Protocol;
  move_on_ = unreachable;
  const config::Upstream& upstream = context_.upstreams[sent_.back().upstream];
  context_.logger.write(observe::Level::Info, observe::Line("attempt failed")
                                                  .text("upstream", upstream.name)
                                                  .text("address", upstream.base.address.text())
                                                  .text("why", failure.message));
  relay_.handle_failure(now(), relay_.attempts(),
                        unreachable ? session::AttemptFailure::Unreachable : session::AttemptFailure::Broken,
                        failure.message);
  carry_out();
}

void StreamRun::carry_out() {
  if (!carry_out_actions()) return;
  if (paused_for_) {
    relay_.handle_paused(now(), relay_.attempts(), *std::exchange(paused_for_, std::nullopt));
    return carry_out();
  }
  if (refusing_) return tell_refusal_again();
  if (unaskable_) {
    relay_.handle_form_refused(now(), relay_.attempts(), *std::exchange(unaskable_, std::nullopt));
    return carry_out();
  }
  if (relay_.committed()) context_.relay_buffers = relay_.take_buffers();
  forget_request();
  arm_timer();
}

/// Once content has come the request is not sent again, but to continue a cut answer: an open stream holds nothing of
/// it but its first line.
void StreamRun::forget_request() {
  if (relay_.may_be_continued()) return;
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
  stream_.attempts = attempts_before_ + relay_.attempts();
  note_seams();
  for (std::size_t i = 0; i < relay_.actions().size();) {
    const session::RelayAction action = relay_.actions()[i++];
    switch (action.kind) {
      case Kind::SendAttempt:
        if (taking_over_) break;
        note_facts();
        send(action.form);
        break;
      case Kind::CutAttempt:
        attempt_.reset();
        break;
      case Kind::KeyVerdict:
        context_.upstreams.judge_key(sent_.back(), action.retry_after, head_, relay_.bytes(action), relay_.dialect(),
                                     now());
        break;
      case Kind::FormVerdict:
        judge_form(action);
        break;
      case Kind::Outcome:
        if (action.outcome == retry::Outcome::Answer) answered_ = sent_.size();
        tell_outcome(action.outcome);
        break;
      case Kind::Commit:
        committed_at_ = now();
        if (action.attempt == 0) head_ = {};
        if (!stream_.log && !commit()) return false;
        // The client's first event does not wait for what came with it.
        if (attempt_) attempt_->call().yield();
        break;
      case Kind::Append:
        if (action.seq < told_before_) break;
        switch (context_.log.append(*stream_.log, action.seq, relay_.bytes(action))) {
          case log::Append::Done:
            ++context_.counters.events;
            break;
          case log::Append::Gone:
            close();
            owner_.gone(stream_);
            return false;
          case log::Append::OutOfOrder:
          case log::Append::StreamFull:
          case log::Append::LogFull:
            relay_.log_refused(now(), action.seq);
            i = 0;
            break;
        }
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
        if (attempt_) attempt_->call().discard_rest();
        end({action.state, action.reason, context_.loop.unix_now_ms()});
        return false;
    }
  }
  return true;
}

void StreamRun::send(std::optional<seam::Form> form) {
  const std::size_t first =
      (sent_.empty() ? 0 : sent_.back().upstream + (move_on_ ? 1 : 0)) % context_.upstreams.size();
  move_on_ = false;
  std::optional<Result<continuation::ContinuedRequest, std::string_view>> rest;
  if (form) {
    rest = continued(*form, first);
    if (!*rest) {
      unaskable_ = rest->error();
      return;
    }
  }
  const Route route = context_.upstreams.choose(first, sent_, now());
  switch (route.kind) {
    case Route::Kind::Open:
      break;
    case Route::Kind::Paused:
      paused_for_ = route.retry_in_ms;
      return;
    case Route::Kind::KeysRefused:
      refusing_ = route.to.upstream;
      return;
  }
  sent_.push_back(route.to);
  ticket_ = route.ticket;
  probe_ = route.probe;
  head_ = {};
  const config::Upstream& upstream = context_.upstreams[route.to.upstream];
  const auto spoken = context_.upstreams.dialect(route.to.upstream, request_.dialect);
  relay_.set_dialect(spoken);
  const bool may_stream = request_.expects_stream || wants_event_stream(request_.head);
  const bool resumable = may_stream || request_.resumable;
  const std::string_view key = route.to.key ? std::string_view(upstream.api_keys[*route.to.key]) : std::string_view();
  const Outgoing outgoing{upstream,         spoken.value_or(dialect::Dialect::Opaque), key, may_stream, resumable,
                          request_.token_in};
  http::RequestHead head = to_upstream(request_.head, outgoing);
  std::string_view body = request_.body;
  if (form) {
    if (route.to.upstream != first) rest = continued(*form, route.to.upstream);
    if (!*rest) {
      unaskable_ = rest->error();
      return;
    }
    relay_.set_continuation({rest->value().continuer, upstream.overlap_min, rest->value().stripped_bytes});
    continuation::apply(rest->value(), head);
    body = rest->value().body;
  }
  attempt_ = std::make_unique<Attempt>(*this);
  attempt_->begin(context_.client.send(context_.upstreams.origin(route.to.upstream), head, body, *attempt_));
}

/// No key is left to ask with: the attempt gets what the upstream said last, without a request.
void StreamRun::tell_refusal_again() {
  const std::size_t upstream = *std::exchange(refusing_, std::nullopt);
  KeyRefusal refusal = context_.upstreams.last_refusal(upstream, relay_.dialect(), now());
  const unsigned attempt = relay_.attempts();
  head_ = std::move(refusal.head);
  session::UpstreamHead facts = facts_of(head_, context_.loop.unix_now_ms());
  facts.coding = readable_.begin(head_.headers);
  relay_.handle_head(now(), attempt, facts);
  if (!carry_out_actions()) return;
  relay_.handle_bytes(now(), attempt, refusal.body, readable_.read(refusal.body));
  if (!carry_out_actions()) return;
  relay_.handle_eof(now(), attempt);
  carry_out();
}

void StreamRun::tell_outcome(retry::Outcome outcome) {
  if (!ticket_) return;
  context_.upstreams.outcome(sent_.back().upstream, *std::exchange(ticket_, std::nullopt), outcome, now());
}

void StreamRun::pass_through(const session::RelayAction& action) {
  auto pipe = std::make_unique<ResponsePipe>(relay_.bytes(action), action.whole ? nullptr : std::move(attempt_));
  http::ResponseHead head = std::move(head_);
  head.headers = from_upstream(head.headers, false);
  if (retry::is_key_status(head.status) && context_.upstreams.every_key_refused(now())) {
    head.headers.remove("x-should-retry");
    head.headers.add("x-should-retry", "false");
  }
  close();
  owner_.passes(stream_, std::move(head), std::move(pipe));
}

void StreamRun::end(StreamEnd end) {
  close();
  stream_.end = end;
  context_.log.end(*stream_.log, now(), facts());
  owner_.ended(stream_);
}

/// Nothing more happens here: no call, no timer, no outcome owed.
void StreamRun::close() {
  timer_.cancel();
  attempt_.reset();
  tell_outcome(retry::Outcome::Neutral);
}

void StreamRun::describe(observe::Line& line) const {
  line.text("method", request_.head.method).text("path", loggable_path(request_.head.target));
  line.text("dialect", dialect::name(stream_.dialect));
  line.text("upstream", sent_.empty() ? std::string_view() : context_.upstreams[sent_.back().upstream].name);
  line.number("attempts", stream_.attempts);
  std::string lost;
  for (const session::LostAttempt& one : relay_.lost()) {
    if (!lost.empty()) lost += ", ";
    lost += session::name(one.loss);
    if (one.status != 0 && one.status != 200) lost += " " + std::to_string(one.status);
  }
  line.text("lost", lost);
  std::string keys;
  for (const Destination& to : sent_) {
    if (!to.key) continue;
    if (!keys.empty()) keys += ", ";
    keys += std::to_string(*to.key + 1);
  }
  if (!keys.empty()) line.text("keys", keys);
  std::string seams;
  for (const session::SeamRecord& seam : relay_.seams()) {
    if (!seams.empty()) seams += ", ";
    seams.append(seam::name(seam.form)).append(" ").append(seam.verdict);
    if (seam.trimmed > 0) seams += " trimmed " + std::to_string(seam.trimmed);
  }
  if (!seams.empty()) line.text("seams", seams);
  line.text("commit", session::name(relay_.commit_cause()));
  if (committed_at_) line.number("hold_ms", *committed_at_ - started_at_);
  line.number("duration_ms", now() - started_at_);
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
