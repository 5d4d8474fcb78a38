// A client connection: writing responses at the pace of their reader.
#include <algorithm>
#include <utility>

#include "native/downstream/connection.hpp"

namespace tidemark::downstream {
namespace {

// Asked of a source at once; with its framing the most that a connection holds for a reader that stalls.
constexpr std::size_t kPull = std::size_t{16} * 1024;
// Pulls in one turn, before others have theirs.
constexpr int kPulls = 8;

bool parse_length(std::string_view text, std::uint64_t& length) {
  length = 0;
  if (text.empty() || text.size() > 18) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return true;
}

}  // namespace

void Connection::respond(http::ResponseHead head, std::string_view body) {
  keep_alive_ = keep_alive_ && !server_.draining;
  if (head.status == 204) head.headers.remove("content-length");
  const bool bodyless = without_body(head.status);
  write_head(head, bodyless ? http::Framing::None : http::Framing::Length, body.size());
  if (!bodyless) output_ += body;
  state_ = State::Responding;
  schedule_pump();
}

void Connection::respond(http::ResponseHead head, std::unique_ptr<BodySource> source) {
  keep_alive_ = keep_alive_ && !server_.draining;
  if (head.status == 204) head.headers.remove("content-length");
  const std::string* length = head.headers.find("content-length");
  if (without_body(head.status)) {
    framing_ = http::Framing::None;
  } else if (length != nullptr && parse_length(*length, length_left_)) {
    framing_ = http::Framing::Length;
  } else if (minor_version_ > 0) {
    framing_ = http::Framing::Chunked;
  } else {
    framing_ = http::Framing::UntilEnd;
    keep_alive_ = false;
  }
  write_head(head, framing_, static_cast<std::size_t>(length_left_));
  state_ = State::Responding;
  source_ = std::move(source);
  join_head_ = true;
  if (framing_ == http::Framing::None) end_source(true);
  schedule_pump();
}

// RFC 9110 § 6.6.1: a Date of one's own, and one for what came without.
void Connection::write_head(http::ResponseHead& head, http::Framing framing, std::size_t length) {
  if (!head.headers.has("date")) head.headers.add("Date", server_.date());
  http::write_head(head, framing, length, keep_alive_, minor_version_, output_);
}

void Connection::schedule_pump() {
  if (state_ != State::Responding || blocked_ || pump_scheduled_) return;
  pump_scheduled_ = true;
  server_.loop.defer([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->pump_scheduled_ = false;
    if (self->state_ == State::Responding && !self->blocked_) self->pump();
  });
}

void Connection::pump() {
  for (int pulls = 0; pulls < kPulls; ++pulls) {
    const bool joined = join_head_ && source_ != nullptr;
    if (!joined && write_output() == Flow::Stopped) return;
    if (source_ == nullptr) return finish_response();
    if (pull_and_write() == Flow::Stopped) return;
  }
  // The others of this turn come first: not deferred, which would be the same turn.
  server_.loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->schedule_pump();
  });
}

Connection::Flow Connection::write_output() {
  while (written_ < output_.size()) {
    const loop::IoResult result = socket_->write(std::string_view(output_).substr(written_));
    if (result.status == loop::IoStatus::WouldBlock) {
      block();
      return Flow::Stopped;
    }
    if (result.status != loop::IoStatus::Done) {
      close();
      return Flow::Stopped;
    }
    written_ += result.bytes;
    asks_ = false;
  }
  written_ = 0;
  std::string().swap(output_);  // a stream that waits holds no buffer
  return Flow::On;
}

void Connection::block() {
  blocked_ = true;
  ++server_.backlog.clients;
  server_.backlog.bytes += output_.capacity();
  watch_reader(socket_->unacknowledged(), server_.loop.now_ms());
  socket_->wait_writable([this] {
    unblock();
    timer_.cancel();
    pump();
  });
}

void Connection::unblock() {
  blocked_ = false;
  --server_.backlog.clients;
  server_.backlog.bytes -= output_.capacity();
}

// `left` of what was written was not yet taken at the time `since`. A reader may be slow as long as it takes something:
// its socket becomes writable only when much has been taken, so what the peer acknowledges is looked at instead.
void Connection::watch_reader(std::size_t left, TimeMs since) {
  const TimeMs bound = server_.limits.reader_stall_ms;
  if (bound == 0) return;
  const TimeMs look = server_.loop.now_ms() + std::max<TimeMs>(bound / 8, 1);
  timer_.set(std::min(since + bound, look), [this, left, since, bound] {
    const TimeMs now = server_.loop.now_ms();
    const std::size_t still_left = socket_->unacknowledged();
    if (still_left < left) return watch_reader(still_left, now);
    if (now < since + bound) return watch_reader(left, since);
    // An orderly end would wait behind the bytes that nobody takes.
    socket_->reset();
    close();
  });
}

Connection::Flow Connection::pull_and_write() {
  std::string& scratch = server_.scratch;
  scratch = output_;
  std::string().swap(output_);
  join_head_ = false;
  const bool chunked = framing_ == http::Framing::Chunked;
  const std::size_t front = scratch.size();
  if (chunked) scratch.append(http::kChunkSizeRoom, '\0');
  const std::size_t start = scratch.size();
  Pull pulled = source_->pull(scratch, kPull);
  const std::size_t size = scratch.size() - start;
  if (pulled == Pull::More && size == 0) pulled = Pull::Pending;
  if (chunked) {
    if (size == 0) {
      scratch.resize(front);
    } else {
      scratch += "\r\n";
      scratch.erase(front, http::write_chunk_size(size, scratch.data() + front));
    }
  }
  if (framing_ == http::Framing::Length) {
    if (size > length_left_) {
      scratch.resize(start + static_cast<std::size_t>(length_left_));
      pulled = Pull::Abort;
    }
    length_left_ -= std::min<std::uint64_t>(size, length_left_);
    if (pulled == Pull::End && length_left_ > 0) pulled = Pull::Abort;
  }
  if (pulled == Pull::End && chunked) scratch += http::kLastChunk;
  if (pulled == Pull::End || pulled == Pull::Abort) end_source(pulled == Pull::End);

  std::size_t sent = 0;
  while (sent < scratch.size()) {
    const loop::IoResult result = socket_->write(std::string_view(scratch).substr(sent));
    if (result.status == loop::IoStatus::WouldBlock) {
      output_.assign(scratch, sent);
      return write_output();  // waits
    }
    if (result.status != loop::IoStatus::Done) {
      close();
      return Flow::Stopped;
    }
    sent += result.bytes;
    asks_ = false;
  }
  return pulled == Pull::Pending ? Flow::Stopped : Flow::On;
}

void Connection::end_source(bool complete) {
  cut_ = !complete;
  server_.loop.retire(std::shared_ptr<BodySource>(std::move(source_)));
}

void Connection::finish_response() {
  join_head_ = false;
  if (cut_) {
    // Only where the connection's end is the body's end must the cut be a reset; else the missing rest shows it.
    if (framing_ == http::Framing::UntilEnd) return close(true);
    keep_alive_ = false;
  }
  forget_exchange();
  if (!keep_alive_ || server_.draining) return linger();
  next_request();
}

}  // namespace tidemark::downstream
