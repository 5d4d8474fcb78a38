// The response body of one reader of a stream.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "native/downstream/exchange.hpp"
#include "native/loop/loop.hpp"
#include "native/proxy/context.hpp"
#include "native/proxy/stream_reader.hpp"

namespace tidemark::proxy {

/// Pulled by the reader's connection, woken by the log. Counts as a reader of the stream as long as it lives.
class StreamBody final : public downstream::BodySource, private log::Follower {
 public:
  /// `left` runs, from the destructor, when this reader has gone.
  StreamBody(Context& context, std::shared_ptr<Stream> stream, log::Offset from,
             const std::shared_ptr<downstream::Exchange>& exchange, std::function<void()> left);
  ~StreamBody() override;

  downstream::Pull pull(std::string& out, std::size_t max) override;
  void nudge() override { reader_.hurry(); }

 private:
  void log_changed() override;
  void watch();
  void wake();

  Context& context_;
  std::shared_ptr<Stream> stream_;
  log::StreamId log_;
  StreamReader reader_;
  std::string end_comment_;
  std::weak_ptr<downstream::Exchange> exchange_;
  std::function<void()> left_;
  loop::Timer keepalive_;
};

}  // namespace tidemark::proxy
