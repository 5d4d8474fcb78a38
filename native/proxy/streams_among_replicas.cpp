// Streams of a log that replicas share: begun by one of them, read by any, taken over from one that is gone.
#include <algorithm>
#include <utility>

#include "native/proxy/principal.hpp"
#include "native/proxy/reply.hpp"
#include "native/proxy/stream_facts.hpp"
#include "native/proxy/streams.hpp"

namespace tidemark::proxy {
namespace {

/// For how long readers elsewhere count after each time that they were told of.
TimeMs wanted_ms(const config::Disconnect& disconnect) {
  return std::max<TimeMs>(disconnect.linger_seconds * 1000, 1000);
}

// How long a reader's next event may take to get here, and how often it is looked for.
constexpr TimeMs kAheadMs = 1000;
constexpr TimeMs kLookAheadMs = 10;

}  // namespace

void Streams::admit_shared(const std::shared_ptr<downstream::Exchange>& exchange,
                           const std::shared_ptr<NewStream>& request, const ResumePoint& point, int tries) {
  if (tries == 0) return refuse(*exchange, Refusal::LogUnreachable, request->run);
  Seeker seeker{exchange, request->principal, request->key, request->request};
  seeker.begins = point.watermark == seam::kNothing && !context_.draining;
  seeker.dialect = context_.upstreams.dialect(0, request->run.dialect).value_or(dialect::Dialect::Opaque);
  seeker.give_up_at = context_.loop.now_ms() + context_.config.hold_max_ms;
  seeker.done = [this, exchange, request, point, tries](const Sought& sought) {
    switch (sought.answer) {
      case Sought::Answer::Found:
        return attach(exchange, sought.stream, point, &request->run,
                      [this, exchange, request, point, tries] { admit_shared(exchange, request, point, tries - 1); });
      case Sought::Answer::Free:
        if (!context_.draining) return start(exchange, std::move(*request), sought.epoch);
        context_.shared->release(shared_name(request->principal, request->key));
        return refuse(*exchange, Refusal::Draining, request->run);
      case Sought::Answer::Absent:
        return refuse(*exchange, point.watermark > seam::kNothing ? Refusal::ResumeExpired : Refusal::Draining,
                      request->run);
      case Sought::Answer::Reused:
        return refuse(*exchange, Refusal::KeyReused, request->run);
      case Sought::Answer::Claimed:
      case Sought::Answer::Away:
        return refuse(*exchange, Refusal::LogUnreachable, request->run);
      case Sought::Answer::Full:
        return refuse(*exchange, Refusal::LogLimit, request->run);
    }
  };
  seek(std::move(seeker));
}

/// Null where this program can't make it out: one of another version has left it.
std::shared_ptr<Stream> Streams::adopt(const Seeker& seeker, log::LookUp found) {
  auto stream = from_facts(found.facts);
  if (!stream || stream->principal != seeker.principal || stream->id != seeker.id || found.terms.empty())
    return nullptr;
  stream->log = found.stream;
  stream->terms = std::move(found.terms);
  if (found.ended) {
    stream->left.reset();
  } else if (found.fed) {
    stream->standby = std::move(stream->left);
    stream->fed_elsewhere = true;
  }
  context_.registry.add(stream);
  context_.registry.logged(*stream);
  arm_expiry();
  return stream;
}

void Streams::attach_once_taken(const std::shared_ptr<downstream::Exchange>& exchange,
                                const std::shared_ptr<Stream>& stream, const ResumePoint& point,
                                const RunRequest* request, std::function<void()> again) {
  if (context_.draining) return reply_refusal(context_, *exchange, Refusal::Draining, stream->dialect);
  const auto from = locate(point, context_.log, *stream->log, stream->terms, stream->dialect);
  if (!from.ok()) return reply_refusal(context_, *exchange, refusal(from.error()), stream->dialect);
  const bool nothing_to_ask = stream->left->head.method.empty();
  if (request != nullptr && (nothing_to_ask || !stream->being_taken)) {
    *stream->left = *request;
  } else if (!nothing_to_ask && !stream->being_taken) {
    lend_credentials(*stream->left, exchange->head().headers, context_.config.client_tokens);
  }
  if (!stream->being_taken && somebody_else_may_go_on(*stream)) {
    context_.counters.count(RequestKind::Attached);
    deliver(stream, {exchange, point, true, false});
    return wait_for_somebody(stream);
  }
  stream->watchers.push_back([exchange, again = std::move(again)] {
    if (!exchange->closed()) again();
  });
  if (!stream->being_taken) take(stream, StreamRun::Then::GoOn);
}

/// Who has come so far lacks the request, or a credential for it; who makes the request again has both.
bool Streams::somebody_else_may_go_on(const Stream& stream) const {
  const config::Config& config = context_.config;
  const bool continuable = std::any_of(config.upstreams.begin(), config.upstreams.end(),
                                       [](const config::Upstream& one) { return !one.continuation.empty(); });
  if (!continuable) return false;
  const http::RequestHead& head = stream.left->head;
  if (head.method.empty()) return true;
  const bool needs_one = !config.lends_keys() && !(config.principal_header.empty() && stream.principal == kAnonymous);
  return needs_one && std::none_of(head.headers.begin(), head.headers.end(),
                                   [](const http::Header& header) { return is_credential_header(header.name); });
}

/// Meanwhile the stream is read as far as it goes.
void Streams::wait_for_somebody(const std::shared_ptr<Stream>& stream) {
  if (stream->linger) return;
  stream->linger = std::make_unique<loop::Timer>(context_.loop);
  stream->linger->set(context_.loop.now_ms() + context_.config.disconnect.linger_seconds * 1000,
                      [this, weak = std::weak_ptr<Stream>(stream)] {
                        const auto one = weak.lock();
                        if (one && one->left && !one->being_taken) take(one, StreamRun::Then::ShutDown);
                      });
}

void Streams::take(const std::shared_ptr<Stream>& stream, StreamRun::Then then) {
  stream->being_taken = true;
  // This may be the timer's own doing.
  context_.loop.retire(std::shared_ptr<loop::Timer>(std::move(stream->linger)));
  context_.shared->take_over(
      *stream->log, [this, stream, then](std::optional<log::Term> term) { taken(stream, std::move(term), then); });
}

void Streams::taken(const std::shared_ptr<Stream>& stream, std::optional<log::Term> term, StreamRun::Then then) {
  stream->being_taken = false;
  // It may have been lost in the meantime.
  if (context_.registry.find(stream->principal, stream->id) != stream) return;
  if (!term && context_.log.contains(*stream->log)) return go_on_reading(*stream);
  if (!term) return lose(stream);
  stream->terms.push_back(std::move(*term));
  ++context_.counters.taken_over;
  // One that left no request can be gone on with by nobody but who makes it again.
  if (then == StreamRun::Then::GoOn && stream->left->head.method.empty()) then = StreamRun::Then::ShutDown;
  stream->may_linger = true;
  take_over(stream, std::move(*stream->left), then);
  tell_watchers(*stream);
  // Who came for it may have left.
  reader_left(stream);
}

/// Another replica was faster, and there are readers here.
void Streams::go_on_reading(Stream& stream) {
  context_.loop.retire(std::shared_ptr<loop::Timer>(std::move(stream.linger)));
  stream.standby = std::move(stream.left);
  stream.fed_elsewhere = true;
  tell_watchers(stream);
}

/// Who comes from the replica that feeds the stream may have seen what has not reached this one yet.
void Streams::wait_for_events(const std::shared_ptr<downstream::Exchange>& exchange,
                              const std::shared_ptr<Stream>& stream, ResumePoint point) {
  const TimeMs now = context_.loop.now_ms();
  ahead_.push_back({exchange, stream, std::move(point), now + kAheadMs});
  if (!look_ahead_.armed()) look_ahead_.set(now + kLookAheadMs, [this] { look_for_events(); });
}

void Streams::look_for_events() {
  const TimeMs now = context_.loop.now_ms();
  for (Ahead& one : std::exchange(ahead_, {})) {
    if (one.exchange->closed()) continue;
    const log::StreamId log = *one.stream->log;
    if (!context_.log.contains(log)) {
      reply_refusal(context_, *one.exchange, Refusal::LogUnreachable, one.stream->dialect);
    } else if (context_.log.offset_above(log, one.point.watermark) || !one.stream->fed_elsewhere ||
               now >= one.give_up_at) {
      deliver(one.stream, {one.exchange, std::move(one.point), true, false});
    } else {
      ahead_.push_back(std::move(one));
    }
  }
  if (!ahead_.empty()) look_ahead_.set(now + kLookAheadMs, [this] { look_for_events(); });
}

/// Whoever reads a stream that another replica feeds lends what it takes to go on with it.
void Streams::stand_by(Stream& stream, const downstream::Exchange& exchange, const RunRequest* request) {
  if (request != nullptr) {
    stream.standby = std::make_unique<RunRequest>(*request);
  } else if (stream.standby && !stream.standby->head.method.empty()) {
    lend_credentials(*stream.standby, exchange.head().headers, context_.config.client_tokens);
  }
}

/// It is another replica's, or nobody's: what is known of it here is not true any more.
void Streams::lose(const std::shared_ptr<Stream>& stream) {
  context_.registry.remove(*stream);
  context_.loop.retire(std::shared_ptr<loop::Timer>(std::move(stream->linger)));
  if (stream->run) {
    ++context_.counters.lost;
    observe::Line line("stream lost to another replica");
    stream->run->describe(line);
    context_.logger.write(observe::Level::Info, line.text("epoch", stream->epoch()));
    retire(*stream);
  }
  tell_watchers(*stream);
}

/// In a turn of their own: they look for the stream again, and this may be the middle of its run.
void Streams::tell_watchers(Stream& stream) {
  if (stream.watchers.empty()) return;
  context_.loop.post([alive = std::weak_ptr<bool>(alive_), watchers = std::exchange(stream.watchers, {})] {
    if (alive.expired()) return;
    for (const auto& changed : watchers) changed();
  });
}

void Streams::when_changed(const std::shared_ptr<Stream>& stream, TimeMs give_up_at,
                           std::function<void(bool)> changed) {
  struct Wait {
    explicit Wait(loop::Loop& loop) : timer(loop) {}
    loop::Timer timer;
    std::function<void(bool)> changed;
    void over(bool in_time) {
      timer.cancel();
      if (const auto tell = std::exchange(changed, nullptr)) tell(in_time);
    }
  };
  const auto wait = std::make_shared<Wait>(context_.loop);
  wait->changed = std::move(changed);
  wait->timer.set(give_up_at, [weak = std::weak_ptr<Wait>(wait)] {
    if (const auto one = weak.lock()) one->over(false);
  });
  stream->watchers.push_back([wait] { wait->over(true); });
}

void Streams::gone(Stream& stream) {
  if (const auto shared = context_.registry.find(stream.principal, stream.id)) lose(shared);
}

void Streams::ended_elsewhere(log::StreamId id, const std::string& facts) {
  const auto stream = context_.registry.find(id);
  if (!stream || !stream->fed_elsewhere) return;
  stream->fed_elsewhere = false;
  stream->standby.reset();
  const auto told = from_facts(facts);
  stream->end = told && told->end ? *told->end
                                  : StreamEnd{session::EndState::Truncated, session::EndReason::Shutdown,
                                              context_.loop.unix_now_ms()};
  if (told) {
    stream->attempts = told->attempts;
    stream->seams = std::move(told->seams);
  }
  tell_watchers(*stream);
  arm_expiry();
}

/// Who reads it here need not come back for that.
void Streams::left(log::StreamId id) {
  const auto stream = context_.registry.find(id);
  if (!stream || !stream->fed_elsewhere || context_.draining) return;
  stream->fed_elsewhere = false;
  stream->left = stream->standby ? std::move(stream->standby) : std::make_unique<RunRequest>();
  if (somebody_else_may_go_on(*stream)) return wait_for_somebody(stream);
  take(stream, StreamRun::Then::GoOn);
}

void Streams::moved(log::StreamId id, const std::vector<log::Term>& terms) {
  const auto stream = context_.registry.find(id);
  if (!stream || stream->run) return;
  stream->terms = terms;
  if (stream->left) go_on_reading(*stream);
  // That one has heard of no reader here, nor of a stop.
  if (stream->readers > 0) keep_fed(*stream);
  tell_watchers(*stream);
}

void Streams::lost(log::StreamId id) {
  if (const auto stream = context_.registry.find(id)) lose(stream);
}

void Streams::stop_asked(log::StreamId id) {
  const auto stream = context_.registry.find(id);
  if (stream && stream->run) stream->run->stop();
}

void Streams::stop_asked(const std::string& name) {
  std::shared_ptr<Stream> claimed;
  context_.registry.for_each([&](const std::shared_ptr<Stream>& stream) {
    if (stream->run && !stream->log && shared_name(stream->principal, stream->id) == name) claimed = stream;
  });
  if (claimed) claimed->run->stop();
}

/// Readers elsewhere count as readers here, until they have not been told of for a while.
void Streams::wanted(log::StreamId id) {
  const auto stream = context_.registry.find(id);
  if (!stream || !stream->run) return;
  stream->may_linger = true;
  stream->wanted_until = context_.loop.now_ms() + wanted_ms(context_.config.disconnect);
  stream->linger.reset();
  look_for_readers(stream);
}

void Streams::look_again_later(const std::shared_ptr<Stream>& stream) {
  stream->linger = std::make_unique<loop::Timer>(context_.loop);
  stream->linger->set(stream->wanted_until, [this, weak = std::weak_ptr<Stream>(stream)] {
    const auto one = weak.lock();
    if (!one) return;
    one->linger.reset();
    look_for_readers(one);
  });
}

/// Says of all that is read here and fed elsewhere that it is, now and as long as there are readers.
void Streams::keep_fed(const Stream& stream) {
  context_.shared->keep_fed(*stream.log);
  if (say_read_.armed()) return;
  say_read_.set(context_.loop.now_ms() + wanted_ms(context_.config.disconnect) / 3, [this] {
    std::vector<std::shared_ptr<Stream>> read;
    context_.registry.for_each([&read](const std::shared_ptr<Stream>& one) {
      if (one->fed_elsewhere && one->readers > 0) read.push_back(one);
    });
    for (const auto& one : read) keep_fed(*one);
  });
}

void Streams::release_name(const Stream& stream) {
  if (context_.shared != nullptr) context_.shared->release(shared_name(stream.principal, stream.id));
}

}  // namespace tidemark::proxy
