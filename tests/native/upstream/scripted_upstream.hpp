// An upstream that does what scripts say, and a client with its loop in the test's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "native/upstream/client.hpp"
#include "tests/native/loop/raw_socket.hpp"

namespace tidemark::upstream::testing {

using tidemark::testing::RawListener;
using tidemark::testing::RawSocket;

// Accepts connections one after the other; the n-th is served by the n-th script, each on this one thread.
class ScriptedUpstream {
 public:
  using Script = std::function<void(RawSocket&)>;

  explicit ScriptedUpstream(std::vector<Script> scripts)
      : port(listener_.port()), thread_([this, list = std::move(scripts)] {
          for (const Script& script : list) {
            RawSocket peer = listener_.accept();
            if (!peer.is_open()) return;
            script(peer);
          }
        }) {}
  ~ScriptedUpstream() {
    listener_.stop();
    thread_.join();
  }

 private:
  RawListener listener_;

 public:
  std::uint16_t port;

 private:
  std::thread thread_;
};

inline ScriptedUpstream::Script answers(std::string response, int times = 1) {
  return [=](RawSocket& peer) {
    for (int i = 0; i < times; ++i) {
      peer.receive_through("\r\n\r\n");
      peer.send(response);
    }
  };
}

// Notes what comes, and stops the loop at the end.
struct Notes : CallEvents {
  explicit Notes(loop::Loop& on) : loop(on) {}
  void on_head(const http::ResponseHead& head) override {
    text += std::to_string(head.status) + " ";
    if (at_head) at_head();
  }
  void on_body(std::string_view bytes) override {
    text += bytes;
    if (at_body) at_body();
  }
  void on_end(bool framed) override {
    text += framed ? " framed" : " unframed";
    loop.stop();
  }
  void on_failure(const Failure& failure) override {
    text += "!" + std::string(name(failure.kind));
    kind = failure.kind;
    message = failure.message;
    failed = true;
    loop.stop();
  }
  loop::Loop& loop;
  std::string text;
  std::function<void()> at_head;
  std::function<void()> at_body;
  FailureKind kind{};
  std::string message;
  bool failed = false;
};

struct World {
  explicit World(std::vector<ScriptedUpstream::Script> scripts, ClientLimits limits = {})
      : upstream(std::move(scripts)), client(loop, nullptr, limits), notes(loop) {}

  void start(const std::string& method = "GET") {
    notes.text.clear();
    call = client.send({"http", "127.0.0.1", upstream.port}, {method, "/", {}, 1, true}, {}, notes);
  }
  std::string run(const std::string& method = "GET") {
    start(method);
    loop.run();
    return notes.text;
  }

  loop::Loop loop;
  ScriptedUpstream upstream;
  Client client;
  Notes notes;
  std::unique_ptr<Call> call;
};

}  // namespace tidemark::upstream::testing
