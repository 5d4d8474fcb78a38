// An answer that broke off is continued by another attempt, or ended truthfully (contract § 5).
#include <string>
#include <vector>

#include "tests/core/session/relay_samples.hpp"
#include "tests/core/session/relay_world.hpp"

namespace tidemark::test {
namespace {

using seam::Form;

RelayOptions continuing(std::optional<Dialect> dialect, std::vector<Form> forms = {Form::Prefix}) {
  RelayOptions options = relay_options(dialect);
  options.continuation = std::move(forms);
  return options;
}

std::string chat_chunk(const std::string& id, const std::string& delta, const std::string& finish = "null") {
  return data_event(R"({"id":")" + id + R"(","object":"chat.completion.chunk","created":1,"model":"m","choices":)" +
                    R"([{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + finish + "}]}");
}
std::string says(const std::string& text, const std::string& id = "chatcmpl-1") {
  return chat_chunk(id, R"({"content":")" + text + "\"}");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

constexpr const char* kBeginning = "Twice a day the sea withdraws, and twice";
constexpr const char* kRest = " a day it returns to the shore.";

/// An answer of which the beginning has come, and then the connection was lost.
RelayWorld cut_chat(std::vector<Form> forms = {Form::Prefix}) {
  RelayWorld world(continuing(Dialect::OpenaiChat, std::move(forms)));
  world.start().head().bytes(chat_sample().preamble + says(kBeginning)).reset();
  return world;
}

TEST_CASE("relay: an answer that broke off goes on in another attempt, and the client sees one") {
  for (const RelaySample& sample : {chat_sample("chatcmpl-1"), anthropic_sample("msg_1")}) {
    CAPTURE(dialect::name(sample.dialect));
    const bool chat = sample.dialect == Dialect::OpenaiChat;
    const RelaySample other = chat ? chat_sample("chatcmpl-2") : anthropic_sample("msg_2");
    RelayWorld world(continuing(sample.dialect));
    world.start().head().bytes(sample.preamble + sample.text).reset();
    REQUIRE(world.attempt() == 2);
    CHECK(world.forms.back() == Form::Prefix);
    CHECK(world.relay.text() == "Hello");
    world.head().bytes(other.preamble + other.more_text + other.end).eof();
    std::string whole = sample.whole();
    // The one token of the first attempt, which the second one's prompt does not hold.
    const std::size_t usage = whole.find(R"("output_tokens":2)");
    if (usage != std::string::npos) whole.replace(usage, 17, R"("output_tokens":3)");
    CHECK(world.body() == whole);
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
    REQUIRE(world.relay.seams().size() == 1);
    CHECK(world.relay.seams()[0].verdict == "joined");
    CHECK(world.relay.seams()[0].trimmed == 0);
    CHECK(world.outcomes[1] == retry::Outcome::Answer);
    CHECK(world.outcomes[2] == retry::Outcome::Answer);
  }
}

TEST_CASE("relay: responses go on with one response, and numbers that rise by one") {
  const RelaySample first = responses_sample("A");
  const RelaySample second = responses_sample("B");
  RelayWorld world(continuing(Dialect::OpenaiResponses));
  world.start().head().bytes(first.preamble + first.text).reset();
  world.head().bytes(second.preamble + second.more_text + second.end).eof();
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  const std::string body = world.body();
  CHECK(count(body, "\"response.created\"") == 1);
  CHECK(count(body, "resp_B") == 0);
  CHECK(count(body, "msg_B") == 0);
  CHECK(count(body, R"("text":"Hello world")") >= 2);
  for (std::size_t i = 0; i < world.events.size(); ++i) {
    CHECK(count(world.events[i].bytes, "\"sequence_number\":" + std::to_string(i)) == 1);
  }
}

