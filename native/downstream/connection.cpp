// A client connection: reading requests, and their order.
#include "native/downstream/connection.hpp"

#include <utility>

namespace tidemark::downstream {

Connection::Connection(Server::Impl& server, std::unique_ptr<loop::Socket> socket)
    : server_(server),
      socket_(std::move(socket)),
      decoder_({server.limits.request_head_bytes, server.limits.body_bytes}),
      timer_(server.loop) {}

void Connection::start() {
  expect_head();
  wait_for_bytes();
}

void Connection::expect_head() {
  head_timed_ = true;
  timer_.set(server_.loop.now_ms() + server_.limits.head_timeout_ms,
             [this] { answer_fault(408, "request_timeout", "the request's head did not come in time"); });
}

void Connection::expect_body() {
  timer_.set(server_.loop.now_ms() + server_.limits.body_timeout_ms,
             [this] { answer_fault(408, "request_timeout", "the request's body stopped coming"); });
}

void Connection::refuse() {
  refused_ = true;
  ++server_.refused;
  answer_fault(503, "too_many_connections", "too many connections are open");
}

void Connection::wait_for_bytes() {
  socket_->wait_readable([this] { read_some(); });
}

void Connection::read_some() {
  const loop::IoResult result = socket_->read(server_.loop.read_buffer(), loop::Loop::kReadBuffer);
  switch (result.status) {
    case loop::IoStatus::WouldBlock:
      return wait_for_bytes();
    case loop::IoStatus::Eof:
    case loop::IoStatus::Failed:
      return close();
    case loop::IoStatus::Done:
      break;
  }
  if (state_ == State::Reading) take({server_.loop.read_buffer(), result.bytes});
  if (state_ == State::Reading || state_ == State::Lingering) wait_for_bytes();
}

void Connection::take(std::string_view bytes) {
  if (!head_timed_) expect_head();
  std::vector<http::RequestAction> actions;
  while (state_ == State::Reading && !bytes.empty()) {
    bytes.remove_prefix(decoder_.feed(bytes, actions));
    apply(actions);
    actions.clear();
  }
  if (state_ == State::Handling || state_ == State::Responding) input_ = bytes;
  if (state_ != State::Reading || !awaits_continue_) return;
  awaits_continue_ = false;
  // A client that has begun to send its body waits for nothing. What is so short fits into an empty socket.
  if (body_.empty()) socket_->write("HTTP/1.1 100 Continue\r\n\r\n");
}

void Connection::apply(std::vector<http::RequestAction>& actions) {
  for (http::RequestAction& action : actions) {
    if (state_ != State::Reading) return;
    switch (action.kind) {
      case http::RequestAction::Kind::Head:
        take_head(action.head);
        break;
      case http::RequestAction::Kind::Body:
        body_ += action.bytes;
        expect_body();
        break;
      case http::RequestAction::Kind::End:
        dispatch();
        break;
      case http::RequestAction::Kind::Failed:
        answer_fault(action.fault, action.why);
        break;
    }
  }
}

void Connection::take_head(http::RequestHead& head) {
  head_ = std::move(head);
  to_head_ = head_.method == "HEAD";
  minor_version_ = head_.minor_version;
  keep_alive_ = head_.keep_alive;
  expect_body();
  const std::string* expected = head_.headers.find("expect");
  if (expected == nullptr || minor_version_ == 0) return;
  if (!http::equal_names(*expected, "100-continue")) {
    return answer_fault(417, "expectation_failed", "the request expects what is not known here");
  }
  awaits_continue_ = true;
}

void Connection::dispatch() {
  timer_.cancel();
  awaits_continue_ = false;
  state_ = State::Handling;
  auto exchange =
      std::make_shared<ConnectionExchange>(*this, std::exchange(head_, {}), std::exchange(body_, std::string()));
  exchange_ = exchange.get();
  ++server_.exchanges;
  asks_ = false;
  socket_->wait_lost([this] { close(); });
  watch_for_end();
  server_.handler.handle(std::move(exchange));
}

// A client that has closed looks like one that has only nothing more to say, until it refuses a byte.
void Connection::watch_for_end() {
  constexpr TimeMs kAskAfter = 1000;
  socket_->wait_readable([this] {
    if (!socket_->peer_finished()) return;  // the next request has come early
    asks_ = true;
    if (!blocked_) timer_.set(server_.loop.now_ms() + kAskAfter, [this] { ask_whether_there(); });
    if (exchange_ == nullptr) return;
    if (const auto finished = exchange_->take_finished_sending()) finished();
  });
}

void Connection::ask_whether_there() {
  if (!asks_) return;
  if (state_ == State::Handling && minor_version_ > 0) {
    // RFC 9110 § 15.2: a client takes an interim response also where it has asked for none.
    socket_->write("HTTP/1.1 100 Continue\r\n\r\n");
  } else if (state_ == State::Responding && source_ != nullptr && !blocked_) {
    source_->nudge();
    schedule_pump();
  }
}

void Connection::answer_fault(http::Fault fault, std::string_view why) {
  const std::string message = "the request " + std::string(why);
  switch (fault) {
    case http::Fault::BadMessage:
    case http::Fault::CutShort:
      return answer_fault(400, "bad_request", message);
    case http::Fault::HeadTooLarge:
      return answer_fault(431, "request_head_too_large", message);
    case http::Fault::BodyTooLarge:
      return answer_fault(413, "request_body_too_large", message);
    case http::Fault::UnknownMethod:
      return answer_fault(501, "method_not_implemented", message);
    case http::Fault::UnknownVersion:
      return answer_fault(505, "http_version_not_supported", message);
  }
}

void Connection::answer_fault(int status, std::string_view code, std::string_view message) {
  timer_.cancel();
  keep_alive_ = false;
  std::string().swap(body_);
  http::ResponseHead head;
  head.status = status;
  head.headers.add("Content-Type", "application/json");
  if (status == 503) {
    head.headers.add("Retry-After", "1");
    head.headers.add("retry-after-ms", "1000");
  }
  const std::string_view type = status >= 500 ? "server_error" : "invalid_request_error";
  // No part of these comes from outside: nothing to escape.
  respond(std::move(head), std::string(R"({"error":{"message":")")
                               .append(message)
                               .append(R"(","type":")")
                               .append(type)
                               .append(R"(","code":")")
                               .append(code)
                               .append(R"(","param":null}})"));
}

