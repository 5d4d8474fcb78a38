// A proxy with one stream under way: its client has the head, and the answer comes piece by piece as the test lets it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

namespace tidemark::test {

/// An answer of so many words, whose pieces wait for release().
inline Answer gated_answer(int words = 3) {
  Answer answer = answer_with(chat_pieces(words));
  answer.gated = true;
  return answer;
}

class RunningStream {
 public:
  /// `keys`: further keys of the configuration, as JSON members.
  explicit RunningStream(const std::string& keys = "", int words = 3, const http::Headers& headers = with_key())
      : world(keys), client(world.connect()) {
    world.upstream_answers({gated_answer(words)});
    client.request("POST", kChatPath, headers, kChatBody);
    world.release(1);
    head = client.read_head();
    CHECK(head.status == 200);
  }

  /// The next event, or the next block of another kind, to its blank line.
  std::string read_block() {
    std::string block;
    while (block.find("\n\n") == std::string::npos) block += client.read_bytes(1);
    return block;
  }
  /// What is left of the body. Does not release anything.
  Reply read_rest() {
    Reply rest;
    client.read_body(rest);
    return rest;
  }
  /// The stream's page, as somebody else with the same credential sees it.
  nlohmann::json page() {
    if (!other_) other_.emplace(world.connect());
    return stream_page(*other_, std::string(head.headers.get("tidemark-stream")));
  }
  /// Waits until the upstream has been let go.
  bool is_cancelled() {
    return world.until([this] { return world.upstream_open() == 0; });
  }

  World world;
  HttpClient client;
  Reply head;

 private:
  std::optional<HttpClient> other_;
};

}  // namespace tidemark::test
