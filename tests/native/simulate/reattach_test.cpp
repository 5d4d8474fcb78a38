// Answers that are gone on with as they are: responses kept in the background, and texts told by their tail.
#include <nlohmann/json.hpp>

#include "core/seam/tail_fingerprint.hpp"
#include "tests/catch.hpp"
#include "tests/native/simulate/asking.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using dialect::EofVerdict;

const std::string kAnswer = built_in_pieces().joined_text();

Question background(const std::string& faults) {
  return Question(Dialect::OpenaiResponses, faults, "tides").with("background", true).with("store", true);
}

Answer reattach(const RunningUpstream& upstream, const std::string& id, const std::string& query) {
  return ask(upstream, Dialect::OpenaiResponses, "GET", "/v1/responses/" + id + query, {}, {});
}

std::string after(const Answer& answer) {
  return "?stream=true&starting_after=" + Json::parse(answer.data.back())["sequence_number"].dump();
}

std::vector<std::string> joined(std::vector<std::string> events, const Answer& more) {
  events.insert(events.end(), more.data.begin(), more.data.end());
  return events;
}

TEST_CASE("a background response goes on above any number, taking its faults in turn", "[simulate]") {
  const RunningUpstream upstream({});
  for (const std::size_t cut : {1U, 2U, 5U, 20U, 100U}) {
    const Answer first = background("reset-after=" + std::to_string(cut) + ",status=503,eof-after=7").ask(upstream);
    REQUIRE(first.data.size() == cut);
    CHECK(reattach(upstream, first.id, after(first)).status == 503);
    const Answer second = reattach(upstream, first.id, after(first));
    CHECK(second.data.size() == 7);
    const Answer third = reattach(upstream, first.id, after(second));
    CHECK(third.verdict == EofVerdict::Complete);
    const Answer whole = reattach(upstream, first.id, "?stream=true");
    CHECK(whole.data.size() == cut);  // the list begins anew
    CHECK(reattach(upstream, first.id, "?stream=true").status == 503);
    reattach(upstream, first.id, "?stream=true");
    const Answer all = reattach(upstream, first.id, "?stream=true");
    CHECK(all.text == kAnswer);
    CHECK(joined(joined(first.data, second), third) == all.data);
    CHECK(Json::parse(reattach(upstream, first.id, "").body)["id"] == first.id);
  }
}

TEST_CASE("only what is kept can be come back for", "[simulate]") {
  const RunningUpstream upstream({});
  const Answer unknown = reattach(upstream, "resp_unknown", "?stream=true");
  CHECK(unknown.status == 404);
  CHECK(Json::parse(unknown.body)["error"]["message"] == "Response with id 'resp_unknown' not found.");
  const Answer plain = Question(Dialect::OpenaiResponses, "", "tides").ask(upstream);
  CHECK(reattach(upstream, plain.id, "?stream=true").status == 404);
  CHECK(reattach(upstream, background("").with("store", false).ask(upstream).id, "?stream=true").status == 404);
  const Answer kept = background("").ask(upstream);
  CHECK(reattach(upstream, kept.id, "?stream=true&starting_after=x").status == 400);
  CHECK(reattach(upstream, kept.id, "?stream=true&starting_after=1000000").data.empty());
  CHECK(ask(upstream, Dialect::OpenaiResponses, "DELETE", "/v1/responses/" + kept.id, {}, {}).status == 405);
  for (std::size_t i = 0; i < Generations::kMax; ++i) background("eof-after=1").ask(upstream);
  CHECK(reattach(upstream, kept.id, "?stream=true").status == 404);
}

TEST_CASE("the program's own faults are for those who come back, too", "[simulate]") {
  const RunningUpstream upstream(parse_faults("eof-after=10,eof-after=5").value());
  const Answer first = background("").ask(upstream);
  CHECK(first.data.size() == 10);
  const Answer second = reattach(upstream, first.id, after(first));
  CHECK(second.data.size() == 5);
  CHECK(first.text + second.text + reattach(upstream, first.id, after(second)).text == kAnswer);
}

// A request again, with where its text ends.
Question with_tail(const Question& question, const std::string& text) {
  seam::Tail tail;
  tail.append(text);
  return question.with("receivedLength", tail.utf16_length())
      .with("tailFingerprint", seam::to_hex(seam::tail_fingerprint(text)));
}

TEST_CASE("a text told by its length and its tail goes on behind it", "[simulate]") {
  const RunningUpstream upstream({});
  const auto spoken = GENERATE(Dialect::SeqDelta, Dialect::OpenaiChat);
  std::string text;
  for (const std::string& piece : built_in_pieces().text) {
    text += piece;
    CHECK(text + with_tail(Question(spoken, "", "tides"), text).ask(upstream).text == kAnswer);
  }
}

TEST_CASE("the tail's seams have their faults", "[simulate]") {
  const RunningUpstream upstream({});
  const auto spoken = GENERATE(Dialect::SeqDelta, Dialect::OpenaiChat);
  const auto second = [&](const char* fault) {
    const Question question(spoken, std::string("reset-after=30,") + fault, fault);
    const std::string begun = question.ask(upstream).text;
    const std::string more = with_tail(question, begun).ask(upstream).text;
    return std::pair{begun, more};
  };
  const auto [begun, overlapping] = second("overlap=9");
  CHECK(begun.substr(0, begun.size() - 9) + overlapping == kAnswer);
  CHECK(overlapping.size() == kAnswer.size() - begun.size() + 9);
  CHECK(second("restart").second == kAnswer);
  CHECK(second("different").second == other_pieces().joined_text());
  // What is not the tail of the beginning of that length starts over.
  const Question question(spoken, "", "tides");
  CHECK(with_tail(question, "Something else").ask(upstream).text == kAnswer);
  CHECK(with_tail(question, begun).with("receivedLength", begun.size() + 1).ask(upstream).text == kAnswer);
  CHECK(with_tail(question, begun).with("receivedLength", -1).ask(upstream).text == kAnswer);
  CHECK(with_tail(question, begun).with("receivedLength", 1000000).ask(upstream).text == kAnswer);
}

}  // namespace
}  // namespace tidemark::simulate