void Connection::forget_exchange() {
  if (exchange_ == nullptr) return;
  --server_.exchanges;
  exchange_->detach();
  exchange_->take_gone();
  exchange_ = nullptr;
  if (kept_exchange_) server_.loop.retire(std::move(kept_exchange_));
}

void Connection::next_request() {
  state_ = State::Reading;
  head_timed_ = false;
  timer_.set(server_.loop.now_ms() + server_.limits.idle_timeout_ms, [this] { close(); });
  if (!input_.empty()) take(std::exchange(input_, {}));
  if (state_ == State::Reading) wait_for_bytes();
}

void Connection::linger() {
  constexpr TimeMs kLinger = 2000;
  state_ = State::Lingering;
  socket_->shutdown_send();
  timer_.set(server_.loop.now_ms() + kLinger, [this] { close(); });
  wait_for_bytes();
}

void Connection::close(bool quietly) {
  if (state_ == State::Closed) return;
  state_ = State::Closed;
  timer_.cancel();
  if (blocked_) unblock();
  if (quietly) {
    socket_->reset();
  } else {
    socket_->close();
  }
  if (source_) server_.loop.retire(std::shared_ptr<BodySource>(std::move(source_)));
  if (exchange_ != nullptr) {
    // A callback that calls out from here would find its caller half done.
    auto gone = exchange_->take_gone();
    if (gone && !quietly) server_.loop.defer(std::move(gone));
    forget_exchange();
  }
  if (refused_) --server_.refused;
  auto& all = server_.connections;
  server_.loop.retire(std::move(all[place]));
  if (place + 1 != all.size()) {
    all[place] = std::move(all.back());
    all[place]->place = place;
  }
  all.pop_back();
}

}  // namespace tidemark::downstream
