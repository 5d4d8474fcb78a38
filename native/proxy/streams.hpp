// The life of streams: begun, attached to, left, stopped, ended, forgotten.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "native/proxy/context.hpp"
#include "native/proxy/resume.hpp"
#include "native/proxy/stream_run.hpp"

namespace tidemark::proxy {

struct NewStream {
  std::string principal;
  std::string key;  // the client's name for it; empty: one is drawn
  tls::Digest request{};
  RunRequest run;
};

class Streams final : public RunOwner {
 public:
  explicit Streams(Context& context);

  /// Null where this principal has no stream of this name, or has none any more.
  std::shared_ptr<Stream> find(std::string_view principal, std::string_view id);
  /// Precondition: the key is free.
  void start(const std::shared_ptr<downstream::Exchange>& exchange, NewStream request);
  /// Another reader, from `point` on; where the stream has not committed yet, it waits like the first. What another
  /// process has left is taken over for it: by `request`, where it has made the stream's own once more.
  void attach(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
              ResumePoint point, RunRequest* request = nullptr);
  /// What the log has from before this process.
  void restore(std::vector<log::Restored> restored);
  /// The client's stop. Does nothing where the stream has ended.
  void stop(const std::shared_ptr<Stream>& stream);
  /// Ends every running stream truthfully.
  void shut_down();

  void committed(Stream& stream) override;
  void refused(Stream& stream, const session::RelayError& error) override;
  void passes(Stream& stream, http::ResponseHead head, std::unique_ptr<ResponsePipe> pipe) override;
  void ended(Stream& stream) override;

 private:
  void wait(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
            ResumePoint point, bool attached);
  void hand_on(const std::shared_ptr<downstream::Exchange>& exchange, http::ResponseHead head,
               std::unique_ptr<ResponsePipe> pipe, const observe::Line& line);
  void ask_again(const Waiter& waiter, const NewStream& request);
  void deliver(const std::shared_ptr<Stream>& stream, const Waiter& waiter);
  void reader_left(const std::weak_ptr<Stream>& stream);
  void look_for_readers(const std::shared_ptr<Stream>& stream);
  void retire(Stream& stream);
  void forget_removed();
  void arm_expiry();
  void take_over(const std::shared_ptr<Stream>& stream, RunRequest request, StreamRun::Then then);
  bool may_take_over(const Stream& stream, const ResumePoint& point) const;
  void end_unless_taken(const std::shared_ptr<Stream>& stream);

  Context& context_;
  loop::Timer expiry_;
};

}  // namespace tidemark::proxy
