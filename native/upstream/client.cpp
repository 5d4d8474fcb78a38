// The client: calls and what they share.
#include "native/upstream/client.hpp"

#include <utility>

#include "native/upstream/running_call.hpp"

namespace tidemark::upstream {
namespace {

class CallHandle final : public Call {
 public:
  explicit CallHandle(std::shared_ptr<RunningCall> call) : call_(std::move(call)) {}
  ~CallHandle() override {
    if (!discarded_) call_->cancel();
  }
  void pause() override { call_->pause(); }
  void resume() override { call_->resume(); }
  void yield() override { call_->yield(); }
  void discard_rest() override {
    discarded_ = true;
    call_->discard_rest();
  }

 private:
  bool discarded_ = false;
  std::shared_ptr<RunningCall> call_;
};

}  // namespace

std::string_view name(FailureKind kind) {
  switch (kind) {
    case FailureKind::Resolve:
      return "resolve";
    case FailureKind::Connect:
      return "connect";
    case FailureKind::Tls:
      return "tls";
    case FailureKind::Reset:
      return "reset";
    case FailureKind::Protocol:
      return "protocol";
    case FailureKind::Timeout:
      return "timeout";
  }
  return {};
}

Client::Client(loop::Loop& loop, tls::ClientContext* tls, const ClientLimits& limits)
    : impl_(std::make_unique<Impl>(loop, tls, limits)) {}

Client::~Client() {
  while (!impl_->calls.empty()) (*impl_->calls.begin())->cancel();
  impl_->pool.clear();
}

std::unique_ptr<Call> Client::send(const Origin& origin, const http::RequestHead& head, std::string_view body,
                                   CallEvents& events) {
  auto call = std::make_shared<RunningCall>(*impl_, origin, head, body, events);
  impl_->loop.defer([weak = std::weak_ptr<RunningCall>(call)] {
    if (const auto waiting = weak.lock()) waiting->start();
  });
  return std::make_unique<CallHandle>(std::move(call));
}

std::size_t Client::idle_connections() const { return impl_->pool.size(); }
void Client::close_idle() { impl_->pool.clear(); }

}  // namespace tidemark::upstream
