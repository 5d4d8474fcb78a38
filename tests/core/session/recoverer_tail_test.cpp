// A repeated request, joined on by its text (`tail`): in every dialect that tells its text, at every cut.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/base/utf8.hpp"
#include "tests/core/session/recoverer_hand.hpp"

namespace tidemark::test {
namespace {

using dialect::Dialect;
using session::SeamKind;
using Texts = std::vector<std::string>;

const Texts kPieces{"Low",   " tide", " uncovers", " 沙洲", "，潮水", "退去", "。",  " Waves", " 🌊",
                    " rise", " and",  " fall",     ";",     " so",    " on",  " it", " goes."};

std::string joined(const Texts& texts, std::size_t from = 0, std::size_t to = std::string::npos) {
  std::string all;
  for (std::size_t i = from; i < std::min(to, texts.size()); ++i) all += texts[i];
  return all;
}

std::string event(const std::string& data, const std::string& name = {}) {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
}

// A dialect's frame: what comes before the texts, a text, a piece of reasoning, and what comes after them.
struct Frame {
  Dialect dialect;
  std::string begin;
  std::function<std::string(const std::string&)> text;
  std::string end;
};

const std::vector<Frame>& frames() {
  static const std::vector<Frame> all{
      {Dialect::OpenaiChat, event(R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})"),
       [](const std::string& t) { return event(R"({"choices":[{"index":0,"delta":{"content":")" + t + R"("}}]})"); },
       event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})") + event("[DONE]")},
      {Dialect::OpenaiResponses, event(R"({"type":"response.created","response":{"id":"r"}})", "response.created"),
       [](const std::string& t) {
         return event(
             R"({"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":")" + t + "\"}",
             "response.output_text.delta");
       },
       event(R"({"type":"response.completed","response":{"id":"r","status":"completed"}})", "response.completed")},
      {Dialect::AnthropicMessages,
       event(R"({"type":"message_start","message":{"id":"m","content":[]}})", "message_start") +
           event(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
                 "content_block_start"),
       [](const std::string& t) {
         return event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + t + "\"}}",
                      "content_block_delta");
       },
       event(R"({"type":"content_block_stop","index":0})", "content_block_stop") +
           event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})", "message_delta") +
           event(R"({"type":"message_stop"})", "message_stop")},
      {Dialect::Gemini, "",
       [](const std::string& t) {
         return event(R"({"candidates":[{"content":{"parts":[{"text":")" + t + R"("}]}}]})");
       },
       event(R"({"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]})")},
      {Dialect::SeqDelta, "", [](const std::string& t) { return event(R"({"delta":")" + t + "\"}"); },
       event(R"({"done":true})")},
      {Dialect::AiSdkUi, event(R"({"type":"start"})") + event(R"({"type":"text-start","id":"0"})"),
       [](const std::string& t) { return event(R"({"type":"text-delta","id":"0","delta":")" + t + "\"}"); },
       event(R"({"type":"text-end","id":"0"})") + event(R"({"type":"finish"})") + event("[DONE]")},
  };
  return all;
}

std::string stream(const Frame& frame, const Texts& texts) {
  std::string all = frame.begin;
  for (const std::string& text : texts) all += frame.text(text);
  return all + frame.end;
}

RecovererOptions tail_options(Dialect dialect = Dialect::OpenaiChat) {
  RecovererOptions options;
  options.resume = ResumeMode::Tail;
  options.dialect = dialect;
  options.first_retry_delay_ms = 0;
  return options;
}

// One answer over several legs.
struct TailHand : Hand {
  explicit TailHand(const Frame& of) : Hand(tail_options(of.dialect)), frame(of) {}

  const Frame& frame;

  void leg(const std::string& body) {
    if (attempt() > 1 || leg_over_) next_attempt();
    respond(1, event_stream());
    bytes(1, body);
  }
  void cut_leg(const Texts& texts) {
    leg(frame.begin + body_of(texts));
    lose(2);
    leg_over_ = true;
  }
  void last_leg(const Texts& texts) {
    leg(stream(frame, texts));
    recoverer.handle_end(2, attempt());
  }
  std::string body_of(const Texts& texts) const {
    std::string all;
    for (const std::string& text : texts) all += frame.text(text);
    return all;
  }

 private:
  bool leg_over_ = false;
};

const Frame& chat() { return frames().front(); }
Texts from(const Texts& texts, std::size_t at) {
  return {texts.begin() + static_cast<std::ptrdiff_t>(at), texts.end()};
}
Texts until(const Texts& texts, std::size_t at) {
  return {texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(at)};
}

