// One client connection: requests in turn, each with its response; for the sources of this directory only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "native/downstream/exchange.hpp"
#include "native/downstream/server.hpp"
#include "native/http/h1_codec.hpp"
#include "native/http/h1_writer.hpp"
#include "native/loop/loop.hpp"
#include "native/loop/socket.hpp"

namespace tidemark::downstream {

class Connection;

/// The exchange on a connection. The connection keeps it from respond() to the response's end.
class ConnectionExchange final : public Exchange, public std::enable_shared_from_this<ConnectionExchange> {
 public:
  ConnectionExchange(Connection& connection, http::RequestHead head, std::string body);
  ~ConnectionExchange() override;

  const http::RequestHead& head() const override { return head_; }
  const std::string& body() const override { return body_; }
  std::string take_body() override { return std::move(body_); }
  std::string peer() const override;
  void respond(http::ResponseHead head, std::string body) override;
  void respond(http::ResponseHead head, std::unique_ptr<BodySource> source) override;
  void wake() override;
  std::size_t unsent() const override;
  void reset() override;
  void on_closed(std::function<void()> gone) override;
  void on_finished_sending(std::function<void()> finished) override;
  bool closed() const override { return connection_ == nullptr; }

  /// The connection has nothing to do with this any more.
  void detach() { connection_ = nullptr; }
  std::function<void()> take_gone() { return std::exchange(gone_, nullptr); }
  std::function<void()> take_finished_sending() { return std::exchange(finished_sending_, nullptr); }

 private:
  /// Whether an answer is still wanted; the request is forgotten.
  bool begin_answer();

  Connection* connection_;
  bool answered_ = false;
  http::RequestHead head_;
  std::string body_;
  std::function<void()> gone_;
  std::function<void()> finished_sending_;
};

/// What connections share.
struct Server::Impl {
  Impl(loop::Loop& the_loop, const ServerLimits& the_limits, Handler& the_handler);

  void accept(std::unique_ptr<loop::Socket> socket);
  /// Now, as a Date header says it.
  const std::string& date();

  loop::Loop& loop;
  const ServerLimits limits;
  Handler& handler;
  loop::Acceptor acceptor;
  bool draining = false;
  std::vector<std::shared_ptr<Connection>> connections;  // each knows its place
  std::size_t refused = 0;                               // of these, beyond the limit
  std::size_t exchanges = 0;
  Backlog backlog;
  std::int64_t date_second = -1;  // what date_text says
  std::string date_text;
  std::string scratch;  // where bodies are pulled to, so that a connection that waits holds no buffer
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server::Impl& server, std::unique_ptr<loop::Socket> socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Answers 503 without reading anything.
  void refuse();
  /// Cuts the connection. The exchange, if any, is told that the client is gone unless `quietly`.
  void close(bool quietly = false);

  std::size_t place = 0;  // in Server::Impl::connections

 private:
  friend class ConnectionExchange;

  enum class State : std::uint8_t {
    Reading,     // a request, or nothing yet
    Handling,    // the request is with the handler
    Responding,  // the response is being written
    Lingering,   // all is written; what still comes is thrown away, so that no reset overtakes the answer
    Closed,
  };

  void expect_head();
  void expect_body();
  void wait_for_bytes();
  void read_some();
  void take(std::string_view bytes);
  void apply(std::vector<http::RequestAction>& actions);
  void take_head(http::RequestHead& head);
  void dispatch();
  void watch_for_end();
  void ask_whether_there();
  void answer_fault(int status, std::string_view code, std::string_view message);
  void answer_fault(http::Fault fault, std::string_view why);

  bool without_body(int status) const { return to_head_ || status == 204 || status == 304; }
  void respond(http::ResponseHead head, std::string_view body);
  void respond(http::ResponseHead head, std::unique_ptr<BodySource> source);
  void write_head(http::ResponseHead& head, http::Framing framing, std::size_t length);
  void schedule_pump();
  std::size_t unsent() const { return output_.size() - written_ + socket_->unsent(); }
  void pump();
  enum class Flow : std::uint8_t { On, Stopped };
  Flow write_output();
  void block();
  void unblock();
  void watch_reader(std::size_t left, TimeMs since);
  Flow pull_and_write();
  void end_source(bool complete);
  void finish_response();
  void next_request();
  void linger();
  void forget_exchange();

  Server::Impl& server_;
  std::unique_ptr<loop::Socket> socket_;
  http::H1RequestDecoder decoder_;
  loop::Timer timer_;
  State state_ = State::Reading;
  bool refused_ = false;
  bool head_timed_ = false;  // the time for the next request's head runs

  // The request.
  http::RequestHead head_;
  std::string body_;
  std::string input_;  // of requests that came before their turn; at most one read
  bool awaits_continue_ = false;
  bool asks_ = false;  // the client has finished sending, and nothing has been written since

  // The response.
  ConnectionExchange* exchange_ = nullptr;
  std::shared_ptr<ConnectionExchange> kept_exchange_;
  std::unique_ptr<BodySource> source_;
  std::string output_;       // not yet taken by the socket
  std::size_t written_ = 0;  // of output_
  std::uint64_t length_left_ = 0;
  http::Framing framing_ = http::Framing::None;
  int minor_version_ = 1;
  bool to_head_ = false;  // the request is a HEAD
  bool keep_alive_ = true;
  bool join_head_ = false;  // output_ is a head that goes out with the body's first bytes
  bool cut_ = false;        // the body could not be completed
  bool blocked_ = false;    // waiting for the socket to take more; counted in Server::Impl::backlog
  bool pump_scheduled_ = false;
};

}  // namespace tidemark::downstream
