// Several requests for one stream: keys, owners, many readers, stopping.
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/random.hpp"
#include "tests/native/proxy/running_stream.hpp"

using namespace tidemark;
using namespace tidemark::test;

namespace {

http::Headers without_date(http::Headers headers) {
  CHECK(headers.count("date") == 1);
  headers.remove("date");
  return headers;
}

}  // namespace

TEST_CASE("the same request under a key attaches, also before the first byte; another one is refused") {
  World world;
  world.upstream_answers({gated_answer(3)});
  HttpClient first = world.connect();
  first.request("POST", kChatPath, with_key(), kChatBody);
  CHECK(world.until([&] { return world.asked().size() == 1; }));
  HttpClient second = world.connect();
  second.request("POST", kChatPath, with_key(), kChatBody);
  HttpClient other = world.connect();
  const Reply reused = other.ask("POST", kChatPath, with_key(), R"({"stream":true})");
  CHECK(reused.status == 422);
  CHECK(error_code(reused) == "idempotency_key_reused");
  CHECK(other.ask("POST", kChatPath + "?x", with_key(), kChatBody).status == 422);
  world.release(10);
  const Reply one = first.read_reply();
  const Reply two = second.read_reply();
  CHECK(one.status == 200);
  CHECK_FALSE(one.headers.has("tidemark-resumed"));
  CHECK(two.headers.get("tidemark-resumed") == "true");
  CHECK(one.body == two.body);
  CHECK(world.asked().size() == 1);
}

TEST_CASE("the upstream's Date is for the first response; one that attaches has its own") {
  World world;
  Answer answer = answer_with(chat_pieces(1));
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  answer.headers.add("Date", date);
  world.upstream_answers({answer});
  HttpClient client = world.connect();
  CHECK(client.ask("POST", kChatPath, with_key(), kChatBody).headers.get("date") == date);
  const Reply attached = client.ask("POST", kChatPath, with_key(), kChatBody);
  CHECK(attached.headers.count("date") == 1);
  CHECK(attached.headers.get("date") != date);
}

TEST_CASE("a key is 1 to 255 visible characters, and 20 at least without a credential") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(1))});
  HttpClient client = world.connect();
  const auto post = [&](const std::string& key, http::Headers more = {}) {
    return client.ask("POST", kChatPath, with_key(key, std::move(more)), kChatBody);
  };
  CHECK(error_code(post(std::string(19, 'k'))) == "idempotency_key_too_short");
  CHECK(post(std::string(19, 'k')).status == 400);
  CHECK(post(std::string(20, 'k')).status == 200);
  CHECK(post(std::string(255, 'k')).status == 200);
  CHECK(error_code(post(std::string(256, 'k'))) == "idempotency_key_invalid");
  CHECK(error_code(post("with a space in the middle")) == "idempotency_key_invalid");
  CHECK(error_code(post("")) == "idempotency_key_invalid");
  CHECK(post("k", {{"Authorization", "Bearer t"}}).status == 200);
}

TEST_CASE("a stream belongs to whoever began it") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(1))});
  HttpClient client = world.connect();
  const Reply mine = client.ask("POST", kChatPath, with_key(kKey, {{"Authorization", "Bearer me"}}), kChatBody);
  const Reply theirs = client.ask("POST", kChatPath, with_key(kKey, {{"Authorization", "Bearer you"}}), kChatBody);
  CHECK(world.asked().size() == 2);
  CHECK_FALSE(theirs.headers.has("tidemark-resumed"));
  CHECK(mine.headers.get("tidemark-epoch") != theirs.headers.get("tidemark-epoch"));
  const std::string page = "/tidemark/streams/" + kKey;
  CHECK(client.ask("GET", page, {{"Authorization", "Bearer me"}}).status == 200);
  for (const char* method : {"GET", "DELETE"}) {
    const Reply foreign = client.ask(method, page, {{"Authorization", "Bearer else"}});
    const Reply unknown = client.ask(method, page + "-unknown", {{"Authorization", "Bearer me"}});
    CHECK(foreign.status == 404);
    CHECK(foreign.status == unknown.status);
    CHECK(foreign.body == unknown.body);
    CHECK(without_date(foreign.headers) == without_date(unknown.headers));
  }
  CHECK(client.ask("GET", page, {{"x-api-key", "me"}}).status == 404);

  World by_user(R"("principal_header":"X-User")");
  by_user.upstream_answers({answer_with(chat_pieces(1))});
  HttpClient user = by_user.connect();
  CHECK(user.ask("POST", kChatPath, with_key("k", {{"Authorization", "Bearer shared"}, {"X-User", "a"}}), kChatBody)
            .status == 200);
  CHECK(user.ask("GET", "/tidemark/streams/k", {{"Authorization", "Bearer shared"}, {"X-User", "b"}}).status == 404);
  CHECK(user.ask("GET", "/tidemark/streams/k", {{"X-User", "a"}}).status == 200);
}