std::string last_points(const std::string& text, std::size_t points) {
  std::size_t at = text.size();
  while (points > 0 && at > 0) {
    if (!is_continuation(text[--at])) --points;
  }
  return text.substr(at);
}

TEST_CASE("tail: cut behind every event, with every overlap up to 60 characters, the answer is whole") {
  for (const Frame& frame : frames()) {
    for (std::size_t cut = 1; cut < kPieces.size(); ++cut) {
      const std::string delivered = joined(kPieces, 0, cut);
      std::string before = "none";
      for (std::size_t points = 0; points <= 60; ++points) {
        const std::string overlap = last_points(delivered, points);
        if (overlap == before || overlap == delivered) continue;
        before = overlap;
        Texts rest = from(kPieces, cut);
        rest.front() = overlap + rest.front();
        TailHand hand(frame);
        hand.cut_leg(until(kPieces, cut));
        hand.last_leg(rest);
        INFO(name(frame.dialect) << ", cut " << cut << ", overlap " << points);
        CHECK(hand.seen.text() == joined(kPieces));
        CHECK(hand.seen.end == session::RecoveredEnd::Complete);
        REQUIRE(hand.seen.seams.size() == 1);
        const session::SeamAction& seam = hand.seen.seams.front();
        CHECK(seam.attempt == 2);
        CHECK(seam.kind == (points == 0 ? SeamKind::Resumed : SeamKind::Trimmed));
        std::uint64_t units = 0;
        for (const char c : overlap) units += utf16_units(c);
        CHECK(seam.trimmed == units);
      }
    }
  }
}

TEST_CASE("tail: begun again, what is there already is not delivered twice") {
  for (const Frame& frame : frames()) {
    for (std::size_t cut = 1; cut < kPieces.size(); ++cut) {
      for (const Texts& again : {kPieces, Texts{joined(kPieces)}, Texts{"Low tide", joined(kPieces).substr(8)}}) {
        TailHand hand(frame);
        hand.cut_leg(until(kPieces, cut));
        hand.last_leg(again);
        INFO(name(frame.dialect) << ", cut " << cut << ", " << again.size() << " events");
        CHECK(hand.seen.text() == joined(kPieces));
        CHECK(hand.seen.end == session::RecoveredEnd::Complete);
        REQUIRE(hand.seen.seams.size() == 1);
        CHECK(hand.seen.seams.front().kind == SeamKind::Replayed);
        // Numbered without holes, whatever was left out.
        seam::Seq next = 0;
        for (const TakenEvent& event : hand.seen.events) CHECK(event.seq == next++);
      }
    }
  }
}

TEST_CASE("tail: what begins again in the same pieces is delivered as if nothing had happened") {
  for (const Frame& frame : frames()) {
    TailHand whole(frame);
    whole.last_leg(kPieces);
    TailHand hand(frame);
    hand.cut_leg(until(kPieces, 8));
    hand.last_leg(kPieces);
    INFO(name(frame.dialect));
    CHECK(hand.seen.events == whole.seen.events);
  }
}

TEST_CASE("tail: another answer is refused at its first divergence, and nothing is taken back") {
  for (const Frame& frame : frames()) {
    TailHand hand(frame);
    hand.cut_leg(until(kPieces, 9));
    Texts other = kPieces;
    other[5] = "上涨";
    hand.leg(frame.begin + hand.body_of(until(other, 6)));
    INFO(name(frame.dialect));
    CHECK(hand.final_code() == "seam_refused");
    CHECK(hand.seen.text() == joined(kPieces, 0, 9));
    CHECK(hand.seen.disconnects.back() == 2);
    CHECK(hand.seen.seams.empty());
  }
}

TEST_CASE("tail: a replay that finishes early is another answer") {
  TailHand hand(chat());
  hand.cut_leg(until(kPieces, 9));
  hand.last_leg(until(kPieces, 6));
  CHECK(hand.final_code() == "seam_refused");
  CHECK(hand.seen.text() == joined(kPieces, 0, 9));
}