TEST_CASE("relay: what the continuation repeats of the end is trimmed once") {
  RelayWorld world = cut_chat();
  world.head().bytes(chat_sample("chatcmpl-2").preamble + says("withdraws, and", "chatcmpl-2") +
                     says(" twice", "chatcmpl-2"));
  CHECK(count(world.body(), "withdraws") == 1);
  world.bytes(says(kRest, "chatcmpl-2") + chat_sample("chatcmpl-2").end).eof();
  CHECK(world.relay.text() == std::string(kBeginning) + kRest);
  CHECK(count(world.body(), "chatcmpl-2") == 0);
  REQUIRE(world.relay.seams().size() == 1);
  CHECK(world.relay.seams()[0].trimmed == std::string("withdraws, and twice").size());
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: every loss of the upstream leg after content is continued") {
  RelayOptions options = continuing(Dialect::OpenaiChat);
  options.idle_timeout_ms = 5000;
  RelayWorld world(options);
  world.start().head().bytes(chat_sample().preamble + says(kBeginning));
  SECTION("a reset") { world.reset(); }
  SECTION("an end without a terminal marker") { world.eof(); }
  SECTION("silence") { world.wait(5000); }
  SECTION("an error event that may pass") { world.bytes(chat_sample().failing); }
  REQUIRE(world.attempt() == 2);
  world.head().bytes(says(kRest, "chatcmpl-2") + chat_sample("chatcmpl-2").end).eof();
  CHECK(world.relay.text() == std::string(kBeginning) + kRest);
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  CHECK(count(world.body(), "error") == 0);
}

