// One request from its connection to its end; for the sources of this directory only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "native/http/codec.hpp"
#include "native/http/gzip.hpp"
#include "native/loop/loop.hpp"
#include "native/loop/socket.hpp"
#include "native/upstream/client.hpp"
#include "native/upstream/pool.hpp"

namespace tidemark::upstream {

class RunningCall;

/// What calls share.
struct Client::Impl {
  Impl(loop::Loop& the_loop, tls::ClientContext* the_tls, const ClientLimits& the_limits)
      : loop(the_loop), tls(the_tls), limits(the_limits), pool(loop, limits) {}

  loop::Loop& loop;
  tls::ClientContext* tls;
  const ClientLimits limits;
  Pool pool;
  std::unordered_set<RunningCall*> calls;     // not yet over
  std::vector<http::ResponseAction> actions;  // empty; has room for what a read brings
};

class RunningCall : public std::enable_shared_from_this<RunningCall> {
 public:
  RunningCall(Client::Impl& client, Origin origin, const http::RequestHead& head, std::string_view body,
              CallEvents& events);
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  void start();
  void cancel();
  void pause() { paused_ = true; }
  void resume();
  void yield();
  void discard_rest();

 private:
  bool over() const { return client_ == nullptr; }
  void connect();
  void connected(std::unique_ptr<loop::Socket> socket);
  void attach(std::unique_ptr<Connection> connection);
  void write_some();
  void wait_for_bytes();
  void read_some();
  void lost(const std::string& why);
  void apply(std::vector<http::ResponseAction>& actions);
  void take_head(http::ResponseHead& head);
  void deliver(std::string_view bytes);
  void pass_on(std::string_view bytes);
  void finish_if_done();
  void end();
  void fail(FailureKind kind, std::string message);
  /// Whoever is still to be told of the end; nullptr where nobody listens.
  CallEvents* finished();

  Client::Impl* client_;  // nullptr: over
  loop::Loop& loop_;
  Origin origin_;
  CallEvents* events_;  // nullptr: the rest is thrown away
  std::string method_;
  bool decode_gzip_;  // whatever the response is

  std::string request_;  // until it is sent and can't be asked for again
  std::size_t sent_ = 0;
  bool request_sent_ = false;
  bool write_failed_ = false;

  loop::Timer timer_;  // until the connection is there, or for the end of what is thrown away
  std::unique_ptr<loop::Connecting> connecting_;
  std::unique_ptr<Connection> connection_;
  bool answered_ = false;  // a byte of the response has come
  bool excess_ = false;    // bytes came after the response's end

  bool paused_ = false;
  std::string held_;        // of the body, undecoded, since the call was paused
  bool inflating_ = false;  // the decoder has more output without input
  std::size_t discarded_ = 0;
  std::optional<http::ResponseAction> ending_;
  std::unique_ptr<http::GzipDecoder> gzip_;
  bool gzip_begun_ = false;
};

}  // namespace tidemark::upstream