TEST_CASE("sixty readers attached at any moment read the same bytes") {
  World world;
  const int kWords = 300;
  world.upstream_answers({gated_answer(kWords)});
  std::vector<std::string> bodies(60);
  std::vector<std::thread> readers;
  Random random(3);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    readers.emplace_back([&world, &bodies, i] {
      HttpClient client = world.connect();
      bodies[i] = client.ask("POST", kChatPath, with_key(), kChatBody).body;
    });
    world.release(random.next() % 6);
  }
  world.release(1000);
  for (std::thread& reader : readers) reader.join();
  CHECK(world.asked().size() == 1);
  CHECK(blocks_of(bodies[0]).size() == static_cast<std::size_t>(kWords) + 3);
  for (const std::string& body : bodies) CHECK((body == bodies[0]));
}

TEST_CASE("a stop cuts the upstream and ends every reader, and a second one changes nothing") {
  RunningStream stream("", 5);
  World& world = stream.world;
  HttpClient two = world.connect();
  two.request("POST", kChatPath, with_key(), kChatBody);
  CHECK(two.read_head().status == 200);

  HttpClient other = world.connect();
  const auto before = std::chrono::steady_clock::now();
  const Reply stopped = other.ask("DELETE", "/tidemark/streams/" + kKey);
  CHECK(stopped.status == 200);
  CHECK(world.until([&] { return world.upstream_open() == 0; }));
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::milliseconds(100));
  const auto state = nlohmann::json::parse(stopped.body);
  CHECK(state.at("state") == "stopped");
  CHECK(state.at("end_reason") == "client-stop");
  for (HttpClient* client : {&stream.client, &two}) {
    Reply rest;
    client->read_body(rest);
    CHECK(rest.complete);
    const std::string end = ": tidemark end=stopped reason=client-stop\n\n";
    CHECK(ends_with(rest.body, end));
  }
  const Reply again = other.ask("DELETE", "/tidemark/streams/" + kKey);
  CHECK(again.status == 200);
  const auto settled = stream_page(other);
  for (const char* field : {"state", "end_reason", "next_seq", "ended_at"}) CHECK(settled.at(field) == state.at(field));
}

TEST_CASE("a stop before the first byte is an end as well") {
  World world;
  world.upstream_answers({gated_answer(5)});
  HttpClient one = world.connect();
  one.request("POST", kChatPath, with_key(), kChatBody);
  CHECK(world.until([&] { return world.asked().size() == 1; }));
  HttpClient other = world.connect();
  CHECK(stream_page(other).at("state") == "waiting");
  CHECK(other.ask("DELETE", "/tidemark/streams/" + kKey).status == 200);
  const Reply ended = one.read_reply();
  CHECK(ended.status == 200);
  CHECK(ended.body == ": tidemark end=stopped reason=client-stop\n\n");
  CHECK(other.ask("DELETE", "/tidemark/streams/" + kKey).status == 200);
  CHECK(world.until([&] { return world.upstream_open() == 0; }));
}