TEST_CASE("tail: several cuts in one answer, also within the replay") {
  for (const Frame& frame : frames()) {
    TailHand hand(frame);
    hand.cut_leg(until(kPieces, 3));
    hand.cut_leg(until(kPieces, 2));  // within the replay
    Texts rest = from(kPieces, 3);
    rest.resize(2);
    rest.front() = "covers" + rest.front();
    hand.cut_leg(rest);               // goes on
    hand.cut_leg({" 沙洲"});          // undecided
    hand.cut_leg(until(kPieces, 8));  // begins again
    hand.last_leg(from(kPieces, 8));
    INFO(name(frame.dialect));
    CHECK(hand.seen.text() == joined(kPieces));
    CHECK(hand.seen.end == session::RecoveredEnd::Complete);
    REQUIRE(hand.seen.seams.size() == 3);
    CHECK(hand.seen.seams[0].kind == SeamKind::Trimmed);
    CHECK(hand.seen.seams[0].attempt == 3);
    CHECK(hand.seen.seams[1].kind == SeamKind::Replayed);
    CHECK(hand.seen.seams[2].kind == SeamKind::Resumed);
  }
}

TEST_CASE("tail: a leg that only repeats is no progress") {
  RecovererOptions options = tail_options();
  options.max_retries = 2;
  Hand hand(options);
  hand.respond(1, Hand::event_stream());
  hand.bytes(1, chat().begin + chat().text("Low") + chat().text(" tide is low"));
  hand.lose(2);
  for (int i = 0; i < 2; ++i) {
    hand.next_attempt();
    hand.respond(3, Hand::event_stream());
    hand.bytes(3, chat().begin + chat().text("Low"));
    hand.lose(4);
  }
  CHECK(hand.final_code() == "network_error");
  CHECK(hand.seen.text() == "Low tide is low");
}

TEST_CASE("tail: merging lasts until it is decided") {
  TailHand hand(chat());
  hand.cut_leg({"Low", " tide is"});
  hand.leg(chat().begin);
  CHECK(hand.recoverer.state() == RecovererState::Merging);
  hand.bytes(3, chat().text("Low"));
  CHECK(hand.recoverer.state() == RecovererState::Merging);
  hand.bytes(3, chat().text(" tide is"));
  CHECK(hand.recoverer.state() == RecovererState::Merging);
  hand.bytes(3, chat().text(" low"));
  CHECK(hand.recoverer.state() == RecovererState::Streaming);
  CHECK(hand.seen.text() == "Low tide is low");
}

TEST_CASE("tail: the request tells what was received") {
  TailHand hand(chat());
  hand.cut_leg({"ab", "c🌊"});
  hand.next_attempt();
  const Connect& connect = hand.seen.connects.at(1);
  CHECK(connect.tail_header);
  CHECK(connect.body_fields);
  CHECK(connect.received_length == 5);
  CHECK(connect.tail_fingerprint == seam::tail_fingerprint("abc🌊"));
  CHECK_FALSE(connect.resume_seq);
  CHECK_FALSE(hand.seen.connects.at(0).tail_header);

  Hand numbered(tail_options(Dialect::SeqDelta));
  numbered.respond(1, Hand::event_stream());
  numbered.bytes(1, "data: {\"seq\":7,\"delta\":\"a\"}\n\ndata: {\"seq\":8,\"delta\":\"b\"}\n\n");
  numbered.lose(2);
  numbered.next_attempt();
  CHECK(numbered.seen.connects.at(1).resume_seq == 8);
}

TEST_CASE("tail is not taken where it was not chosen") {
  RecovererOptions options = tail_options();
  options.resume = ResumeMode::Auto;
  Hand hand(options);
  hand.respond(1, Hand::event_stream());
  hand.bytes(1, chat().begin + chat().text("Low"));
  hand.lose(2);
  CHECK(hand.final_code() == "stream_interrupted");
}

std::string thought(const std::string& text) {
  return event(R"({"choices":[{"index":0,"delta":{"reasoning_content":")" + text + R"("}}]})");
}

std::string reasoning_of(const Recorder& seen) {
  std::string all;
  for (const TakenEvent& event : seen.events) all += event.reasoning;
  return all;
}

