// Requests under way.
#include "native/upstream/running_call.hpp"

#include <utility>

#include "native/http/h1_codec.hpp"
#include "native/http/h1_writer.hpp"

namespace tidemark::upstream {
namespace {

std::string authority_of(const Origin& origin) {
  const std::string host = origin.host.find(':') != std::string::npos ? "[" + origin.host + "]" : origin.host;
  const std::uint16_t usual = origin.scheme == "https" ? 443 : 80;
  return origin.port == usual ? host : host + ":" + std::to_string(origin.port);
}

// RFC 9110 § 9.2.2: such a request may be sent again although nobody knows whether it has done its work.
bool is_idempotent(std::string_view method) {
  for (const char* known : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"}) {
    if (method == known) return true;
  }
  return false;
}

bool is_event_stream(const http::Headers& headers) {
  constexpr std::string_view kType = "text/event-stream";
  return http::equal_names(headers.get("content-type").substr(0, kType.size()), kType);
}

}  // namespace

RunningCall::RunningCall(Client::Impl& client, Origin origin, const http::RequestHead& head, std::string_view body,
                         CallEvents& events)
    : client_(&client),
      loop_(client.loop),
      origin_(std::move(origin)),
      events_(&events),
      method_(head.method),
      decode_gzip_(!head.headers.has("accept-encoding")),
      timer_(client.loop) {
  http::write_head(head, body.size(), authority_of(origin_), request_);
  request_ += body;
  client_->calls.insert(this);
}

RunningCall::~RunningCall() {
  if (!over()) client_->calls.erase(this);
}

void RunningCall::start() {
  if (over()) return;
  if (auto kept = client_->pool.take(origin_)) {
    attach(std::move(kept));
  } else {
    connect();
  }
}

void RunningCall::connect() {
  timer_.set(loop_.now_ms() + client_->limits.connect_timeout_ms,
             [this] { fail(FailureKind::Timeout, "the upstream could not be reached in time"); });
  connecting_ = std::make_unique<loop::Connecting>(
      loop_, origin_.host, origin_.port,
      [this](std::unique_ptr<loop::Socket> socket, bool resolved, const std::string& error) {
        if (socket) return connected(std::move(socket));
        if (resolved) return fail(FailureKind::Connect, "the upstream could not be reached: " + error);
        fail(FailureKind::Resolve, "the upstream's name was not found: " + error);
      });
}

void RunningCall::connected(std::unique_ptr<loop::Socket> socket) {
  auto connection = std::make_unique<Connection>();
  if (origin_.scheme == "https") {
    if (client_->tls == nullptr) return fail(FailureKind::Tls, "no TLS with the upstream: there is no context for it");
    connection->transport = client_->tls->connect(std::move(socket), origin_.host);
  } else {
    connection->transport = tls::plain_transport(std::move(socket));
  }
  connection->decoder =
      std::make_unique<http::H1ResponseDecoder>(http::CodecLimits{.head_bytes = client_->limits.response_head_bytes});
  connection_ = std::move(connection);
  connection_->transport->handshake([this](const std::string& error) {
    if (!error.empty()) return fail(FailureKind::Tls, "no TLS with the upstream: " + error);
    timer_.cancel();
    attach(std::move(connection_));
  });
}

void RunningCall::attach(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  connection_->decoder->expect(method_);
  wait_for_bytes();
  write_some();
}

void RunningCall::write_some() {
  while (sent_ < request_.size()) {
    const loop::IoResult result = connection_->transport->write(std::string_view(request_).substr(sent_));
    if (result.status == loop::IoStatus::WouldBlock) {
      connection_->transport->wait_writable([this] { write_some(); });
      return;
    }
    if (result.status != loop::IoStatus::Done) {
      // An upstream that refuses a body may have answered before it closed: reading tells.
      write_failed_ = true;
      return;
    }
    sent_ += result.bytes;
  }
  request_sent_ = true;
  // A connection that was kept may prove dead, and all is sent again.
  if (!connection_->reused || answered_ || !is_idempotent(method_)) std::string().swap(request_);
}

void RunningCall::wait_for_bytes() {
  connection_->transport->wait_readable([this] { read_some(); });
}

void RunningCall::read_some() {
  if (paused_) return;
  const loop::IoResult result = connection_->transport->read(loop_.read_buffer(), loop::Loop::kReadBuffer);
  std::vector<http::ResponseAction> actions;
  switch (result.status) {
    case loop::IoStatus::WouldBlock:
      return wait_for_bytes();
    case loop::IoStatus::Failed:
      return lost(result.error);
    case loop::IoStatus::Eof:
      if (!answered_) return lost("closed without an answer");
      connection_->decoder->finish(actions);
      apply(actions);
      return;
    case loop::IoStatus::Done:
      break;
  }
  answered_ = true;
  if (request_sent_) std::string().swap(request_);
  actions.swap(client_->actions);
  const std::string_view bytes(loop_.read_buffer(), result.bytes);
  excess_ = connection_->decoder->feed(bytes, actions) < bytes.size();
  apply(actions);
  if (over()) return;
  actions.clear();
  actions.swap(client_->actions);
  if (!ending_ && !paused_) wait_for_bytes();
}

void RunningCall::lost(const std::string& why) {
  if (connection_->reused && !answered_ && (!request_sent_ || is_idempotent(method_))) {
    loop_.retire(std::shared_ptr<Connection>(std::move(connection_)));
    sent_ = 0;
    request_sent_ = false;
    write_failed_ = false;
    return connect();
  }
  fail(FailureKind::Reset, "the connection to the upstream was lost: " + why);
}

void RunningCall::apply(std::vector<http::ResponseAction>& actions) {
  for (http::ResponseAction& action : actions) {
    switch (action.kind) {
      case http::ResponseAction::Kind::Head:
        take_head(action.head);
        break;
      case http::ResponseAction::Kind::Body:
        deliver(action.bytes);
        break;
      case http::ResponseAction::Kind::End:
      case http::ResponseAction::Kind::Failed:
        ending_ = std::move(action);
        break;
    }
    if (over()) return;
  }
  finish_if_done();
}

void RunningCall::take_head(http::ResponseHead& head) {
  const bool compressed = http::is_gzip(head.headers.get("content-encoding")) && method_ != "HEAD";
  if (compressed && (decode_gzip_ || is_event_stream(head.headers))) {
    gzip_ = std::make_unique<http::GzipDecoder>();
    head.headers.remove("content-encoding");
    head.headers.remove("content-length");
  }
  events_->on_head(head);
}

void RunningCall::deliver(std::string_view bytes) {
  if (events_ == nullptr) {
    discarded_ += bytes.size();
    if (discarded_ > kRestBytes) cancel();
    return;
  }
  // What was held back comes first, also between resume() and its effect.
  if (paused_ || !held_.empty() || inflating_) {
    held_ += bytes;
    return;
  }
  pass_on(bytes);
}

void RunningCall::pass_on(std::string_view bytes) {
  if (!gzip_) {
    events_->on_body(bytes);
    return;
  }
  gzip_begun_ = gzip_begun_ || !bytes.empty();
  for (;;) {
    std::string_view output;
    const auto state = gzip_->decode(bytes, output);
    if (state == http::GzipDecoder::State::Failed)
      return fail(FailureKind::Protocol, "the upstream's gzip body is damaged");
    inflating_ = state == http::GzipDecoder::State::More;
    if (!output.empty()) events_->on_body(output);
    if (over() || !inflating_) return;
    if (paused_) {
      held_ += bytes;
      return;
    }
  }
}

void RunningCall::resume() {
  if (!paused_) return;
  paused_ = false;
  loop_.defer([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->over() || self->paused_) return;
    const std::string held = std::exchange(self->held_, {});
    if (!held.empty() || self->inflating_) self->pass_on(held);
    if (self->over()) return;
    self->finish_if_done();
    if (!self->over() && !self->ending_ && !self->paused_ && self->connection_) self->wait_for_bytes();
  });
}

