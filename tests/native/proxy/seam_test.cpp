// Answers that an upstream drops are continued, through real sockets (contract § 5).
#include <nlohmann/json.hpp>

#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/world.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

const std::string kQuick =
    R"("retry":{"attempts":2,"base_ms":1,"jitter_ms":0,"max_ms":1},"breaker":{"open_seconds":0})";
const std::string kBoth = R"("continuation":["prefix","continue-turn"])";
const std::string kBody = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"Why?"}]})";
const std::string kBeginning = "Twice a day the sea withdraws, and twice";

Answer cut(std::vector<std::string> pieces) {
  Answer answer = answer_with(std::move(pieces));
  answer.end = Answer::End::Cut;
  return answer;
}
Answer refusal(const std::string& message) {
  Answer answer = answer_with({R"({"error":{"message":")" + message + R"(","type":"invalid_request_error"}})"});
  answer.status = 400;
  answer.headers = {{"Content-Type", "application/json"}};
  return answer;
}

nlohmann::json body_of(const Asked& asked) { return nlohmann::json::parse(asked.body); }

}  // namespace

TEST_CASE("a cut answer is continued by the text so far, and its page and log line tell the seam") {
  World world(kQuick, kBoth);
  world.upstream_answers({cut({chat_event(kBeginning)}), answer_with({chat_event("withdraws, and twice a day"),
                                                                      chat_event(" it returns."), chat_finish()})});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kBody);
  CHECK(reply.status == 200);
  CHECK(text_of(reply.body) == "Twice a day the sea withdraws, and twice a day it returns.");
  CHECK(ends_with(reply.body, kCompleteEnd));

  const auto asked = world.asked();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].head.headers.has("idempotency-key"));
  CHECK_FALSE(asked[1].head.headers.has("idempotency-key"));
  const auto expected =
      nlohmann::json{{{"role", "user"}, {"content", "Why?"}}, {{"role", "assistant"}, {"content", kBeginning}}};
  CHECK(body_of(asked[1]).at("messages") == expected);

  const auto page = stream_page(client);
  CHECK(page.at("state") == "complete");
  CHECK(page.at("attempts") == 2);
  CHECK(page.at("seams") == 1);
  const auto seam =
      nlohmann::json{{"attempt", 2}, {"form", "prefix"}, {"at", 1}, {"trimmed", 20}, {"verdict", "joined"}};
  CHECK(page.at("seam_list") == nlohmann::json::array({seam}));
  CHECK(client.ask("GET", "/tidemark/metrics")
            .body.find("tidemark_seams_total{form=\"prefix\",verdict=\"joined\"} 1\n") != std::string::npos);
  CHECK(world.log_lines().find("\"seams\":\"prefix joined trimmed 20\"") != std::string::npos);
}

TEST_CASE("every resume across a seam gives the same events") {
  World world(kQuick, kBoth);
  world.upstream_answers({cut({chat_event("One"), chat_event(" two")}),
                          answer_with({chat_event(" three"), chat_event(" four"), chat_finish()})});
  HttpClient client = world.connect();
  const Reply whole = client.ask("POST", kChatPath, with_key(), kBody);
  const auto blocks = blocks_of(whole.body);
  REQUIRE(blocks.size() == 7);  // four words, a finish, [DONE], the end comment
  std::string rest = whole.body;
  for (std::size_t k = 0; k + 1 < blocks.size(); ++k) {
    const Reply resumed = client.ask(
        "POST", kChatPath, with_key(kKey, {{"X-Resume-Seq", std::to_string(static_cast<int>(k) - 1)}}), kBody);
    CHECK(resumed.body == rest);
    rest.erase(0, blocks[k].size());
  }
  CHECK(world.asked().size() == 2);
}

TEST_CASE("a model that refuses a prefix is not asked for one again") {
  World world(kQuick, kBoth);
  world.upstream_answers(
      {cut({chat_event(kBeginning)}),
       refusal("This model does not support assistant message prefill. The conversation must end with a user message."),
       answer_with({chat_event(" a day it returns."), chat_finish()})});
  HttpClient client = world.connect();
  const Reply first = client.ask("POST", kChatPath, with_key("one-key-of-more-than-twenty-characters"), kBody);
  CHECK(text_of(first.body) == kBeginning + " a day it returns.");
  auto asked = world.asked();
  REQUIRE(asked.size() == 3);
  CHECK(body_of(asked[1]).at("messages").back().at("role") == "assistant");
  CHECK(body_of(asked[2]).at("messages").back().at("role") == "user");
  const std::string quoted = body_of(asked[2]).at("messages").back().at("content");
  CHECK(quoted.find("and twice") != std::string::npos);

  world.upstream_answers(
      {cut({chat_event(kBeginning)}), answer_with({chat_event(" a day it returns."), chat_finish()})});
  const Reply second = client.ask("POST", kChatPath, with_key(), kBody);
  CHECK(text_of(second.body) == kBeginning + " a day it returns.");
  asked = world.asked();
  REQUIRE(asked.size() == 5);
  CHECK(body_of(asked[4]).at("messages").back().at("role") == "user");
  const auto page = stream_page(client);
  CHECK(page.at("attempts") == 2);
  CHECK(page.at("seam_list")[0].at("verdict") == "refused-before");
}

