// Answers that break off and are asked for again from there, in every provider's way, through real sockets.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "native/simulate/script.hpp"
#include "tests/catch.hpp"
#include "tests/native/simulate/asking.hpp"
#include "tests/recordings.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using dialect::EofVerdict;

constexpr Dialect kContinued[] = {Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::AnthropicMessages};

const std::string kAnswer = built_in_pieces().joined_text();
const std::string kBegun = kAnswer.substr(0, kAnswer.find(" returns."));
const std::string kRest = kAnswer.substr(kBegun.size());

Json parts(const char* type, const std::string& text) {
  return Json::array({{{"type", type}, {"text", text.substr(0, 5)}}, {{"type", type}, {"text", text.substr(5)}}});
}

TEST_CASE("every provider's form of a continuation is understood", "[simulate]") {
  const RunningUpstream upstream({});
  const Question chat(Dialect::OpenaiChat, "", "tides");
  const Question responses(Dialect::OpenaiResponses, "", "tides");
  const Question messages(Dialect::AnthropicMessages, "", "tides");
  const Question forms[] = {
      chat.prefix(kBegun),
      chat.prefix(kBegun).last_with("prefix", true),
      chat.prefix(kBegun).last_with("partial", true),
      chat.prefix(kBegun).with("continue_final_message", true).with("add_generation_prompt", false),
      chat.prefix(parts("text", kBegun)),
      chat.turn(kBegun),
      responses.prefix(kBegun),
      responses.prefix(parts("output_text", kBegun)).last_with("type", "message"),
      responses.turn(kBegun),
      messages.prefix(kBegun),
      messages.prefix(parts("text", kBegun)),
      messages.turn(kBegun)};
  for (const Question& form : forms) {
    INFO(form.body.dump());
    const Answer answer = form.ask(upstream);
    CHECK(answer.status == 200);
    CHECK(answer.text == kRest);
    CHECK(answer.verdict == EofVerdict::Complete);
    Question whole = form;
    whole.body["stream"] = false;
    CHECK(whole.ask(upstream).body.find(Json(kRest).dump()) != std::string::npos);
  }
}

TEST_CASE("what is no beginning of the answer is answered from the beginning", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Dialect spoken : kContinued) {
    const Question question(spoken, "", "tides");
    CHECK(question.prefix("Something else").ask(upstream).text == kAnswer);
    CHECK(question.turn("Something else").ask(upstream).text == kAnswer);
    // A next question, after the whole answer.
    Question next = question.prefix(kAnswer);
    next.turns().push_back({{"role", "user"}, {"content", "And the Sun?"}});
    CHECK(next.ask(upstream).text == kAnswer);
    CHECK(question.turn(kAnswer).ask(upstream).text.empty());
    CHECK(question.prefix(kAnswer).ask(upstream).verdict == EofVerdict::Complete);
  }
}

TEST_CASE("what a provider refuses of a continuation is refused", "[simulate]") {
  const RunningUpstream upstream({});
  const Answer both = Question(Dialect::OpenaiChat, "", "tides")
                          .prefix(kBegun)
                          .with("continue_final_message", true)
                          .with("add_generation_prompt", true)
                          .ask(upstream);
  CHECK(both.status == 400);
  const Answer space = Question(Dialect::AnthropicMessages, "", "tides").prefix(kBegun + " ").ask(upstream);
  CHECK(space.status == 400);
  CHECK(Json::parse(space.body)["error"]["message"] ==
        "messages: final assistant content cannot end with trailing whitespace");
  CHECK(Question(Dialect::OpenaiChat, "", "tides").prefix(kBegun + " ").ask(upstream).text == kRest.substr(1));
}

TEST_CASE("a continuation is a response of its own, and its usage adds up with what was there", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Dialect spoken : kContinued) {
    const Question question(spoken, "reset-after=20", "tides");
    const Answer first = question.ask(upstream);
    CHECK_FALSE(first.complete);
    CHECK(first.data.size() == 20);
    const Answer rest = question.prefix(first.text).ask(upstream);
    CHECK(first.text + rest.text == kAnswer);
    CHECK(rest.verdict == EofVerdict::Complete);
    CHECK_FALSE(rest.id.empty());
    CHECK(rest.id != first.id);
    const Json usage = Json::parse(rest.usage);
    const bool chat = spoken == Dialect::OpenaiChat;
    CHECK(usage.at(chat ? "completion_tokens" : "output_tokens") == rest.pieces.size());
    if (spoken != Dialect::AnthropicMessages) {
      CHECK(usage.at(chat ? "prompt_tokens" : "input_tokens") == 12 + first.pieces.size());
      CHECK(usage.at("total_tokens") == 12 + built_in_pieces().text.size());
    } else {
      CHECK(Json::parse(rest.data.front())["message"]["usage"]["input_tokens"] == 12 + first.pieces.size());
    }
  }
}

TEST_CASE("several cuts in one answer, with an overlap each", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Dialect spoken : kContinued) {
    for (const bool turns : {false, true}) {
      const Question question(spoken, "reset-after=20,overlap=30+reset-after=40,eof-after=50+overlap=1,overlap=2000",
                              turns ? "turns" : "prefixes");
      const auto next = [&](const std::string& text) {
        return (turns ? question.turn(text) : question.prefix(text)).ask(upstream);
      };
      std::string text = question.ask(upstream).text;
      for (const std::size_t overlap : {std::size_t{30}, std::size_t{1}, std::size_t{2000}}) {
        const Answer more = next(text);
        // All cuts come before the first character that is more than a byte.
        const std::size_t again = std::min(overlap, text.size());
        REQUIRE(more.text.substr(0, again) == text.substr(text.size() - again));
        text += more.text.substr(again);
      }
      CHECK(text == kAnswer);
      CHECK(next(kBegun).text == kRest);                // answered well after the list
      CHECK(question.ask(upstream).data.size() == 20);  // and then from its beginning
    }
  }
}

}  // namespace
}  // namespace tidemark::simulate