TEST_CASE("tail: reasoning is not delivered twice") {
  const std::string thoughts = thought("Hm. ") + thought("The tide ") + thought("falls.");
  SECTION("cut in the text") {
    TailHand hand(chat());
    hand.leg(chat().begin + thoughts + chat().text("Low"));
    hand.lose(2);
    hand.next_attempt();
    hand.respond(3, Hand::event_stream());
    hand.bytes(3, chat().begin + thought("Other thoughts") + chat().text("Low") + chat().text(" tide") + chat().end);
    CHECK(reasoning_of(hand.seen) == "Hm. The tide falls.");
    CHECK(hand.seen.text() == "Low tide");
  }
  SECTION("cut in the reasoning") {
    TailHand hand(chat());
    hand.leg(chat().begin + thought("Hm. ") + thought("The t"));
    hand.lose(2);
    CHECK(hand.seen.retries.size() == 1);
    hand.next_attempt();
    hand.respond(3, Hand::event_stream());
    hand.bytes(3, chat().begin + thoughts + chat().text("Low") + chat().text(" tide") + chat().end);
    CHECK(reasoning_of(hand.seen) == "Hm. The tide falls.");
    CHECK(hand.seen.text() == "Low tide");
    CHECK(hand.seen.seams.at(0).kind == SeamKind::Replayed);
    CHECK(hand.seen.seams.at(0).trimmed == 9);
  }
  SECTION("other reasoning is another answer") {
    TailHand hand(chat());
    hand.leg(chat().begin + thoughts);
    hand.lose(2);
    hand.next_attempt();
    hand.respond(3, Hand::event_stream());
    hand.bytes(3, chat().begin + thought("Hm. The wave ") + thought("rises.") + thought(" So"));
    CHECK(hand.final_code() == "seam_refused");
  }
  SECTION("nothing is joined on to reasoning behind text") {
    TailHand hand(chat());
    hand.leg(chat().begin + chat().text("Low") + thoughts);
    hand.lose(2);
    CHECK(hand.final_code() == "stream_interrupted");
  }
}

TEST_CASE("tail: what text does not tell is not resumed") {
  const std::string refusal = event(R"({"choices":[{"index":0,"delta":{"refusal":"No."}}]})");
  const std::string tool = event(R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t"}]}}]})");
  const std::string second = event(R"({"choices":[{"index":1,"delta":{"content":"other"}}]})");
  for (const std::string& last : {refusal, tool, second}) {
    TailHand hand(chat());
    hand.leg(chat().begin + chat().text("Low") + last);
    hand.lose(2);
    CHECK(hand.final_code() == "stream_interrupted");
  }
}

TEST_CASE("tail: after the finish reason nothing is missing") {
  TailHand hand(chat());
  hand.leg(chat().begin + chat().text("Low") + event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"));
  hand.lose(2);
  CHECK(hand.seen.end == session::RecoveredEnd::Complete);
  CHECK(hand.seen.connects.size() == 1);
}

TEST_CASE("tail: where only the terminal marker is missing, it alone is delivered") {
  const Frame& anthropic = frames()[2];
  TailHand whole(anthropic);
  whole.last_leg({"Low", " tide"});
  for (const Texts& again : {Texts{"Low", " tide"}, Texts{" tide"}, Texts{}}) {
    TailHand hand(anthropic);
    const std::string all = stream(anthropic, {"Low", " tide"});
    hand.leg(all.substr(0, all.find("event: message_stop")));
    hand.lose(2);
    hand.next_attempt();
    hand.respond(3, Hand::event_stream());
    hand.bytes(3, stream(anthropic, again));
    hand.recoverer.handle_end(4, 2);
    CHECK(hand.seen.events == whole.seen.events);
    CHECK(hand.seen.end == session::RecoveredEnd::Complete);
  }
}

TEST_CASE("tail: what has been delivered is kept up to a bound") {
  const std::string piece(1u << 16, 'x');
  for (const bool over : {false, true}) {
    TailHand hand(chat());
    hand.leg(chat().begin);
    for (std::size_t size = 0; size < Recoverer::kMaxTailBytes; size += piece.size()) hand.bytes(1, chat().text(piece));
    if (over) hand.bytes(1, chat().text("x"));
    hand.lose(2);
    CHECK(hand.seen.failure.has_value() == over);
    if (over) CHECK(hand.final_code() == "stream_interrupted");
  }
}

TEST_CASE("tail: an event with text and a finish keeps its finish") {
  const std::string last = event(R"({"choices":[{"index":0,"delta":{"content":" tide"},"finish_reason":"stop"}]})");
  for (const std::string& again : {chat().text("Low"), std::string()}) {
    TailHand hand(chat());
    hand.cut_leg({"Low", " tide"});
    hand.leg(chat().begin + again + last);
    CHECK(hand.seen.text() == "Low tide");
    CHECK(hand.seen.events.back().finish == dialect::Finish::Stop);
    CHECK(hand.seen.events.back().text.empty());
  }
}

TEST_CASE("tail: an error of the new leg is told, and nothing of the undecided") {
  TailHand hand(chat());
  hand.cut_leg({"Low", " tide is"});
  hand.leg(chat().begin + chat().text("Low") + event(R"({"error":{"message":"no","code":"c"}})"));
  CHECK(hand.final_code() == "c");
  CHECK(hand.seen.text() == "Low tide is");
}

}  // namespace
}  // namespace tidemark::test