TEST_CASE("relay: an answer is not continued where its text alone does not say what is missing") {
  RelayWorld world(continuing(Dialect::OpenaiChat, {Form::Prefix, Form::ContinueTurn}));
  world.start().head().bytes(chat_sample().preamble);
  SECTION("inside a tool call") {
    world.bytes(says("Let me look.") + chat_chunk("chatcmpl-1",
                                                  R"({"tool_calls":[{"index":0,"id":"c","type":"function","function":)"
                                                  R"({"name":"f","arguments":"{\"a\":"}}]})"));
  }
  SECTION("in reasoning") { world.bytes(chat_chunk("chatcmpl-1", R"({"reasoning_content":"Hm"})")); }
  SECTION("in reasoning that follows text") {
    world.bytes(says("Well.") + chat_chunk("chatcmpl-1", R"({"reasoning_content":"Hm"})"));
  }
  SECTION("after a refusal") { world.bytes(chat_chunk("chatcmpl-1", R"({"refusal":"I can't"})")); }
  SECTION("with several choices") {
    world.bytes(says("Yes") + data_event(R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":)"
                                         R"("m","choices":[{"index":1,"delta":{"content":"No"}}]})"));
  }
  SECTION("after a finish reason") { world.bytes(says("Yes.") + chat_chunk("chatcmpl-1", "{}", "\"stop\"")); }
  world.reset();
  CHECK(world.attempt() == 1);
  CHECK(world.end.has_value());
}

TEST_CASE("relay: no form configured, no continuation") {
  RelayWorld world(continuing(Dialect::OpenaiChat, {}));
  world.start().head().bytes(chat_sample().preamble + says(kBeginning)).reset();
  CHECK(world.attempt() == 1);
  CHECK(world.ended(EndState::Truncated, EndReason::SynthesizedStop));
}

TEST_CASE("relay: a form that is refused gives way to the next one") {
  RelayWorld world = cut_chat({Form::Prefix, Form::ContinueTurn});
  SECTION("by the upstream") {
    world.head(400, "application/json")
        .bytes(R"({"error":{"message":"This model does not support assistant message prefill."}})")
        .eof();
    CHECK(world.form_verdicts == std::vector<Form>{Form::Prefix});
  }
  SECTION("by whom it is asked through") {
    RelayWorld other(continuing(Dialect::OpenaiChat, {Form::Prefix, Form::ContinueTurn}));
    other.unaskable = {Form::Prefix};
    other.start().head().bytes(chat_sample().preamble + says(kBeginning)).reset();
    CHECK(other.form_verdicts.empty());
    REQUIRE(other.attempt() == 2);
    CHECK(other.forms[1] == Form::ContinueTurn);
    CHECK(other.relay.seams()[0].verdict == "unaskable");
    return;
  }
  REQUIRE(world.attempt() == 3);
  CHECK(world.forms[2] == Form::ContinueTurn);
  world.head().bytes(says(kRest) + chat_sample().end).eof();
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  REQUIRE(world.relay.seams().size() == 2);
  CHECK(world.relay.seams()[0].verdict == "form-refused");
  CHECK(world.relay.seams()[1].verdict == "joined");
}

TEST_CASE("relay: where nobody goes on, the answer is ended as a cut one") {
  RelayWorld world = cut_chat();
  SECTION("the last form is refused") { world.head(400, "application/json").bytes("{}").eof(); }
  SECTION("the upstream is down") {
    for (int i = 0; i < 3; ++i) world.unreachable().wait(10000);
  }
  SECTION("it answers with a status") {
    for (int i = 0; i < 3; ++i) world.head(503, "text/plain").bytes("busy").eof().wait(10000);
  }
  SECTION("it says nothing") {
    for (int i = 0; i < 2; ++i) world.head().eof();
  }
  SECTION("it is silent") { world.wait(60000); }
  SECTION("it answers with a page") {
    world.head(200, "text/html")
        .bytes("<html>hello</html>")
        .eof()
        .wait(10000)
        .head(200, "text/html")
        .bytes("<html>hello</html>")
        .eof();
  }
  SECTION("it is paused") { world.paused(1000); }
  SECTION("it challenges") { world.head(200, "text/event-stream", {}, true); }
  CHECK(world.ended(EndState::Truncated, EndReason::SynthesizedStop));
  CHECK(world.relay.text() == kBeginning);
  CHECK(count(world.body(), "\"finish_reason\":\"stop\"") == 1);
  CHECK(count(world.body(), "[DONE]") == 1);
}

TEST_CASE("relay: an error event that could have passed is told where nobody goes on") {
  RelayWorld world(continuing(Dialect::OpenaiChat));
  world.start().head().bytes(chat_sample().preamble + says(kBeginning) + chat_sample().failing);
  world.head(400, "application/json").bytes("{}").eof();
  CHECK(count(world.body(), "try later") == 1);
  CHECK(world.ended(EndState::Failed, EndReason::UpstreamError));
}

TEST_CASE("relay: a continuation that fails to come is asked for again") {
  RelayWorld world = cut_chat();
  world.unreachable().wait(10000).head(503, "text/plain").bytes("busy").eof().wait(10000);
  REQUIRE(world.attempt() == 4);
  CHECK(world.forms.back() == Form::Prefix);
  world.head().bytes(says(kRest) + chat_sample().end).eof();
  CHECK(world.relay.text() == std::string(kBeginning) + kRest);
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  std::vector<std::string_view> verdicts;
  for (const session::SeamRecord& seam : world.relay.seams()) verdicts.push_back(seam.verdict);
  CHECK(verdicts == std::vector<std::string_view>{"unreachable", "status", "joined"});
}

TEST_CASE("relay: a continuation that starts the answer again is refused, and nothing of it delivered") {
  RelayWorld world = cut_chat();
  world.head().bytes(chat_sample("chatcmpl-2").preamble);
  for (const char* piece :
       {"Twice", " a", " day", " the", " sea", " withdraws", ", and", " twice", " a day", " it returns"}) {
    if (!world.over()) world.bytes(says(piece, "chatcmpl-2"));
  }
  CHECK(world.ended(EndState::Truncated, EndReason::SeamRefused));
  CHECK(world.relay.text() == kBeginning);
  REQUIRE(world.relay.seams().size() == 1);
  CHECK(world.relay.seams()[0].verdict == "restart");
  CHECK(count(world.body(), "chatcmpl-2") == 0);
}

TEST_CASE("relay: several cuts in one answer") {
  RelayWorld world(continuing(Dialect::OpenaiChat));
  const std::vector<std::string> words{"Twice",      " a day", " the sea",   " withdraws,",
                                       " and twice", " daily", " it returns"};
  world.start().head().bytes(chat_sample().preamble + says(words[0])).reset();
  std::string whole = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string id = "chatcmpl-" + std::to_string(i + 1);
    world.head().bytes(chat_sample(id).preamble + says(words[i], id));
    whole += words[i];
    if (i + 1 < words.size()) {
      world.reset();
    } else {
      world.bytes(chat_sample(id).end).eof();
    }
  }
  CHECK(world.relay.text() == whole);
  CHECK(world.relay.seams().size() == words.size() - 1);
  CHECK(count(world.body(), "chatcmpl-1") == world.events.size() - 1);  // all but [DONE]
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: an answer is continued so many times and no more") {
  RelayWorld world(continuing(Dialect::OpenaiChat));
  world.start().head().bytes(chat_sample().preamble + says("a")).reset();
  for (unsigned i = 0; i <= session::kMaxSeams && !world.over(); ++i) {
    world.head().bytes(says(" " + std::string(5, static_cast<char>('b' + i)))).reset();
  }
  CHECK(world.attempt() == session::kMaxSeams + 1);
  CHECK(world.ended(EndState::Truncated, EndReason::SynthesizedStop));
}

TEST_CASE("relay: a continuation that has nothing to add is the answer's end, at once where it ends as sentences do") {
  const auto nothing = [] { return chat_sample("chatcmpl-2").preamble + chat_sample("chatcmpl-2").end; };
  RelayWorld world(continuing(Dialect::OpenaiChat));
  world.start().head().bytes(chat_sample().preamble + says(kBeginning));
  SECTION("in the middle of a sentence it is asked for once more") {
    world.reset();
    world.head().bytes(nothing());
    REQUIRE(world.attempt() == 3);
    SECTION("and goes on") {
      world.head().bytes(says(kRest) + chat_sample().end).eof();
      CHECK(world.relay.text() == std::string(kBeginning) + kRest);
    }
    SECTION("or has no more to say") { world.head().bytes(nothing()).eof(); }
  }
  SECTION("at the end of one it is taken at its word") {
    world.bytes(says(kRest)).reset();
    world.head().bytes(nothing()).eof();
    CHECK(world.attempt() == 2);
  }
  SECTION("in other scripts too") {
    world.bytes(says("\xE6\xBD\xAE\xE3\x80\x82")).reset();  // 潮。
    world.head().bytes(nothing()).eof();
    CHECK(world.attempt() == 2);
  }
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: a marker alone does not end an answer that is to be continued") {
  RelayWorld world = cut_chat();
  world.head().bytes(data_event("[DONE]"));
  REQUIRE(world.attempt() == 3);
  SECTION("asked again, the model goes on") {
    world.head().bytes(says(kRest) + chat_sample().end).eof();
    CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  }
  SECTION("or does not") {
    world.head().bytes(data_event("[DONE]"));
    CHECK(world.ended(EndState::Truncated, EndReason::SynthesizedStop));
  }
  CHECK(world.relay.seams()[0].verdict == "empty");
}

TEST_CASE("relay: what a continuation has brought before it could be judged is asked for again") {
  RelayWorld world = cut_chat();
  SECTION("it may be old") { world.head().bytes(says("withdraws, and")).reset(); }
  SECTION("it may talk about itself") { world.head().bytes(says("Sure") + says(",")).reset(); }
  CHECK(world.relay.text() == kBeginning);
  REQUIRE(world.attempt() == 3);
  world.head().bytes(says(kRest) + chat_sample().end).eof();
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  CHECK(world.relay.text() == std::string(kBeginning) + kRest);
}

TEST_CASE("relay: attempts that bring nothing new are not paid for again and again") {
  RelayWorld world(continuing(Dialect::OpenaiChat));
  world.start().head().bytes(chat_sample().preamble + says(kBeginning)).reset();
  for (int i = 0; i < 10 && !world.over(); ++i)
    world.head().bytes(says("the sea withdraws, and twice") + says(".")).reset();
  for (int i = 0; i < 10 && !world.over(); ++i) world.head().bytes(says("the sea withdraws, and twice.")).reset();
  CHECK(world.attempt() == 4);
  CHECK(world.ended(EndState::Truncated, EndReason::SynthesizedStop));
}

TEST_CASE("relay: a continuation that stays undecided for too long is refused") {
  const std::string much(session::Continuation::kMaxHeldBytes / 3, 'x');
  SECTION("with text that may be old") {
    RelayWorld world = cut_chat();
    world.head();
    for (const char* piece : {"withdraws", ", ", "and"}) {
      CHECK_FALSE(world.over());
      world.bytes(data_event(R"({"id":"c","x":")" + much + R"(","choices":[{"index":0,"delta":{"content":")" + piece +
                             R"("}}]})"));
    }
    CHECK(world.ended(EndState::Truncated, EndReason::SeamRefused));
    CHECK(world.relay.text() == kBeginning);
  }
  SECTION("with events of another kind") {
    const RelaySample sample = anthropic_sample();
    RelayWorld world(continuing(Dialect::AnthropicMessages));
    world.start().head().bytes(sample.preamble + sample.text).reset();
    world.head().bytes(sample.preamble);
    for (int i = 0; i < 3; ++i) {
      CHECK_FALSE(world.over());
      world.bytes(event("vendor_note", R"(,"x":")" + much + "\""));
    }
    CHECK(world.ended(EndState::Truncated, EndReason::SeamRefused));
    CHECK(world.relay.text() == "Hello");
  }
}

