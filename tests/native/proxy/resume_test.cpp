// For every k, the first k events and what a resume above k-1 sends make exactly the uninterrupted stream.
#include <nlohmann/json.hpp>

#include "core/seam/tail_fingerprint.hpp"
#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"
#include "tests/recordings.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::string path_of(dialect::Dialect dialect) {
  switch (dialect) {
    case dialect::Dialect::OpenaiChat:
      return "/v1/chat/completions";
    case dialect::Dialect::OpenaiResponses:
      return "/v1/responses";
    case dialect::Dialect::AnthropicMessages:
      return "/v1/messages";
    case dialect::Dialect::Gemini:
      return "/v1beta/models/m:streamGenerateContent?alt=sse";
    case dialect::Dialect::SeqDelta:
    case dialect::Dialect::AiSdkUi:
    case dialect::Dialect::Opaque:
      return "/v1/other";
  }
  return "";
}

}  // namespace

TEST_CASE("every recording can be resumed above every event, out of one upstream request") {
  for (const Recording& recording : recordings()) {
    INFO(recording.file);
    World world;
    world.upstream_answers({answer_with({recording.framed()})});
    HttpClient client = world.connect();
    const std::string path = path_of(recording.dialect);
    const Reply whole = client.ask("POST", path, with_key(), kChatBody);
    REQUIRE(whole.complete);
    if (whole.status != 200) {
      // A recorded error before any content is an error for the client too.
      CHECK(recording.file.find("error") != std::string::npos);
      continue;
    }
    const auto blocks = blocks_of(whole.body);
    REQUIRE(blocks.size() > 2);
    CHECK(blocks.back().rfind(": tidemark end=", 0) == 0);
    std::size_t at = 0;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const Reply rest =
          client.ask("GET", "/tidemark/streams/" + kKey + "?after=" + std::to_string(static_cast<int>(k) - 1),
                     {{"Accept", "text/event-stream"}});
      const bool same =
          rest.status == 200 && rest.complete && whole.body.compare(at, std::string::npos, rest.body) == 0;
      if (!same) FAIL("resumed above " << k << " - 1: " << rest.status << " " << rest.body.substr(0, 200));
      at += blocks[k].size();
    }
    CHECK(world.asked().size() == 1);
  }
}

TEST_CASE("a response cut at any byte is resumed to the same bytes") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(6))});
  std::string whole;
  {
    HttpClient client = world.connect();
    whole = client.ask("POST", kChatPath, with_key(), kChatBody).body;
  }
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    std::string got;
    std::string epoch;
    {
      HttpClient client = world.connect();
      client.request("POST", kChatPath, with_key(), kChatBody);
      epoch = client.read_head().headers.get("tidemark-epoch");
      got = client.read_bytes(cut);
      REQUIRE(got == whole.substr(0, cut));
      client.reset();
    }
    // As an event source does: whole events count, the rest is thrown away.
    std::string kept;
    std::string last_id;
    for (const std::string& block : blocks_of(got)) {
      if (block.size() < 2 || block.substr(block.size() - 2) != "\n\n") break;
      kept += block;
      if (block.rfind("id: ", 0) == 0) last_id = block.substr(4, block.find('\n') - 4);
    }
    if (kept.size() == whole.size()) continue;
    HttpClient client = world.connect();
    http::Headers headers = with_key();
    if (!last_id.empty()) headers.add("Last-Event-ID", last_id);
    const Reply rest = client.ask("POST", kChatPath, headers, kChatBody);
    CHECK(rest.headers.get("tidemark-resumed") == "true");
    if (kept + rest.body != whole) FAIL("cut at byte " << cut);
  }
  CHECK(world.asked().size() == 1);
}

TEST_CASE("the ways to say where to go on") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(4))});
  HttpClient client = world.connect();
  const Reply whole = client.ask("POST", kChatPath, with_key(), kChatBody);
  const std::string epoch(whole.headers.get("tidemark-epoch"));
  const auto blocks = blocks_of(whole.body);
  const std::string above_1 = whole.body.substr(blocks[0].size() + blocks[1].size());
  const std::string text = "word0 word1 ";
  const std::string fingerprint = seam::to_hex(seam::tail_fingerprint(text));

  const auto post = [&](http::Headers headers, const std::string& body = kChatBody) {
    return client.ask("POST", kChatPath, with_key(kKey, std::move(headers)), body);
  };
  CHECK(post({{"X-Resume-Seq", "1"}}).body == above_1);
  CHECK(post({{"X-Resume-Seq", "1"}, {"Tidemark-Epoch", epoch}}).body == above_1);
  CHECK(post({{"Last-Event-ID", epoch + "-1"}}).body == above_1);
  CHECK(post({{"X-Resume-Seq", "1"}, {"X-Tail-Fingerprint", fingerprint}}).body == above_1);
  CHECK(post({{"X-Resume-Seq", "-1"}}).body == whole.body);
  CHECK(post({}).body == whole.body);
  CHECK(post({{"X-Resume-Seq", "5"}}).body == blocks.back());
  const std::string in_body =
      R"({"model":"m","stream":true,"messages":[],"resumeSeq":1,"receivedLength":12,"tailFingerprint":")" +
      fingerprint + "\"}";
  CHECK(post({}, in_body).body == above_1);
  const Reply followed =
      client.ask("GET", "/tidemark/streams/" + kKey, {{"Accept", "text/event-stream"}, {"X-Resume-Seq", "1"}});
  CHECK(followed.body == above_1);
  CHECK(followed.headers.get("tidemark-resumed") == "true");
  CHECK(world.asked().size() == 1);
}

