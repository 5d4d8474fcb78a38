// The life of streams.
#include "native/proxy/streams.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/dialect/ending.hpp"
#include "native/proxy/forwarding.hpp"
#include "native/proxy/random_name.hpp"
#include "native/proxy/reply.hpp"
#include "native/proxy/stream_body.hpp"
#include "native/proxy/stream_facts.hpp"

namespace tidemark::proxy {
namespace {

std::shared_ptr<Stream> registered(const Context& context, const Stream& stream) {
  return context.registry.find(stream.principal, stream.id);
}

observe::Line line_of(const char* message, const Stream& stream) {
  observe::Line line(message);
  stream.run->describe(line);
  return line;
}

// Of a request whose stream other replicas are faster to take over.
constexpr int kTries = 3;

}  // namespace

Streams::Streams(Context& context)
    : context_(context),
      expiry_(context.loop),
      search_(context, [this](const Seeker& seeker, log::LookUp found) { return adopt(seeker, std::move(found)); }),
      look_ahead_(context.loop),
      say_read_(context.loop) {
  if (context_.shared != nullptr) context_.shared->set_events(this);
}

Streams::~Streams() {
  if (context_.shared != nullptr) context_.shared->set_events(nullptr);
}

void Streams::admit(const std::shared_ptr<downstream::Exchange>& exchange, NewStream request, ResumePoint point) {
  if (!request.key.empty()) {
    if (context_.shared != nullptr) {
      return admit_shared(exchange, std::make_shared<NewStream>(std::move(request)), point, kTries);
    }
    if (const auto stream = find(request.principal, request.key)) {
      if (stream->request != request.request) return refuse(*exchange, Refusal::KeyReused, request.run);
      return attach(exchange, stream, std::move(point), &request.run, nullptr);
    }
  }
  begin(exchange, std::move(request), point);
}

/// Precondition: the key is free.
void Streams::begin(const std::shared_ptr<downstream::Exchange>& exchange, NewStream request,
                    const ResumePoint& point) {
  if (point.watermark > seam::kNothing) return refuse(*exchange, Refusal::ResumeExpired, request.run);
  if (context_.draining) return refuse(*exchange, Refusal::Draining, request.run);
  start(exchange, std::move(request), context_.shared != nullptr ? draw_number_epoch() : draw_epoch());
}

void Streams::refuse(downstream::Exchange& exchange, Refusal refusal, const RunRequest& request) const {
  reply_refusal(context_, exchange, refusal,
                context_.upstreams.dialect(0, request.dialect).value_or(dialect::Dialect::Opaque));
}

void Streams::seek(Seeker seeker) {
  forget_removed();
  if (context_.shared != nullptr) return search_.seek(std::move(seeker));
  const auto stream = context_.registry.find(seeker.principal, seeker.id);
  seeker.done({stream ? Sought::Answer::Found : Sought::Answer::Absent, stream});
}

std::shared_ptr<Stream> Streams::find(std::string_view principal, std::string_view id) {
  forget_removed();
  return context_.registry.find(principal, id);
}

void Streams::start(const std::shared_ptr<downstream::Exchange>& exchange, NewStream request, std::string epoch) {
  auto stream = std::make_shared<Stream>();
  stream->principal = std::move(request.principal);
  stream->may_linger = !request.key.empty();
  stream->id = request.key.empty() ? draw_stream_id() : std::move(request.key);
  stream->terms.push_back({std::move(epoch), 0});
  stream->request = request.request;
  stream->dialect = context_.upstreams.dialect(0, request.run.dialect).value_or(dialect::Dialect::Opaque);
  stream->created_unix_ms = context_.loop.unix_now_ms();
  stream->run = std::make_unique<StreamRun>(context_, *stream, std::move(request.run), *this);
  context_.registry.add(stream);
  wait(exchange, stream, {}, false);
  stream->run->start();
}

void Streams::attach(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
                     ResumePoint point, const RunRequest* request, std::function<void()> again) {
  if (stream->left && context_.shared != nullptr) {
    return attach_once_taken(exchange, stream, point, request, std::move(again));
  }
  stream->may_linger = true;
  stream->linger.reset();
  context_.counters.count(RequestKind::Attached);
  if (stream->left && may_take_over(*stream, point)) {
    if (request != nullptr) {
      take_over(stream, *request, StreamRun::Then::GoOn);
    } else {
      // One that left no request can be gone on with by nobody but who makes it again.
      const auto then = stream->left->head.method.empty() ? StreamRun::Then::ShutDown : StreamRun::Then::GoOn;
      lend_credentials(*stream->left, exchange->head().headers, context_.config.client_tokens);
      take_over(stream, std::move(*stream->left), then);
    }
  }
  if (stream->fed_elsewhere) {
    stand_by(*stream, *exchange, request);
    keep_fed(*stream);
    if (!context_.log.offset_above(*stream->log, point.watermark)) {
      return wait_for_events(exchange, stream, std::move(point));
    }
  }
  if (stream->log) {
    deliver(stream, {exchange, std::move(point), true, false});
  } else {
    wait(exchange, stream, std::move(point), true);
  }
}

void Streams::wait(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
                   ResumePoint point, bool attached) {
  stream->waiters.push_back({exchange, std::move(point), attached, false});
  exchange->on_finished_sending([weak = std::weak_ptr<Stream>(stream), who = exchange.get()] {
    const auto one = weak.lock();
    if (!one || !one->run) return;
    bool all = true;
    for (Waiter& waiter : one->waiters) {
      waiter.finished_sending |= waiter.exchange.get() == who;
      all &= waiter.finished_sending;
    }
    if (all) one->run->hand_over_probe();
  });
  exchange->on_closed([this, weak = std::weak_ptr<Stream>(stream), gone = exchange.get()] {
    const auto left = weak.lock();
    if (!left) return;
    auto& waiters = left->waiters;
    const auto found = std::find_if(waiters.begin(), waiters.end(),
                                    [gone](const Waiter& waiter) { return waiter.exchange.get() == gone; });
    if (found == waiters.end()) return;
    waiters.erase(found);
    reader_left(weak);
  });
}

/// The 200, or the reason why this reader cannot go on where it wants to. Precondition: the stream has its log.
void Streams::deliver(const std::shared_ptr<Stream>& stream, const Waiter& waiter) {
  const auto from = locate(waiter.point, context_.log, *stream->log, stream->terms, stream->dialect);
  if (!from.ok()) {
    reply_refusal(context_, *waiter.exchange, refusal(from.error()), stream->dialect);
    return reader_left(stream);
  }
  http::ResponseHead head = stream_head(*stream, waiter.attached);
  context_.cors.permit(waiter.exchange->head(), head.headers);
  auto left = [this, weak = std::weak_ptr<Stream>(stream)] { reader_left(weak); };
  waiter.exchange->respond(
      std::move(head), std::make_unique<StreamBody>(context_, stream, from.value(), waiter.exchange, std::move(left)));
}

/// A reader may go in the middle of anything; what that means for the stream is looked at in a turn of its own.
void Streams::reader_left(const std::weak_ptr<Stream>& stream) {
  context_.loop.post([this, stream] {
    if (const auto one = stream.lock()) look_for_readers(one);
  });
}

/// A stream that nobody reads goes on as `disconnect` says.
void Streams::look_for_readers(const std::shared_ptr<Stream>& stream) {
  if (stream->readers > 0 || !stream->waiters.empty() || !stream->run || stream->linger) return;
  const config::Disconnect& disconnect = context_.config.disconnect;
  const auto policy = stream->may_linger ? disconnect.policy : config::DisconnectPolicy::Cancel;
  if (policy == config::DisconnectPolicy::Continue) return;
  if (stream->wanted_until > context_.loop.now_ms()) return look_again_later(stream);
  if (policy == config::DisconnectPolicy::Cancel) return stream->run->abandon();
  stream->linger = std::make_unique<loop::Timer>(context_.loop);
  stream->linger->set(context_.loop.now_ms() + disconnect.linger_seconds * 1000,
                      [weak = std::weak_ptr<Stream>(stream)] {
                        const auto one = weak.lock();
                        if (one && one->run && one->readers == 0 && one->waiters.empty()) one->run->abandon();
                      });
}

bool Streams::stop(const std::shared_ptr<Stream>& stream) {
  if (stream->run) {
    stream->run->stop();
    return true;
  }
  if (stream->fed_elsewhere) {
    context_.shared->ask_to_stop(*stream->log);
    return false;
  }
  if (!stream->left) return true;
  if (context_.shared != nullptr) {
    if (!stream->being_taken) take(stream, StreamRun::Then::Stop);
    return false;
  }
  take_over(stream, std::move(*stream->left), StreamRun::Then::Stop);
  return true;
}

void Streams::restore(std::vector<log::Restored> restored) {
  // The later of two streams of one name is the one that was there last: it comes first here.
  std::reverse(restored.begin(), restored.end());
  for (const log::Restored& one : restored) {
    const auto stream = from_facts(one.facts);
    // Of another version, or the earlier one.
    if (!stream || context_.registry.find(stream->principal, stream->id)) {
      context_.log.drop(one.stream);
      continue;
    }
    stream->log = one.stream;
    context_.registry.add(stream);
    context_.registry.logged(*stream);
    if (!stream->left) continue;
    if (one.may_go_on) {
      end_unless_taken(stream);
      continue;
    }
    // Readers may have seen more than there is: nothing may be given its numbers.
    stream->left.reset();
    stream->end = StreamEnd{session::EndState::Truncated, session::EndReason::Shutdown, context_.loop.unix_now_ms()};
    context_.log.end(*stream->log, context_.loop.now_ms(), to_facts(*stream, nullptr, {}));
  }
  forget_removed();
  arm_expiry();
}

/// Not for somebody who will be refused, nor by a process that is about to go.
bool Streams::may_take_over(const Stream& stream, const ResumePoint& point) const {
  return !context_.draining && locate(point, context_.log, *stream.log, stream.terms, stream.dialect).ok();
}

/// Who was reading has some time to come back.
void Streams::end_unless_taken(const std::shared_ptr<Stream>& stream) {
  stream->linger = std::make_unique<loop::Timer>(context_.loop);
  stream->linger->set(context_.loop.now_ms() + context_.config.disconnect.linger_seconds * 1000,
                      [this, weak = std::weak_ptr<Stream>(stream)] {
                        const auto one = weak.lock();
                        if (one && one->left) take_over(one, std::move(*one->left), StreamRun::Then::ShutDown);
                      });
}

void Streams::take_over(const std::shared_ptr<Stream>& stream, RunRequest request, StreamRun::Then then) {
  stream->left.reset();
  stream->run = std::make_unique<StreamRun>(context_, *stream, std::move(request), *this);
  stream->run->take_over(then);
}

void Streams::shut_down() {
  std::vector<std::shared_ptr<Stream>> running;
  context_.registry.for_each([&running](const std::shared_ptr<Stream>& stream) {
    if (stream->run) running.push_back(stream);
  });
  for (const auto& stream : running) {
    if (stream->run) stream->run->shut_down();
  }
}

void Streams::committed(Stream& stream) {
  const auto shared = registered(context_, stream);
  context_.registry.logged(stream);
  context_.counters.count(RequestKind::Started);
  for (const Waiter& waiter : std::exchange(stream.waiters, {})) {
    waiter.exchange->on_closed(nullptr);
    deliver(shared, waiter);
  }
}

void Streams::refused(Stream& stream, const session::RelayError& error) {
  const auto alive = registered(context_, stream);
  release_name(stream);
  context_.counters.count(RequestKind::Refused);
  context_.logger.write(observe::Level::Info,
                        line_of("request failed", stream).number("status", error.status).text("code", error.code));
  const bool anthropic = stream.dialect == dialect::Dialect::AnthropicMessages;
  const std::string request_id = anthropic ? "req_" + draw_stream_id() : std::string();
  dialect::ErrorFacts facts = error.facts();
  facts.request_id = request_id;
  const std::string body = dialect::error_body(stream.dialect, facts);
  retire(stream);
  for (const Waiter& waiter : std::exchange(stream.waiters, {})) {
    waiter.exchange->on_closed(nullptr);
    http::Headers headers;
    add_retry_after(headers, error.retry_after_s);
    reply(context_, *waiter.exchange, error.status, "application/json", body, headers);
  }
  context_.registry.remove(stream);
}

void Streams::passes(Stream& stream, http::ResponseHead head, std::unique_ptr<ResponsePipe> pipe) {
  const auto alive = registered(context_, stream);
  release_name(stream);
  context_.counters.count(RequestKind::PassedThrough);
  observe::Line line = line_of("request passed through", stream);
  line.number("status", head.status);
  const std::string method = stream.run->method();
  std::optional<NewStream> again;
  if (stream.waiters.size() > 1 && !pipe->whole()) {
    again.emplace(NewStream{stream.principal, stream.id, stream.request, stream.run->request()});
  }
  retire(stream);
  context_.registry.remove(stream);

  // There is one body, perhaps one of any length: a whole one is for all who wait, else it's for the one who asked last
  // and is most likely to be still there, and the others ask for their own.
  std::vector<Waiter> askers;
  for (Waiter& waiter : std::exchange(stream.waiters, {})) {
    waiter.exchange->on_closed(nullptr);
    if (waiter.exchange->head().method == method) {
      askers.push_back(std::move(waiter));
    } else {
      reply_refusal(context_, *waiter.exchange, Refusal::NoSuchStream, stream.dialect);
    }
  }
  if (askers.empty()) return;
  const Waiter last = std::move(askers.back());
  askers.pop_back();
  for (const Waiter& waiter : askers) {
    if (again) {
      admit(waiter.exchange, *again, waiter.point);
    } else {
      hand_on(waiter.exchange, head, std::make_unique<ResponsePipe>(pipe->first(), nullptr), line);
    }
  }
  hand_on(last.exchange, std::move(head), std::move(pipe), line);
}

void Streams::hand_on(const std::shared_ptr<downstream::Exchange>& exchange, http::ResponseHead head,
                      std::unique_ptr<ResponsePipe> pipe, const observe::Line& line) {
  context_.cors.permit(exchange->head(), head.headers);
  pipe->attach(exchange, [this, line = line](bool complete, std::uint64_t bytes) mutable {
    context_.logger.write(observe::Level::Info,
                          line.boolean("complete", complete).number("bytes", static_cast<std::int64_t>(bytes)));
  });
  exchange->respond(std::move(head), std::move(pipe));
}

void Streams::ended(Stream& stream) {
  const auto alive = registered(context_, stream);
  const std::string_view state = session::name(stream.end->state);
  const std::string_view reason = session::name(stream.end->reason);
  ++context_.counters.ends[{state, reason}];
  context_.logger.write(observe::Level::Info, line_of("stream ended", stream)
                                                  .text("epoch", stream.epoch())
                                                  .text("state", state)
                                                  .text("reason", reason)
                                                  .number("events", context_.log.next_seq(*stream.log)));
  retire(stream);
  // This may be the linger timer's own doing.
  context_.loop.retire(std::shared_ptr<loop::Timer>(std::move(stream.linger)));
  tell_watchers(stream);
  forget_removed();
  arm_expiry();
}

void Streams::retire(Stream& stream) { context_.loop.retire(std::shared_ptr<StreamRun>(std::move(stream.run))); }

/// What the log has dropped is gone for everybody.
void Streams::forget_removed() {
  for (const log::StreamId id : context_.log.take_removed()) {
    // Only where replicas share the log there may be more to end than the entry.
    if (const auto stream = context_.registry.find(id)) lose(stream);
  }
}

void Streams::arm_expiry() {
  if (expiry_.armed() || context_.log.next_deadline() == kNever) return;
  expiry_.set(context_.log.next_deadline(), [this] {
    context_.log.expire(context_.loop.now_ms());
    forget_removed();
    arm_expiry();
  });
}

}  // namespace tidemark::proxy