void RunningCall::yield() {
  pause();
  loop_.defer([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->resume();
  });
}

void RunningCall::discard_rest() {
  if (over()) return;
  events_ = nullptr;
  held_.clear();
  inflating_ = false;
  resume();
  timer_.set(loop_.now_ms() + kRestMs, [self = shared_from_this()] { self->cancel(); });
}

void RunningCall::finish_if_done() {
  if (!ending_ || paused_ || !held_.empty() || inflating_) return;
  if (ending_->kind == http::ResponseAction::Kind::End) return end();
  if (ending_->fault == http::Fault::CutShort) {
    return fail(FailureKind::Reset, "the connection to the upstream was lost: closed inside the response");
  }
  fail(FailureKind::Protocol, "the upstream's response " + std::string(ending_->why));
}

void RunningCall::end() {
  if (events_ != nullptr && gzip_ && gzip_begun_ && !gzip_->complete()) {
    return fail(ending_->framed ? FailureKind::Protocol : FailureKind::Reset,
                "the upstream's gzip body ended inside its data");
  }
  if (ending_->keep_alive && !excess_ && request_sent_) {
    client_->pool.keep(origin_, std::move(connection_));
  }
  const bool framed = ending_->framed;
  if (CallEvents* events = finished()) events->on_end(framed);
}

void RunningCall::fail(FailureKind kind, std::string message) {
  if (CallEvents* events = finished()) events->on_failure({kind, std::move(message)});
}

CallEvents* RunningCall::finished() {
  CallEvents* events = events_;
  cancel();
  return events;
}

void RunningCall::cancel() {
  if (over()) return;
  client_->calls.erase(this);
  client_ = nullptr;
  // This may be running inside a callback of any of them.
  loop_.retire(shared_from_this());
  timer_.cancel();
  if (connection_) {
    connection_->transport->reset();
    loop_.retire(std::shared_ptr<Connection>(std::move(connection_)));
  }
  if (connecting_) loop_.retire(std::shared_ptr<loop::Connecting>(std::move(connecting_)));
}

}  // namespace tidemark::upstream
