// A world for the client leg: a server that resumes (or does not), a network that fails on cue, and virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/retry/retry_after.hpp"
#include "core/session/recoverer.hpp"
#include "tests/catch.hpp"

namespace tidemark::test {

using session::LossCause;
using session::Recoverer;
using session::RecovererOptions;
using session::RecovererState;
using session::ResumeMode;

struct TakenEvent {
  dialect::Kind kind = dialect::Kind::Silence;
  dialect::Finish finish = dialect::Finish::None;
  seam::Seq seq = seam::kNothing;
  std::string name, data, block, text, reasoning;
  bool operator==(const TakenEvent&) const = default;
};

struct Connect {
  unsigned attempt = 0;
  std::optional<seam::Seq> resume_seq;
  std::string epoch, last_event_id;
  bool tail_header = false, body_fields = false;
  std::uint64_t received_length = 0, tail_fingerprint = 0;
};

struct Failure {
  std::string code, message;
  int status = 0;
  std::optional<TimeMs> retry_after_ms;
  unsigned attempts = 0;
  bool in_band = false;
};

/// Writes down everything.
class Recorder final : public session::RecovererSink {
 public:
  void connect(const session::ConnectAction& a) override {
    spoke_after_end = spoke_after_end || over();
    connects.push_back({a.attempt, a.resume_seq, std::string(a.epoch), std::string(a.last_event_id), a.tail_header,
                        a.body_fields, a.received_length, a.tail_fingerprint});
  }
  void disconnect(unsigned attempt) override { disconnects.push_back(attempt); }
  void state(RecovererState state) override { states.push_back(state); }
  void event(const session::EventAction& a) override {
    spoke_after_end = spoke_after_end || over();
    // A last line that the end of the stream cut off is as good as ended.
    std::string block(a.block);
    if (!block.ends_with('\n')) block += '\n';
    events.push_back({a.kind, a.finish, a.seq, std::string(a.name), std::string(a.data), std::move(block),
                      std::string(a.text), std::string(a.reasoning)});
  }
  void seam(const session::SeamAction& a) override { seams.push_back(a); }
  void retry(const session::RetryAction& a) override {
    spoke_after_end = spoke_after_end || over();
    retries.push_back(a);
  }
  void finished(const session::FinishedAction& a) override {
    spoke_after_end = spoke_after_end || over();
    end = a.end;
    reason = a.reason;
  }
  void failed(const session::FailedAction& a) override {
    spoke_after_end = spoke_after_end || over();
    failure = Failure{std::string(a.code), std::string(a.message), a.status, a.retry_after_ms, a.attempts, a.in_band};
  }

  bool spoke_after_end = false;
  bool over() const { return end.has_value() || failure.has_value(); }
  std::string text() const {
    std::string all;
    for (const TakenEvent& event : events) all += event.text;
    return all;
  }

  std::string data() const {
    std::string all;
    for (const TakenEvent& event : events) all += event.data;
    return all;
  }

  std::vector<Connect> connects;
  std::vector<unsigned> disconnects;
  std::vector<RecovererState> states;
  std::vector<TakenEvent> events;
  std::vector<session::SeamAction> seams;
  std::vector<session::RetryAction> retries;
  std::optional<session::RecoveredEnd> end;
  std::string reason;
  std::optional<Failure> failure;
};

/// What becomes of one attempt.
struct Fate {
  enum class Kind : std::uint8_t {
    Whole,         // the body to its end, then EOF
    Reset,         // after `after` bytes of the body a network error
    Eof,           // after `after` bytes EOF
    Stall,         // after `after` bytes nothing more
    Refused,       // a network error before the head
    Mute,          // no head at all
    Status,        // an error status
    Html,          // 200 with a page
    Hole,          // event number `after` (counted within the response) is left out; not the last
    FromTheStart,  // the resume is ignored
  };
  Kind kind = Kind::Whole;
  std::size_t after = 0;
  int status = 503;
  std::string retry_after = {};
};

/// A server with one answer, and the ways in which it can be asked to go on.
class Server {
 public:
  /// `blocks`: events as a provider frames them, without the closing blank line.
  Server(ResumeMode mode, std::vector<std::string> blocks) : mode_(mode), blocks_(std::move(blocks)) {}

  std::string epoch = "e1";
  std::string end_comment = ": tidemark end=complete reason=terminal-marker";

  ResumeMode mode() const { return mode_; }

  std::vector<std::string> response(const Connect& request, const Fate& fate) const {
    std::size_t from = 0;
    if (request.resume_seq) from = static_cast<std::size_t>(*request.resume_seq + 1);
    if (!request.last_event_id.empty())
      from = static_cast<std::size_t>(std::stoul(request.last_event_id.substr(2)) + 1);
    if (fate.kind == Fate::Kind::FromTheStart) from = 0;
    std::vector<std::string> out;
    for (std::size_t i = from; i < blocks_.size(); ++i) {
      if (fate.kind == Fate::Kind::Hole && i - from == fate.after && i + 1 < blocks_.size()) continue;
      std::string block;
      if (mode_ == ResumeMode::Tidemark) block = "id: " + epoch + "-" + std::to_string(i) + "\n";
      if (mode_ == ResumeMode::LastEventId) block = "id: n." + std::to_string(i) + "\n";
      out.push_back(block + blocks_[i] + "\n");
    }
    if (mode_ == ResumeMode::Tidemark) out.push_back(end_comment + "\n\n");
    return out;
  }

