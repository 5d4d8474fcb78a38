// An upstream that does what a test says: pieces of a body, let out all at once or one by one, and an end.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "native/downstream/server.hpp"
#include "native/loop/loop.hpp"

namespace tidemark::test {

struct Answer {
  enum class End { Proper, Cut, Stall, ResetAtOnce };
  int status = 200;
  http::Headers headers{{"Content-Type", "text/event-stream"}};
  std::vector<std::string> pieces;
  End end = End::Proper;
  bool gated = false;  // pieces wait for release()
};

struct Asked {
  http::RequestHead head;
  std::string body;
};

/// Everything but the constructor is for the loop's thread; ScriptedUpstream's own counters too.
class ScriptedUpstream final : public downstream::Handler {
 public:
  explicit ScriptedUpstream(loop::Loop& loop) : server_(loop, {}, *this) {}

  std::string listen() { return server_.listen("127.0.0.1", 0); }
  std::uint16_t port() const { return server_.port(); }

  /// What the next requests are answered, in turn; the last one stays.
  void answer(std::vector<Answer> answers) {
    answers_ = std::move(answers);
    next_ = 0;
  }
  const std::vector<Asked>& asked() const { return asked_; }
  std::size_t open() const { return server_.exchanges(); }
  /// Lets `count` more pieces of gated answers out (and the end with the last one).
  void release(std::size_t count) {
    *released_ += count;
    for (const auto& weak : gated_) {
      if (const auto exchange = weak.lock()) exchange->wake();
    }
  }

  void handle(std::shared_ptr<downstream::Exchange> exchange) override {
    asked_.push_back({exchange->head(), exchange->body()});
    const Answer& answer = answers_.at(std::min(next_, answers_.size() - 1));
    ++next_;
    if (answer.end == Answer::End::ResetAtOnce) return exchange->reset();
    http::ResponseHead head;
    head.status = answer.status;
    head.headers = answer.headers;
    if (answer.gated) gated_.push_back(exchange);
    exchange->respond(std::move(head), std::make_unique<Body>(answer, released_));
  }

 private:
  class Body final : public downstream::BodySource {
   public:
    Body(Answer answer, std::shared_ptr<std::size_t> released)
        : answer_(std::move(answer)), released_(std::move(released)) {}

    downstream::Pull pull(std::string& out, std::size_t max) override {
      while (piece_ < answer_.pieces.size()) {
        if (answer_.gated && piece_ >= *released_) return downstream::Pull::Pending;
        const std::string& piece = answer_.pieces[piece_];
        const std::size_t count = std::min(max, piece.size() - at_);
        out.append(piece, at_, count);
        max -= count;
        at_ += count;
        if (at_ < piece.size()) return downstream::Pull::More;
        at_ = 0;
        ++piece_;
      }
      switch (answer_.end) {
        case Answer::End::Proper:
          return downstream::Pull::End;
        case Answer::End::Stall:
          return downstream::Pull::Pending;
        case Answer::End::Cut:
        case Answer::End::ResetAtOnce:
          break;
      }
      return downstream::Pull::Abort;
    }

   private:
    Answer answer_;
    std::shared_ptr<std::size_t> released_;
    std::size_t piece_ = 0;
    std::size_t at_ = 0;
  };

  std::vector<Answer> answers_{Answer{}};
  std::size_t next_ = 0;
  std::vector<Asked> asked_;
  std::shared_ptr<std::size_t> released_ = std::make_shared<std::size_t>(0);
  std::vector<std::weak_ptr<downstream::Exchange>> gated_;
  downstream::Server server_;
};

}  // namespace tidemark::test
