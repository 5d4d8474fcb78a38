// The upstream leg of one stream: carries out what the relay decides, with real requests, the log and the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/session/relay.hpp"
#include "native/loop/loop.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/response_pipe.hpp"
#include "native/proxy/stream.hpp"

namespace tidemark::proxy {

struct RunRequest {
  http::RequestHead head;  // as the client sent it
  std::string body;        // as it goes upstream
  bool expects_stream = false;
  std::optional<dialect::Dialect> dialect;  // as the path tells; an upstream's configured dialect comes first
  TimeMs client_timeout_ms = 0;             // X-Stainless-Timeout; 0: not given
  std::string token_in;                     // the header that held a client token; empty: none
};

/// Told how a stream fares. After refused(), passes() or ended() the run is over, and may be retired, not destroyed.
class RunOwner {
 public:
  /// The client's 200 may go out: the stream has its log and headers.
  virtual void committed(Stream& stream) = 0;
  virtual void refused(Stream& stream, const session::RelayError& error) = 0;
  virtual void passes(Stream& stream, http::ResponseHead head, std::unique_ptr<ResponsePipe> pipe) = 0;
  virtual void ended(Stream& stream) = 0;

 protected:
  ~RunOwner() = default;
};

class StreamRun final : public upstream::CallEvents {
 public:
  StreamRun(Context& context, Stream& stream, RunRequest request, RunOwner& owner);
  ~StreamRun() override;

  void start();
  /// Any of these may end the run before it returns.
  void stop();
  void abandon();
  void shut_down();

  const std::string& method() const { return request_.head.method; }
  const std::string& target() const { return request_.head.target; }
  std::string_view upstream_name() const { return context_.upstreams[upstream_].name; }
  TimeMs started_at() const { return started_at_; }

  // Of the attempt under way.
  void on_head(const http::ResponseHead& head) override;
  void on_body(std::string_view bytes) override;
  void on_end(bool framed) override;
  void on_failure(const upstream::Failure& failure) override;

 private:
  TimeMs now() const { return context_.loop.now_ms(); }
  void carry_out();
  bool carry_out_actions();
  void send(unsigned attempt);
  bool commit();
  void pass_through(const session::RelayAction& action);
  void close();
  void forget_request();
  void arm_timer();

  Context& context_;
  Stream& stream_;
  RunRequest request_;
  RunOwner& owner_;
  session::Relay relay_;
  std::unique_ptr<Attempt> attempt_;
  http::ResponseHead head_;  // of the attempt
  std::size_t upstream_ = 0;
  std::optional<std::uint64_t> ticket_;  // of the attempt, until its outcome is told
  std::optional<TimeMs> paused_for_;     // the breaker has refused the attempt that was to go out
  bool unreachable_ = false;             // the last attempt could not connect
  TimeMs started_at_ = 0;
  TimeMs armed_for_ = kNever;
  loop::Timer timer_;
};

}  // namespace tidemark::proxy