TEST_CASE("every resume error, in the dialect's shape") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(4))});
  HttpClient client = world.connect();
  const Reply whole = client.ask("POST", kChatPath, with_key(), kChatBody);
  const std::string epoch(whole.headers.get("tidemark-epoch"));
  struct Case {
    http::Headers headers;
    int status;
    const char* code;
  };
  for (const Case& c : {
           Case{{{"X-Resume-Seq", "x"}}, 400, "resume_invalid"},
           Case{{{"X-Resume-Seq", "-2"}}, 400, "resume_invalid"},
           Case{{{"X-Resume-Seq", "1.5"}}, 400, "resume_invalid"},
           Case{{{"Last-Event-ID", "no id"}}, 400, "resume_invalid"},
           Case{{{"X-Resume-Seq", "6"}}, 409, "resume_ahead"},
           Case{{{"Last-Event-ID", epoch + "-6"}}, 409, "resume_ahead"},
           Case{{{"Last-Event-ID", "other-1"}}, 409, "resume_mismatch"},
           Case{{{"X-Resume-Seq", "1"}, {"Tidemark-Epoch", "other"}}, 409, "resume_mismatch"},
           Case{{{"X-Resume-Seq", "1"}, {"X-Tail-Fingerprint", "cbf29ce484222325"}}, 409, "resume_mismatch"},
       }) {
    for (const bool by_id : {false, true}) {
      const Reply reply = by_id ? client.ask("GET", "/tidemark/streams/" + kKey,
                                             [&] {
                                               http::Headers headers = c.headers;
                                               headers.add("Accept", "text/event-stream");
                                               return headers;
                                             }())
                                : client.ask("POST", kChatPath, with_key(kKey, c.headers), kChatBody);
      INFO(c.code << (by_id ? " by id" : ""));
      CHECK(reply.status == c.status);
      CHECK(error_code(reply) == c.code);
    }
  }
  const std::string wrong_length = R"({"model":"m","stream":true,"messages":[],"resumeSeq":1,"receivedLength":11})";
  CHECK(error_code(client.ask("POST", kChatPath, with_key(), wrong_length)) == "resume_mismatch");
  const Reply unknown =
      client.ask("POST", kChatPath, with_key("unknown-key-of-twenty-characters", {{"X-Resume-Seq", "3"}}), kChatBody);
  CHECK(unknown.status == 410);
  CHECK(error_code(unknown) == "resume_expired");
  CHECK(client.ask("POST", kChatPath, {{"X-Resume-Seq", "3"}}, kChatBody).status == 410);
  CHECK(world.asked().size() == 1);

  const Reply anthropic = client.ask("POST", "/v1/messages", with_key(kKey + "2", {{"X-Resume-Seq", "x"}}), kChatBody);
  CHECK(anthropic.status == 400);
  const auto body = nlohmann::json::parse(anthropic.body);
  CHECK(body.at("type") == "error");
  CHECK(body.at("error").at("type") == "resume_invalid");
  CHECK_FALSE(body.at("request_id").get<std::string>().empty());
}

TEST_CASE("a stream is forgotten after its time, and dropped where the log needs room") {
  World world(R"("log_limits":{"ttl_seconds":0})");
  world.upstream_answers({answer_with(chat_pieces(1))});
  HttpClient client = world.connect();
  const std::string first_epoch(client.ask("POST", kChatPath, with_key(), kChatBody).headers.get("tidemark-epoch"));
  CHECK(world.until([&] { return client.ask("GET", "/tidemark/streams/" + kKey).status == 404; }));
  CHECK(client.ask("POST", kChatPath, with_key(kKey, {{"Last-Event-ID", first_epoch + "-0"}}), kChatBody).status ==
        410);
  const Reply again = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(again.status == 200);
  CHECK(again.headers.get("tidemark-epoch") != first_epoch);

  World small(R"("log_limits":{"max_stream_bytes":4096,"max_total_bytes":20000})");
  small.upstream_answers({answer_with(chat_pieces(15))});
  HttpClient other = small.connect();
  CHECK(other.ask("POST", kChatPath, with_key(), kChatBody).status == 200);
  for (int i = 0; i < 20; ++i) {
    CHECK(other.ask("POST", kChatPath, with_key(kKey + std::to_string(i)), kChatBody).status == 200);
    const auto status = nlohmann::json::parse(other.ask("GET", "/tidemark/status").body);
    CHECK(status.at("log").at("bytes").get<int>() <= 20000);
  }
  CHECK(other.ask("POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", "0"}}), kChatBody).status == 410);
}

TEST_CASE("a stream that outgrows the log ends so, truthfully") {
  World world(R"("log_limits":{"max_stream_bytes":2048})");
  world.upstream_answers({answer_with(chat_pieces(50))});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(reply.complete);
  CHECK(reply.body.find(": tidemark end=truncated reason=log-limit\n\n") != std::string::npos);
  CHECK(client.ask("POST", kChatPath, with_key(), kChatBody).body == reply.body);
}
