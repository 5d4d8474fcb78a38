// A reader's body: log and keepalives to bytes.
#include "native/proxy/stream_body.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::proxy {

StreamBody::StreamBody(Context& context, std::shared_ptr<Stream> stream, log::Offset from,
                       const std::shared_ptr<downstream::Exchange>& exchange, std::function<void()> left)
    : context_(context),
      stream_(std::move(stream)),
      log_(*stream_->log),
      reader_(context.log, log_, from, stream_->dialect, context.config.keepalive_ms, context.loop.now_ms()),
      exchange_(exchange),
      left_(std::move(left)),
      keepalive_(context.loop) {
  ++stream_->readers;
  ++context_.counters.readers;
  context_.log.follow(log_, *this);
}

StreamBody::~StreamBody() {
  context_.log.unfollow(log_, *this);
  --stream_->readers;
  --context_.counters.readers;
  left_();
}

downstream::Pull StreamBody::pull(std::string& out, std::size_t max) {
  const TimeMs now = context_.loop.now_ms();
  if (stream_->end && end_comment_.empty()) end_comment_ = stream_->end_comment();
  for (std::size_t left = max; left > 0;) {
    const StreamReader::Next next = reader_.next(now, end_comment_);
    switch (next.state) {
      case StreamReader::State::Bytes: {
        const std::string_view bytes = next.bytes.substr(0, left);
        out += bytes;
        left -= bytes.size();
        reader_.taken(bytes.size(), now);
        break;
      }
      case StreamReader::State::Waiting:
        watch();
        return downstream::Pull::Pending;
      case StreamReader::State::Done:
        return downstream::Pull::End;
      case StreamReader::State::Lost:
        return downstream::Pull::Abort;
    }
  }
  return downstream::Pull::More;
}

void StreamBody::log_changed() { wake(); }

// A keepalive that has moved back is noticed when the timer runs: it moves with every event.
void StreamBody::watch() {
  if (keepalive_.deadline() > reader_.deadline()) keepalive_.set(reader_.deadline(), [this] { wake(); });
}

void StreamBody::wake() {
  if (const auto exchange = exchange_.lock()) exchange->wake();
}

}  // namespace tidemark::proxy
