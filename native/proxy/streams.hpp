// The life of streams: begun, attached to, left, stopped, ended, forgotten.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/proxy/context.hpp"
#include "native/proxy/errors.hpp"
#include "native/proxy/resume.hpp"
#include "native/proxy/stream_run.hpp"
#include "native/proxy/stream_search.hpp"

namespace tidemark::proxy {

struct NewStream {
  std::string principal;
  std::string key;  // the client's name for it; empty: one is drawn
  tls::Digest request{};
  RunRequest run;
};

class Streams final : public RunOwner, public log::SharedLogEvents {
 public:
  explicit Streams(Context& context);
  ~Streams() override;

  /// Attaches to the key's stream, or starts it, as the request says: it is answered in any case.
  void admit(const std::shared_ptr<downstream::Exchange>& exchange, NewStream request, ResumePoint point);
  /// Looks for a stream by its name; `done` runs before seek() returns, but where replicas share the log.
  void seek(Seeker seeker);
  /// Another reader, from `point` on; where the stream has not committed yet, it waits like the first. What another
  /// process has left is taken over for it: by `request`, where it has made the stream's own once more. Where that
  /// takes time, `again` runs after it, to look for the stream and attach once more.
  void attach(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
              ResumePoint point, const RunRequest* request, std::function<void()> again);
  /// What the log has from before this process.
  void restore(std::vector<log::Restored> restored);
  /// The client's stop. Does nothing where the stream has ended. False where that is another replica's to do, or this
  /// one's in a moment: when_changed() tells.
  bool stop(const std::shared_ptr<Stream>& stream);
  /// Calls `changed` when the stream has ended, was taken over or is this log's no more; with false at `give_up_at`.
  void when_changed(const std::shared_ptr<Stream>& stream, TimeMs give_up_at, std::function<void(bool)> changed);
  /// Ends every running stream truthfully.
  void shut_down();

  void committed(Stream& stream) override;
  void refused(Stream& stream, const session::RelayError& error) override;
  void passes(Stream& stream, http::ResponseHead head, std::unique_ptr<ResponsePipe> pipe) override;
  void ended(Stream& stream) override;
  void gone(Stream& stream) override;

  void ended_elsewhere(log::StreamId id, const std::string& facts) override;
  void left(log::StreamId id) override;
  void moved(log::StreamId id, const std::vector<log::Term>& terms) override;
  void lost(log::StreamId id) override;
  void stop_asked(log::StreamId id) override;
  void stop_asked(const std::string& name) override;
  void wanted(log::StreamId id) override;

 private:
  std::shared_ptr<Stream> find(std::string_view principal, std::string_view id);
  void begin(const std::shared_ptr<downstream::Exchange>& exchange, NewStream request, const ResumePoint& point);
  void start(const std::shared_ptr<downstream::Exchange>& exchange, NewStream request, std::string epoch);
  void refuse(downstream::Exchange& exchange, Refusal refusal, const RunRequest& request) const;
  void wait(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
            ResumePoint point, bool attached);
  void hand_on(const std::shared_ptr<downstream::Exchange>& exchange, http::ResponseHead head,
               std::unique_ptr<ResponsePipe> pipe, const observe::Line& line);
  void deliver(const std::shared_ptr<Stream>& stream, const Waiter& waiter);
  void reader_left(const std::weak_ptr<Stream>& stream);
  void look_for_readers(const std::shared_ptr<Stream>& stream);
  void retire(Stream& stream);
  void forget_removed();
  void arm_expiry();
  void take_over(const std::shared_ptr<Stream>& stream, RunRequest request, StreamRun::Then then);
  bool may_take_over(const Stream& stream, const ResumePoint& point) const;
  void end_unless_taken(const std::shared_ptr<Stream>& stream);
  void admit_shared(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<NewStream>& request,
                    const ResumePoint& point, int tries);
  std::shared_ptr<Stream> adopt(const Seeker& seeker, log::LookUp found);
  void attach_once_taken(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
                         const ResumePoint& point, const RunRequest* request, std::function<void()> again);
  void take(const std::shared_ptr<Stream>& stream, StreamRun::Then then);
  void taken(const std::shared_ptr<Stream>& stream, std::optional<log::Term> term, StreamRun::Then then);
  bool somebody_else_may_go_on(const Stream& stream) const;
  void wait_for_somebody(const std::shared_ptr<Stream>& stream);
  void go_on_reading(Stream& stream);
  void wait_for_events(const std::shared_ptr<downstream::Exchange>& exchange, const std::shared_ptr<Stream>& stream,
                       ResumePoint point);
  void look_for_events();
  void stand_by(Stream& stream, const downstream::Exchange& exchange, const RunRequest* request);
  void lose(const std::shared_ptr<Stream>& stream);
  void tell_watchers(Stream& stream);
  void keep_fed(const Stream& stream);
  void look_again_later(const std::shared_ptr<Stream>& stream);
  void release_name(const Stream& stream);

  Context& context_;
  loop::Timer expiry_;
  StreamSearch search_;
  struct Ahead {
    std::shared_ptr<downstream::Exchange> exchange;
    std::shared_ptr<Stream> stream;
    ResumePoint point;
    TimeMs give_up_at;
  };
  std::vector<Ahead> ahead_;
  loop::Timer look_ahead_;
  loop::Timer say_read_;                                        // to those who feed what is read here
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for tasks that may come after the end
};

}  // namespace tidemark::proxy