TEST_CASE("relay: orders while a continuation is awaited") {
  RelayWorld world = cut_chat();
  SECTION("stop") {
    world.stop();
    CHECK(world.ended(EndState::Stopped, EndReason::ClientStop));
  }
  SECTION("stop while it is judged") {
    world.head().bytes(says("withdraws, and")).stop();
    CHECK(world.ended(EndState::Stopped, EndReason::ClientStop));
  }
  SECTION("shutdown") {
    world.shutdown();
    CHECK(world.ended(EndState::Truncated, EndReason::Shutdown));
    CHECK(count(world.body(), "[DONE]") == 1);
  }
  SECTION("nobody reads any more") {
    world.abandon();
    CHECK(world.ended(EndState::Truncated, EndReason::ClientStop));
  }
  CHECK(world.cut.back() == 2);
  CHECK(world.outcomes.size() == 2);
}

TEST_CASE("relay: reattached, the same answer goes on by its numbers") {
  const RelaySample sample = responses_sample("A");
  RelayWorld world(continuing(Dialect::OpenaiResponses, {Form::Reattach, Form::Prefix}));
  world.start().head().bytes(sample.preamble + sample.text);
  SECTION("with what is missing") {
    world.reset();
    world.head().bytes(sample.more_text + sample.end).eof();
  }
  SECTION("with all of it once more") {
    world.reset();
    world.head().bytes(sample.whole()).eof();
  }
  SECTION("twice") {
    world.reset();
    world.head().bytes(sample.more_text).reset();
    world.head().bytes(sample.end).eof();
  }
  CHECK(world.forms[1] == Form::Reattach);
  CHECK(world.body() == sample.whole());
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
  CHECK(world.relay.seams().front().verdict == "joined");
}

