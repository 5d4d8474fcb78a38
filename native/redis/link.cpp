// Connections to Redis: one at a time, and the next when it is lost.
#include "native/redis/link.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "native/loop/socket.hpp"
#include "native/redis/greeting.hpp"
#include "native/redis/reply_reader.hpp"
#include "native/tls/transport.hpp"

namespace tidemark::redis {
namespace {

// What has been written is kept in front of what has not, up to this.
constexpr std::size_t kSentBytes = std::size_t{64} << 10;

void append_number(std::string& out, char kind, std::size_t number) {
  out += kind;
  out += std::to_string(number);
  out += "\r\n";
}

template <class Words>
void append_command(std::string& out, const Words& words) {
  append_number(out, '*', words.size());
  for (const std::string_view word : words) {
    append_number(out, '$', word.size());
    out += word;
    out += "\r\n";
  }
}

// One connection, from the handshake on.
struct Connection {
  explicit Connection(std::size_t max_reply_bytes) : replies(max_reply_bytes) {}

  std::size_t unsent() const { return out.size() - sent; }

  std::unique_ptr<tls::Transport> transport;
  ReplyReader replies;
  std::string out;
  std::size_t sent = 0;
  bool waits_to_write = false;
  bool write_failed = false;
};

}  // namespace

std::string Endpoint::text() const {
  const std::string shown_host = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  return (tls ? "rediss://" : "redis://") + shown_host + ":" + std::to_string(port) + "/" + std::to_string(database);
}

struct Link::Impl : std::enable_shared_from_this<Link::Impl> {
  Impl(loop::Loop& runs, tls::ClientContext* trusted, Endpoint where, LinkOptions chosen, Events told)
      : loop(runs),
        tls(trusted),
        endpoint(std::move(where)),
        options(std::move(chosen)),
        events(std::move(told)),
        timer(runs),
        retry_ms(options.retry_first_ms) {}

  bool alive(const std::shared_ptr<Connection>& one) const { return one != nullptr && connection == one; }
  /// `call` for as long as the connection is this one: it may be let go in the turn in which it would be called.
  template <class Call>
  auto with_this_connection(Call call) {
    return [weak = weak_from_this(), of = std::weak_ptr<Connection>(connection), call](const auto&... given) {
      const auto self = weak.lock();
      if (self && self->alive(of.lock())) call(given...);
    };
  }

  void connect();
  void connected(std::unique_ptr<loop::Socket> socket);
  void greet();
  void send(const Command& command, Done done);
  void queue(Done done);
  bool write_some();
  void wait_for_bytes();
  bool read_some();
  void take_replies();
  void watch_replies();
  void no_reply_yet();
  void lose_later(const std::string& why);
  void lost(const std::string& why);
  void let_go(bool orderly);
  void close_after_sending(TimeMs at_most_ms);
  void close();

  loop::Loop& loop;
  tls::ClientContext* tls;
  const Endpoint endpoint;
  const LinkOptions options;
  Events events;