TEST_CASE("requests whose answers are never continued are ended truthfully, with one request") {
  const auto [name, member] = GENERATE(table<std::string, std::string>({
      {"several choices", R"("n":2)"},
      {"a JSON object", R"("response_format":{"type":"json_object"})"},
      {"a schema", R"("response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}})"},
  }));
  CAPTURE(name);
  World world(kQuick, kBoth);
  world.upstream_answers({cut({chat_event(kBeginning)})});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kBody.substr(0, kBody.size() - 1) + "," + member + "}");
  CHECK(world.asked().size() == 1);
  CHECK(text_of(reply.body) == kBeginning);
  CHECK(ends_with(reply.body, ": tidemark end=truncated reason=synthesized-stop\n\n"));
  const auto page = stream_page(client);
  CHECK(page.at("attempts") == 1);
  CHECK(page.at("seams") == 0);
}

TEST_CASE("a continuation that starts the answer again is refused") {
  World world(kQuick, kBoth);
  std::vector<std::string> again;
  for (const char* word :
       {"Twice", " a", " day", " the", " sea", " withdraws", ", and", " twice", " a day", " it", " returns."}) {
    again.push_back(chat_event(word));
  }
  again.push_back(chat_finish());
  world.upstream_answers({cut({chat_event(kBeginning)}), answer_with(again)});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kBody);
  CHECK(text_of(reply.body) == kBeginning);
  CHECK(ends_with(reply.body, ": tidemark end=truncated reason=seam-refused\n\n"));
  CHECK(stream_page(client).at("seam_list")[0].at("verdict") == "restart");
}

TEST_CASE("stop cuts an attempt that is to continue the answer") {
  World world(kQuick, kBoth);
  Answer waiting = answer_with({chat_event(" never"), chat_finish()});
  waiting.gated = true;
  world.upstream_answers({cut({chat_event(kBeginning)}), waiting});
  HttpClient client = world.connect();
  client.request("POST", kChatPath, with_key(), kBody);
  REQUIRE(world.until([&] { return world.asked().size() == 2; }));
  HttpClient other = world.connect();
  CHECK(other.ask("DELETE", "/tidemark/streams/" + kKey).status == 200);
  CHECK(world.until([&] { return world.upstream_open() == 0; }));
  const Reply reply = client.read_reply();
  CHECK(text_of(reply.body) == kBeginning);
  CHECK(ends_with(reply.body, ": tidemark end=stopped reason=client-stop\n\n"));
}

TEST_CASE("an upstream of another dialect is not asked to go on") {
  World world(kQuick, "",
              R"({"name":"a","base_url":"http://127.0.0.1:PORT/a",)" + kBoth +
                  R"(},)"
                  R"({"name":"b","base_url":"http://127.0.0.1:PORT/b","dialect":"anthropic-messages",)" +
                  kBoth + "}");
  Answer busy = refusal("busy");
  busy.status = 503;
  world.upstream_answers({cut({chat_event(kBeginning)}), busy});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kBody);
  CHECK(text_of(reply.body) == kBeginning);
  CHECK(ends_with(reply.body, ": tidemark end=truncated reason=synthesized-stop\n\n"));
  for (const Asked& asked : world.asked()) CHECK(asked.head.target.substr(0, 3) == "/a/");
}

TEST_CASE("a continuation goes out with a key that is left") {
  World world(kQuick, kBoth + R"(,"api_keys":["first","second"])");
  Answer unauthorized = refusal("no such key");
  unauthorized.status = 401;
  world.upstream_answers(
      {cut({chat_event(kBeginning)}), unauthorized, answer_with({chat_event(" a day it returns."), chat_finish()})});
  HttpClient client = world.connect();
  const Reply reply = client.ask("POST", kChatPath, with_key(), kBody);
  CHECK(text_of(reply.body) == kBeginning + " a day it returns.");
  const auto asked = world.asked();
  REQUIRE(asked.size() == 3);
  CHECK(asked[1].head.headers.get("authorization") != asked[2].head.headers.get("authorization"));
}
