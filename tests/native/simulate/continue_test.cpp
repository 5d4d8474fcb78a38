// Answers that break off and are asked for again from there, in every provider's way, through real sockets.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/utf8.hpp"
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

TEST_CASE("each fault of a seam is what it says", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Dialect spoken : kContinued) {
    const auto continued = [&](const char* fault) {
      return Question(spoken, std::string("eof-after=20,") + fault, fault);
    };
    const auto told = [&](const Question& question) {
      const Answer first = question.ask(upstream);
      const Answer second = question.prefix(first.text).ask(upstream);
      CHECK(second.verdict == EofVerdict::Complete);
      CHECK(second.id != first.id);
      return std::pair{first, second};
    };
    const auto [begun, echo] = told(continued("echo"));
    CHECK(echo.text == kAnswer);
    CHECK(echo.pieces.front() == begun.text);
    const auto restart = told(continued("restart")).second;
    CHECK(restart.text == kAnswer);
    CHECK(restart.pieces == built_in_pieces().text);
    CHECK(told(continued("lead-in")).second.text == "Sure, continuing: " + kAnswer.substr(begun.text.size()));
    const auto other = told(continued("different")).second;
    CHECK(other.text == other_pieces().joined_text());
    const auto paraphrased = told(continued("restart-paraphrased")).second.text;
    CHECK(paraphrased.substr(0, 8) == kAnswer.substr(0, 8));
    CHECK(paraphrased != kAnswer);
    CHECK(paraphrased.size() > kAnswer.size() / 2);
    // A request that continues nothing is answered well.
    for (const char* fault :
         {"overlap=5", "echo", "restart", "lead-in", "different", "restart-paraphrased", "refuse-prefix"}) {
      CHECK(Question(spoken, fault, "alone").ask(upstream).pieces == built_in_pieces().text);
    }
  }
}

TEST_CASE("a prefix is refused in its turn, and a turn of the user's is not", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Dialect spoken : kContinued) {
    const Question question(spoken, "eof-after=20,refuse-prefix,refuse-prefix+eof-after=30", "tides");
    const Answer first = question.ask(upstream);
    const Answer refused = question.prefix(first.text).ask(upstream);
    CHECK(refused.status == 400);
    CHECK(Json::parse(refused.body)["error"]["message"] ==
          "This model does not support assistant message prefill. The conversation must end with a user message.");
    const Answer second = question.turn(first.text).ask(upstream);
    CHECK(second.data.size() == 30);
    CHECK(first.text + second.text + question.prefix(first.text + second.text).ask(upstream).text == kAnswer);
  }
}

TEST_CASE("a continuation takes its turn in the list of the request that it continues", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Dialect spoken : kContinued) {
    Question question(spoken, "eof-after=20,eof-after=21,eof-after=22,eof-after=23", "tides");
    question.key = "the client's";
    const std::string begun = question.ask(upstream).text;
    // Another request with a key of its own has its own turns.
    Question other = question;
    other.key = "another client's";
    CHECK(other.ask(upstream).data.size() == 20);
    CHECK(question.prefix(begun).ask(upstream).data.size() == 21);
    // Without the key, with less left to say: the list that was used last.
    Question keyless = question;
    keyless.key.clear();
    CHECK(keyless.turn(begun).with("max_tokens", 7).ask(upstream).data.size() == 22);
    CHECK(
        keyless.prefix(begun).with("max_output_tokens", 7).with("stream_options", nullptr).ask(upstream).data.size() ==
        23);
    CHECK(question.ask(upstream).verdict == EofVerdict::Complete);
    CHECK(other.ask(upstream).data.size() == 21);
  }
  // A string is a user's turn.
  Question plain(Dialect::OpenaiResponses, "eof-after=20,eof-after=21", "tides");
  const Question list = plain;
  plain.body["input"] = "tides";
  const std::string begun = plain.ask(upstream).text;
  CHECK(list.prefix(begun).ask(upstream).data.size() == 21);
}

TEST_CASE("what the client had the assistant begin with stands before the answer", "[simulate]") {
  const RunningUpstream upstream({});
  for (const Dialect spoken : kContinued) {
    const Question question = Question(spoken, "eof-after=20", "tides").prefix("Well:");
    const Answer first = question.ask(upstream);
    CHECK(first.data.size() == 20);
    CHECK(first.text + question.last_with("content", "Well:" + first.text).ask(upstream).text == kAnswer);
  }
}

TEST_CASE("recorded answers are continued in their dialect, with the fault's cut anywhere", "[simulate]") {
  for (const auto& recorded : test::recordings()) {
    if (recorded.dialect == Dialect::Gemini) continue;
    const std::string file = (test::recordings_directory() / recorded.file).string();
    const auto recording = Recording::load(file, recorded.dialect);
    REQUIRE(recording.ok());
    const std::string whole = recording.value().pieces().joined_text();
    const Script script = recording.value().script(recorded.dialect);
    const RunningUpstream upstream({}, recording.value());
    const std::size_t stride = script.events.size() / 8 + 1;
    for (std::size_t events = script.preamble + 1; events < script.events.size(); events += stride) {
      INFO(recorded.file << " cut after " << events);
      const Question question(recorded.dialect, "eof-after=" + std::to_string(events) + ",overlap=7", "tides");
      const Answer first = question.ask(upstream);
      CHECK(first.data.size() == events);
      if (first.text.empty()) continue;
      std::string shown = first.text;
      if (recorded.dialect == Dialect::AnthropicMessages) shown.erase(shown.find_last_not_of(" \n") + 1);
      const Answer rest = question.prefix(shown).ask(upstream);
      CHECK(rest.id != first.id);
      const std::string::size_type overlap = rest.text.size() - (whole.size() - shown.size());
      REQUIRE(overlap <= shown.size());
      CHECK(shown.substr(0, shown.size() - overlap) + rest.text == whole);
      const auto points = std::count_if(rest.text.begin(), rest.text.begin() + static_cast<std::ptrdiff_t>(overlap),
                                        [](char c) { return !is_continuation(c); });
      CHECK((points == 7 || overlap == shown.size()));
    }
  }
}

}  // namespace
}  // namespace tidemark::simulate
