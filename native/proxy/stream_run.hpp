// The upstream leg of one stream: carries out what the relay decides, with real requests, the log and the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/session/relay.hpp"
#include "native/continuation/continuation.hpp"
#include "native/loop/loop.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/readable_body.hpp"
#include "native/proxy/response_pipe.hpp"
#include "native/proxy/run_request.hpp"
#include "native/proxy/stream.hpp"

namespace tidemark::proxy {

/// Told how a stream fares. After refused(), passes(), ended() or gone() the run is over, and may be retired, not
/// destroyed.
class RunOwner {
 public:
  virtual ~RunOwner() = default;
  /// The client's 200 may go out: the stream has its log and headers.
  virtual void committed(Stream& stream) = 0;
  virtual void refused(Stream& stream, const session::RelayError& error) = 0;
  virtual void passes(Stream& stream, http::ResponseHead head, std::unique_ptr<ResponsePipe> pipe) = 0;
  virtual void ended(Stream& stream) = 0;
  /// The log has it no more: another replica may be feeding it.
  virtual void gone(Stream& stream) = 0;
};

class StreamRun final : public upstream::CallEvents {
 public:
  StreamRun(Context& context, Stream& stream, RunRequest request, RunOwner& owner);
  ~StreamRun() override;

  void start();
  /// Goes on with what another process has left in the log: all of it is read again and told to nobody, then the leg
  /// counts as lost (contract § 5), or the stream is ended, as `then` says. Precondition: the stream has its log, and
  /// is to have nothing more than its end where that can't be read by the rules of today.
  enum class Then : std::uint8_t { GoOn, Stop, ShutDown };
  void take_over(Then then);
  /// Any of these may end the run before it returns.
  void stop();
  void abandon();
  /// Nobody may be waiting any more: a probe is handed over to the next request, all else goes on.
  void hand_over_probe();
  void shut_down();

  const std::string& method() const { return request_.head.method; }
  /// Precondition: the request may still be sent again, so nothing of the answer has gone out.
  const RunRequest& request() const { return request_; }
  /// All that became of the request, for its one line in the log.
  void describe(observe::Line& line) const;

  // Of the attempt under way.
  void on_head(const http::ResponseHead& head) override;
  void on_body(std::string_view bytes) override;
  void on_end(bool framed) override;
  void on_failure(const upstream::Failure& failure) override;

 private:
  TimeMs now() const { return context_.loop.now_ms(); }
  void carry_out();
  bool carry_out_actions();
  void send(std::optional<seam::Form> form);
  Result<continuation::ContinuedRequest, std::string_view> continued(seam::Form form, std::size_t upstream) const;
  void judge_form(const session::RelayAction& action);
  bool commit();
  void pass_through(const session::RelayAction& action);
  void tell_refusal_again();
  void tell_outcome(retry::Outcome outcome);
  void close();
  void forget_request();
  void arm_timer();
  bool read_again();
  std::string facts() const;
  void note_facts();
  void note_seams();
  void end(StreamEnd end);

  Context& context_;
  Stream& stream_;
  RunRequest request_;
  RunOwner& owner_;
  session::Relay relay_;
  std::unique_ptr<Attempt> attempt_;
  http::ResponseHead head_;                    // of the attempt
  ReadableBody readable_;                      // of the attempt
  std::vector<Destination> sent_;              // where the attempts went
  std::size_t answered_ = 0;                   // so many of them up to the last that became a part of the answer
  seam::Seq told_before_ = 0;                  // events below are in the log already: taken over, and read again
  bool taking_over_ = false;                   // they are being read again
  unsigned attempts_before_ = 0;               // of those who had the stream before
  std::size_t seams_noted_ = 0;                // of the relay's
  bool move_on_ = false;                       // the next attempt is for the next upstream
  std::optional<std::uint64_t> ticket_;        // of the attempt, until its outcome is told
  bool probe_ = false;                         // the attempt is the half-open breaker's probe
  std::optional<TimeMs> paused_for_;           // every breaker has refused the attempt that was to go out
  std::optional<std::size_t> refusing_;        // the upstream whose keys are all put aside, likewise
  std::optional<std::string_view> unaskable_;  // why the attempt that was to go out can't continue the answer
  TimeMs started_at_ = 0;
  std::optional<TimeMs> committed_at_;
  TimeMs armed_for_ = kNever;
  loop::Timer timer_;
};

}  // namespace tidemark::proxy