TEST_CASE("relay: reattached where the client knows other ids and numbers") {
  const RelaySample first = responses_sample("A");
  const RelaySample second = responses_sample("B");
  RelayWorld world(continuing(Dialect::OpenaiResponses, {Form::Reattach}));
  world.start().head().bytes(first.message + event("keepalive", R"(,"sequence_number":2)")).wait(2000).reset();
  world.head().bytes(second.preamble + second.text).reset();
  REQUIRE(world.attempt() == 3);
  CHECK(world.relay.provider_answer().id == "resp_B");
  CHECK(world.relay.provider_answer().sequence == 4u);
  world.head().bytes(second.whole()).eof();
  CHECK(count(world.body(), "resp_B") == 0);
  CHECK(world.ended(EndState::Complete, EndReason::TerminalMarker));
}

TEST_CASE("relay: reattached to another answer, or to one that has failed, the next form is tried") {
  const RelaySample sample = responses_sample("A");
  RelayWorld world(continuing(Dialect::OpenaiResponses, {Form::Reattach, Form::ContinueTurn}));
  world.start().head().bytes(sample.preamble + sample.text);
  SECTION("another id") {
    world.reset();
    world.head().bytes(responses_sample("B").whole());
    CHECK(world.relay.seams()[0].verdict == "another-answer");
    REQUIRE(world.attempt() == 3);
  }
  SECTION("an error") {
    world.bytes(sample.failing);
    REQUIRE(world.attempt() == 2);
  }
  CHECK(world.forms.back() == Form::ContinueTurn);
}

TEST_CASE("relay: reattached to what is gone, the next form is tried") {
  const RelaySample sample = responses_sample("A");
  RelayWorld world(continuing(Dialect::OpenaiResponses, {Form::Reattach, Form::ContinueTurn}));
  world.start().head().bytes(sample.preamble + sample.text).reset();
  world.head(404, "application/json").bytes(R"({"error":{"message":"not found"}})").eof();
  REQUIRE(world.attempt() == 3);
  CHECK(world.forms[2] == Form::ContinueTurn);
}

}  // namespace
}  // namespace tidemark::test
