// Handing on of an upstream's response body.
#include "native/proxy/response_pipe.hpp"

#include <algorithm>
#include <utility>

namespace tidemark::proxy {

ResponsePipe::ResponsePipe(std::string_view first, std::unique_ptr<Attempt> attempt)
    : buffer_(first), attempt_(std::move(attempt)) {
  if (attempt_) {
    attempt_->listen(*this);
  } else {
    state_ = State::Ended;
  }
}

ResponsePipe::~ResponsePipe() {
  if (done_) done_(complete_, total_);
}

void ResponsePipe::attach(const std::shared_ptr<downstream::Exchange>& exchange, Done done) {
  exchange_ = exchange;
  done_ = std::move(done);
}

downstream::Pull ResponsePipe::pull(std::string& out, std::size_t max) {
  const std::size_t count = std::min(max, buffer_.size() - sent_);
  out.append(buffer_, sent_, count);
  sent_ += count;
  total_ += count;
  if (sent_ < buffer_.size()) return downstream::Pull::More;
  buffer_.clear();
  sent_ = 0;
  switch (state_) {
    case State::Open:
      if (paused_) {
        paused_ = false;
        attempt_->call().resume();
      }
      return downstream::Pull::Pending;
    case State::Ended:
      complete_ = true;
      return downstream::Pull::End;
    case State::Broken:
      return downstream::Pull::Abort;
  }
  return downstream::Pull::Abort;
}

void ResponsePipe::on_head(const http::ResponseHead& /*head*/) {}

void ResponsePipe::on_body(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kHighWater && !paused_) {
    paused_ = true;
    attempt_->call().pause();
  }
  wake();
}

void ResponsePipe::on_end(bool /*framed*/) {
  state_ = State::Ended;
  wake();
}

void ResponsePipe::on_failure(const upstream::Failure& /*failure*/) {
  state_ = State::Broken;
  wake();
}

void ResponsePipe::wake() {
  if (const auto exchange = exchange_.lock()) exchange->wake();
}

}  // namespace tidemark::proxy