  loop::Timer timer;  // until the link is up, for a reply, or for the next try
  std::unique_ptr<loop::Connecting> connecting;
  std::shared_ptr<Connection> connection;
  std::optional<Greeting> greeting;  // until it is done
  std::deque<Done> waiting;          // the greeting's too
  bool up = false;
  bool closed = false;
  bool told_down = false;
  bool flush_deferred = false;
  bool dropping = false;   // no reply counts any more
  TimeMs quiet_since = 0;  // where something waits: since it was sent, or since the last bytes came
  TimeMs retry_ms;
};

void Link::Impl::connect() {
  timer.set(later(loop.now_ms(), options.connect_timeout_ms), [this] {
    const auto self = shared_from_this();
    lost("not connected within " + std::to_string(options.connect_timeout_ms) + " ms");
  });
  connecting = std::make_unique<loop::Connecting>(
      loop, endpoint.host, endpoint.port,
      [weak = weak_from_this()](std::unique_ptr<loop::Socket> socket, bool resolved, const std::string& error) {
        const auto self = weak.lock();
        if (!self || !self->connecting) return;
        if (socket) return self->connected(std::move(socket));
        self->lost((resolved ? "could not be reached: " : "the name was not found: ") + error);
      });
}

void Link::Impl::connected(std::unique_ptr<loop::Socket> socket) {
  loop.retire(std::shared_ptr<loop::Connecting>(std::move(connecting)));
  auto made = std::make_shared<Connection>(options.max_reply_bytes);
  if (endpoint.tls) {
    if (tls == nullptr) return lost("no TLS: there is no context for it");
    made->transport = tls->connect(std::move(socket), endpoint.host);
  } else {
    made->transport = tls::plain_transport(std::move(socket));
  }
  connection = std::move(made);
  connection->transport->handshake(with_this_connection([this](const std::string& error) {
    if (!error.empty()) return lost("no TLS: " + error);
    greet();
  }));
}

void Link::Impl::greet() {
  greeting.emplace(endpoint, options.client_name);
  for (const std::vector<std::string>& command : greeting->commands()) {
    append_command(connection->out, command);
    waiting.push_back([this](const Reply* reply) {
      if (reply == nullptr) return;
      const std::string error = greeting->take(*reply);
      if (!error.empty()) return lost(error);
      if (!greeting->done()) return;
      const ServerFacts facts = greeting->facts();
      greeting.reset();
      timer.cancel();
      retry_ms = options.retry_first_ms;
      told_down = false;
      up = true;
      if (events.up) events.up(facts);
    });
  }
  wait_for_bytes();
  write_some();
}

void Link::Impl::send(const Command& command, Done done) {
  append_command(connection->out, command);
  queue(std::move(done));
  if (!flush_deferred) {
    flush_deferred = true;
    loop.defer([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->flush_deferred = false;
      self->write_some();
    });
  }
  if (connection->unsent() <= options.max_unsent_bytes) return;
  write_some();
  if (connection->unsent() > options.max_unsent_bytes) {
    lose_later("more than " + std::to_string(options.max_unsent_bytes) + " bytes that the server does not take");
  }
}

void Link::Impl::queue(Done done) {
  if (waiting.empty()) quiet_since = loop.now_ms();
  waiting.push_back(std::move(done));
  watch_replies();
}

// Tells nobody anything: it is called from inside of send().
bool Link::Impl::write_some() {
  if (!connection) return false;
  Connection& to = *connection;
  while (to.unsent() > 0 && !to.waits_to_write && !to.write_failed) {
    const loop::IoResult result = to.transport->write(std::string_view(to.out).substr(to.sent));
    switch (result.status) {
      case loop::IoStatus::Done:
        to.sent += result.bytes;
        break;
      case loop::IoStatus::WouldBlock:
        to.waits_to_write = true;
        to.transport->wait_writable(with_this_connection([this] {
          connection->waits_to_write = false;
          write_some();
        }));
        break;
      case loop::IoStatus::Eof:
      case loop::IoStatus::Failed:
        to.write_failed = true;
        // What the server said before comes first.
        loop.post(with_this_connection([this, why = "the connection was lost: " + result.error] {
          const auto from = connection;
          while (alive(from) && read_some()) {
          }
          if (alive(from)) lost(why);
        }));
        return false;
    }
  }
  const bool all = to.unsent() == 0;
  if (all && to.out.capacity() > kSentBytes) {
    std::string().swap(to.out);
    to.sent = 0;
  } else if (all) {
    to.out.clear();
    to.sent = 0;
  } else if (to.sent > kSentBytes && to.sent > to.unsent()) {
    to.out.erase(0, std::exchange(to.sent, 0));
  }
  return all;
}

void Link::Impl::wait_for_bytes() {
  connection->transport->wait_readable(with_this_connection([this] {
    const auto from = connection;
    read_some();
    if (alive(from)) wait_for_bytes();
  }));
}

// Whether bytes came.
bool Link::Impl::read_some() {
  const loop::IoResult result = connection->transport->read(loop.read_buffer(), loop::Loop::kReadBuffer);
  switch (result.status) {
    case loop::IoStatus::WouldBlock:
      return false;
    case loop::IoStatus::Eof:
      lost("the server closed the connection");
      return false;
    case loop::IoStatus::Failed:
      lost("the connection was lost: " + result.error);
      return false;
    case loop::IoStatus::Done:
      break;
  }
  quiet_since = loop.now_ms();
  connection->replies.feed({loop.read_buffer(), result.bytes});
  take_replies();
  return true;
}

void Link::Impl::take_replies() {
  const auto from = connection;
  while (alive(from) && !dropping) {
    Reply reply;
    switch (from->replies.next(reply)) {
      case ReplyReader::Got::Nothing:
        return;
      case ReplyReader::Got::Failed:
        return lost(from->replies.error());
      case ReplyReader::Got::Reply:
        break;
    }
    if (waiting.empty()) return lost("a reply that nothing was sent for");
    const Done done = std::move(waiting.front());
    waiting.pop_front();
    if (done) done(&reply);
  }
}

void Link::Impl::watch_replies() {
  if (options.reply_timeout_ms == 0 || timer.armed()) return;
  timer.set(later(quiet_since, options.reply_timeout_ms), [this] { no_reply_yet(); });
}

// It may be this process that was held up: what has come counts before the clock does.
void Link::Impl::no_reply_yet() {
  const auto self = shared_from_this();
  if (waiting.empty()) return;
  const auto from = connection;
  if (loop.now_ms() >= later(quiet_since, options.reply_timeout_ms) && !read_some() && alive(from)) {
    lost("no reply for " + std::to_string(options.reply_timeout_ms) + " ms");
  }
  if (alive(from) && !waiting.empty()) watch_replies();
}

void Link::Impl::lose_later(const std::string& why) {
  if (dropping || !connection) return;
  dropping = true;
  loop.post(with_this_connection([this, why] { lost(why); }));
}

void Link::Impl::lost(const std::string& why) {
  up = false;
  let_go(false);
  timer.set(later(loop.now_ms(), retry_ms), [this] {
    const auto self = shared_from_this();
    connect();
  });
  retry_ms = std::min(retry_ms * 2, options.retry_most_ms);

  const auto unanswered = std::exchange(waiting, {});
  for (const Done& done : unanswered) {
    if (done && !closed) done(nullptr);
  }
  if (closed || std::exchange(told_down, true)) return;
  if (events.down) events.down(why);
}

void Link::Impl::let_go(bool orderly) {
  dropping = false;
  timer.cancel();
  greeting.reset();
  // This may be running inside a callback of any of them.
  if (connecting) loop.retire(std::shared_ptr<loop::Connecting>(std::move(connecting)));
  if (!connection) return;
  if (orderly) {
    connection->transport->close();
  } else {
    connection->transport->reset();
  }
  loop.retire(std::exchange(connection, nullptr));
}

void Link::Impl::close_after_sending(TimeMs at_most_ms) {
  if (!up) return close();
  const TimeMs end = later(loop.now_ms(), at_most_ms);
  // Nobody is told any more. The replies are read all the same: a socket that is closed with unread bytes throws away
  // what it has not sent.
  for (Done& done : waiting) done = nullptr;
  closed = true;
  const auto to = connection;
  for (;;) {
    to->waits_to_write = false;
    write_some();
    while (alive(to) && read_some()) {
    }
    const bool over = !alive(to) || dropping || (to->unsent() == 0 && waiting.empty());
    if (over || loop.now_ms() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  close();
}

void Link::Impl::close() {
  closed = true;
  up = false;
  let_go(true);
  waiting.clear();
}

Link::Link(loop::Loop& loop, tls::ClientContext* tls, Endpoint endpoint, LinkOptions options, Events events)
    : impl_(std::make_shared<Impl>(loop, tls, std::move(endpoint), std::move(options), std::move(events))) {
  impl_->connect();
}

Link::~Link() { impl_->close(); }

bool Link::is_up() const { return impl_->up; }
void Link::send(const Command& command, Done done) { impl_->send(command, std::move(done)); }
bool Link::flush() { return impl_->up && impl_->write_some(); }
std::size_t Link::waiting() const { return impl_->up ? impl_->waiting.size() : 0; }
void Link::drop(const std::string& why) { impl_->lose_later(why); }
void Link::close_after_sending(TimeMs at_most_ms) { impl_->close_after_sending(at_most_ms); }

}  // namespace tidemark::redis