  session::ResponseFacts head(const Fate& fate) const {
    session::ResponseFacts facts;
    facts.status = 200;
    facts.content_type = "text/event-stream; charset=utf-8";
    if (fate.kind == Fate::Kind::Html) facts.content_type = "text/html";
    if (fate.kind == Fate::Kind::Status) {
      facts.status = fate.status;
      facts.content_type = "application/json";
      facts.retry_after_ms = retry::parse_retry_after(fate.retry_after, {}, 0);
    } else if (mode_ == ResumeMode::Tidemark) {
      facts.tidemark_stream = "stream-1";
      facts.tidemark_epoch = epoch;
    }
    return facts;
  }

 private:
  ResumeMode mode_;
  std::vector<std::string> blocks_;
};

/// Runs a recoverer against a server until it is over, or until nothing can happen any more.
class World {
 public:
  World(const Server& server, RecovererOptions options, std::deque<Fate> fates)
      : server_(server), fates_(std::move(fates)), recoverer(options, seen) {}

  std::size_t chunk_bytes = 1400;
  TimeMs now = 1000;

  void run() {
    play();
    CHECK_FALSE(seen.spoke_after_end);
  }

 private:
  void play() {
    recoverer.start(now);
    std::size_t done = 0;
    while (!seen.over() && seen.connects.size() < 1000) {
      if (done < seen.connects.size()) {
        attempt(seen.connects[done++]);
        continue;
      }
      const TimeMs next = recoverer.next_deadline();
      if (next == kNever) return;
      now = std::max(now, next);  // the network may have been slower
      recoverer.handle_timeout(now);
    }
  }

  void attempt(const Connect& request) {
    Fate fate;
    if (!fates_.empty()) {
      fate = fates_.front();
      fates_.pop_front();
    }
    now += 5;
    if (fate.kind == Fate::Kind::Mute) return;
    if (fate.kind == Fate::Kind::Refused)
      return recoverer.handle_failure(now, request.attempt, "TypeError: Load failed");
    recoverer.handle_response(now, request.attempt, server_.head(fate));
    if (fate.kind == Fate::Kind::Status || fate.kind == Fate::Kind::Html) return;

    std::string body;
    for (const std::string& block : server_.response(request, fate)) body += block;
    const bool cut = fate.kind == Fate::Kind::Reset || fate.kind == Fate::Kind::Eof || fate.kind == Fate::Kind::Stall;
    if (cut) body.resize(std::min(body.size(), fate.after));
    for (std::size_t at = 0; at < body.size(); at += chunk_bytes) {
      // A copy of its own, so that the sanitizer sees a view that outlives its chunk.
      const std::string chunk = body.substr(at, chunk_bytes);
      recoverer.handle_bytes(++now, request.attempt, chunk);
    }
    ++now;
    if (fate.kind == Fate::Kind::Stall) return;
    if (fate.kind == Fate::Kind::Reset) return recoverer.handle_failure(now, request.attempt, "terminated");
    recoverer.handle_end(now, request.attempt);
  }

  const Server& server_;
  std::deque<Fate> fates_;  // one an attempt; after the last, Whole

 public:
  Recorder seen;
  Recoverer recoverer;
};

/// The blocks of an answer in the seq-delta dialect.
inline std::vector<std::string> seq_delta_blocks(const std::vector<std::string>& pieces) {
  std::vector<std::string> blocks;
  for (const std::string& piece : pieces) {
    blocks.push_back("data: {\"seq\":" + std::to_string(blocks.size()) + ",\"delta\":\"" + piece + "\"}\n");
  }
  blocks.push_back("data: {\"seq\":" + std::to_string(blocks.size()) + ",\"done\":true}\n");
  return blocks;
}

/// Of an openai-chat answer: a role chunk, the pieces, a finish, [DONE].
inline std::vector<std::string> chat_blocks(const std::vector<std::string>& pieces, std::string_view id = "c1") {
  const auto chunk = [id](const std::string& delta, const std::string& finish) {
    return "data: {\"id\":\"" + std::string(id) +
           "\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
           "\"delta\":" +
           delta + ",\"finish_reason\":" + finish + "}]}\n";
  };
  std::vector<std::string> blocks{chunk(R"({"role":"assistant","content":""})", "null")};
  for (const std::string& piece : pieces) blocks.push_back(chunk("{\"content\":\"" + piece + "\"}", "null"));
  blocks.push_back(chunk("{}", "\"stop\""));
  blocks.push_back("data: [DONE]\n");
  return blocks;
}

}  // namespace tidemark::test