TEST_CASE("a client that leaves before the first byte leaves nothing behind") {
  World world;
  world.upstream_answers({gated_answer(5)});
  {
    HttpClient client = world.connect();
    client.request("POST", kChatPath, {}, kChatBody);
    CHECK(world.until([&] { return world.asked().size() == 1; }));
    client.reset();
  }
  CHECK(world.until([&] { return world.upstream_open() == 0; }));
  HttpClient other = world.connect();
  CHECK(nlohmann::json::parse(other.ask("GET", "/tidemark/status").body).at("streams").at("waiting") == 0);
}

TEST_CASE("a stream's page") {
  World world;
  world.upstream_answers({answer_with(chat_pieces(2))});
  HttpClient client = world.connect();
  const std::string key = "key/with?odd#characters%20inside";
  const Reply whole = client.ask("POST", kChatPath, with_key(key), kChatBody);
  CHECK(whole.status == 200);
  const Reply page =
      client.ask("GET", "/tidemark/streams/key%2Fwith%3Fodd%23characters%2520inside", {{"Accept", "application/json"}});
  CHECK(page.status == 200);
  CHECK(page.headers.get("content-type") == "application/json");
  const auto state = nlohmann::ordered_json::parse(page.body);
  std::vector<std::string> names;
  for (const auto& [name, value] : state.items()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"id", "epoch", "state", "next_seq", "dialect", "attempts", "seams", "readers",
                                          "created_at", "ended_at", "end_reason", "seam_list"});
  CHECK(state.at("id") == key);
  CHECK(state.at("epoch") == std::string(whole.headers.get("tidemark-epoch")));
  CHECK(state.at("state") == "complete");
  CHECK(state.at("next_seq") == 4);
  CHECK(state.at("dialect") == "openai-chat");
  CHECK(state.at("attempts") == 1);
  CHECK(state.at("seams") == 0);
  CHECK(state.at("readers") == 0);
  CHECK(state.at("end_reason") == "terminal-marker");
  CHECK(state.at("ended_at").get<double>() >= state.at("created_at").get<double>());
}

TEST_CASE("an error that is handed on goes to everybody who asked, and a follower finds no stream") {
  World world(R"("retry":{"attempts":1})");
  Answer refusal = answer_with({"first half, ", "second half"});
  refusal.status = 400;
  refusal.headers = {{"Content-Type", "text/plain"}};
  Answer slow = refusal;
  slow.gated = true;
  world.upstream_answers({slow});
  HttpClient first = world.connect();
  first.request("POST", kChatPath, with_key(), kChatBody);
  CHECK(world.until([&] { return world.asked().size() == 1; }));
  HttpClient second = world.connect();
  second.request("POST", kChatPath, with_key(), kChatBody);
  HttpClient follower = world.connect();
  follower.request("GET", "/tidemark/streams/" + kKey, {{"Accept", "text/event-stream"}});
  HttpClient other = world.connect();
  CHECK(other.ask("GET", "/tidemark/healthz").status == 200);
  world.release(2);
  for (HttpClient* client : {&first, &second}) {
    const Reply got = client->read_reply();
    CHECK(got.status == 400);
    CHECK(got.headers.get("content-type") == "text/plain");
    CHECK(got.body == "first half, second half");
  }
  CHECK(follower.read_reply().status == 404);
  CHECK(world.asked().size() == 1);
}

TEST_CASE("where a body of any length is handed on, the others under the key ask for their own") {
  World world;
  Answer image = answer_with({"first half, ", "second half"});
  image.headers = {{"Content-Type", "image/png"}};
  Answer slow = image;
  slow.gated = true;
  world.upstream_answers({slow, image});
  std::vector<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(world.connect());
    clients.back().request("POST", "/v1/images", with_key(), R"({"prompt":"x"})");
  }
  HttpClient other = world.connect();
  CHECK(other.ask("GET", "/tidemark/healthz").status == 200);
  world.release(2);
  for (HttpClient& client : clients) {
    const Reply got = client.read_reply();
    CHECK(got.status == 200);
    CHECK(got.body == "first half, second half");
  }
  CHECK(world.asked().size() == 3);
  for (const Asked& one : world.asked()) CHECK(one.body == R"({"prompt":"x"})");
}
