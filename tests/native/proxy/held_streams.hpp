// What the tests of replicas have in common: a stream that is held by its upstream, and how much of it has come.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/replicas.hpp"

namespace tidemark::test {

inline const std::string kQuick =
    R"("retry":{"attempts":2,"base_ms":1,"jitter_ms":0,"max_ms":1},"breaker":{"open_seconds":0})";
inline const std::string kPrefix = R"("continuation":["prefix"])";
inline const std::string kBody = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"Why?"}]})";
inline const std::string kPage = "/tidemark/streams/" + kKey;
inline const std::string kStoppedEnd = ": tidemark end=stopped reason=client-stop\n\n";

inline Answer gated(std::vector<std::string> pieces) {
  Answer answer = answer_with(std::move(pieces));
  answer.gated = true;
  return answer;
}
inline Answer gated_words(int words) { return gated(chat_pieces(words)); }

inline http::Headers following(http::Headers more = {}) {
  more.add("Accept", "text/event-stream");
  return more;
}

/// Reads on until that much of the text is there.
inline void read_up_to(HttpClient& client, std::string& body, const std::string& text) {
  bool complete = false;
  while (body.find(text) == std::string::npos) {
    const std::string more = client.read_some(65536, complete);
    if (more.empty()) return;
    body += more;
  }
}

/// A stream whose client has its head and first event.
struct Begun {
  HttpClient client;
  Reply head;
  std::string body{};
};
inline Begun begin_at(Replicas& replicas, std::size_t one, const std::string& key = kKey) {
  Begun begun{replicas.connect(one), {}};
  begun.client.request("POST", kChatPath, with_key(key), kBody);
  replicas.release(1);
  begun.head = begun.client.read_head();
  CHECK(begun.head.status == 200);
  return begun;
}

inline std::string read_rest(Begun& begun) {
  Reply rest;
  begun.client.read_body(rest);
  CHECK(rest.complete);
  return begun.body + rest.body;
}

/// The epoch of an id that counts, as many terms later.
inline std::string later(const std::string& epoch, int terms) { return std::to_string(std::stoll(epoch) + terms); }

}  // namespace tidemark::test
