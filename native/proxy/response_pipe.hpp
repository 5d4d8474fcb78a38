// An upstream's own response body on its way to one client, with back-pressure in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "native/downstream/exchange.hpp"
#include "native/upstream/client.hpp"

namespace tidemark::proxy {

/// Whom a call tells can be changed while it is under way: first the stream's run, then perhaps a pipe.
class Attempt final : public upstream::CallEvents {
 public:
  explicit Attempt(upstream::CallEvents& listener) : listener_(&listener) {}

  void begin(std::unique_ptr<upstream::Call> call) { call_ = std::move(call); }
  void listen(upstream::CallEvents& listener) { listener_ = &listener; }
  upstream::Call& call() { return *call_; }

  // Nothing may follow these calls: the listener may destroy the attempt.
  void on_head(const http::ResponseHead& head) override { listener_->on_head(head); }
  void on_body(std::string_view bytes) override { listener_->on_body(bytes); }
  void on_end(bool framed) override { listener_->on_end(framed); }
  void on_failure(const upstream::Failure& failure) override { listener_->on_failure(failure); }

 private:
  upstream::CallEvents* listener_;
  std::unique_ptr<upstream::Call> call_;
};

/// Holds at most kHighWater bytes and what one read brings: while the client takes nothing, nothing is read.
class ResponsePipe final : public downstream::BodySource, public upstream::CallEvents {
 public:
  static constexpr std::size_t kHighWater = 65536;
  /// `complete` is false where the upstream broke off or the client left.
  using Done = std::function<void(bool complete, std::uint64_t bytes)>;

  /// `first`: what has come of the body already. `attempt` brings the rest; null where that was all.
  ResponsePipe(std::string_view first, std::unique_ptr<Attempt> attempt);
  ~ResponsePipe() override;

  /// Before the pipe is handed to the exchange.
  void attach(const std::shared_ptr<downstream::Exchange>& exchange, Done done);

  /// What has come so far and, before the first pull, whether that is all.
  const std::string& first() const { return buffer_; }
  bool whole() const { return state_ == State::Ended; }

  downstream::Pull pull(std::string& out, std::size_t max) override;

  void on_head(const http::ResponseHead& head) override;
  void on_body(std::string_view bytes) override;
  void on_end(bool framed) override;
  void on_failure(const upstream::Failure& failure) override;

 private:
  void wake();

  enum class State : std::uint8_t { Open, Ended, Broken };
  State state_ = State::Open;
  std::string buffer_;
  std::size_t sent_ = 0;  // of the buffer
  std::uint64_t total_ = 0;
  bool paused_ = false;
  bool complete_ = false;
  std::unique_ptr<Attempt> attempt_;
  std::weak_ptr<downstream::Exchange> exchange_;
  Done done_;
};

}  // namespace tidemark::proxy
