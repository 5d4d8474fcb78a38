// The guess at the next event's frame changes no result: recorded streams, streams with changed bytes, and by hand.
#include <string>
#include <string_view>

#include "core/base/random.hpp"
#include "core/dialect/frame_guess.hpp"
#include "tests/catch.hpp"
#include "tests/core/dialect/stream_pair.hpp"
#include "tests/recordings.hpp"

namespace tidemark::dialect {
namespace {

using tidemark::test::Recording;

TEST_CASE("recorded streams mean the same with and without the shortcut") {
  for (const Recording& recording : tidemark::test::recordings()) {
    INFO(recording.file);
    test::StreamPair pair(recording.dialect);
    for (const std::string& data : recording.data) {
      const auto difference = pair.difference("", data);
      INFO(data);
      REQUIRE(difference.value_or("") == "");
    }
  }
}

TEST_CASE("recorded streams with changed bytes mean the same with and without the shortcut") {
  constexpr std::string_view kBytes = "{}[]\":,\\u0d89aeE+-.tfn \x01\x80\xC2\xED\xFF";
  Random random(1);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random.next() % bound); };
  for (const Recording& recording : tidemark::test::recordings()) {
    INFO(recording.file);
    test::StreamPair pair(recording.dialect);
    for (std::size_t i = 0; i < recording.data.size() && i < 120; ++i) {
      // The event as it is, so that its frame is known, then the next one with changes in it.
      std::string changed = recording.data[std::min(i + 1, recording.data.size() - 1)];
      if (changed.size() > 4000) continue;
      for (int round = 0; round < 4; ++round) {
        std::string data = changed;
        const std::size_t at = below(data.size());
        switch (below(3)) {
          case 0:
            data[at] = kBytes[below(kBytes.size())];
            break;
          case 1:
            data.insert(at, 1, kBytes[below(kBytes.size())]);
            break;
          default:
            data.erase(at, 1);
            break;
        }
        for (const std::string& each : {recording.data[i], data}) {
          const auto difference = pair.difference("", each);
          INFO(each);
          REQUIRE(difference.value_or("") == "");
        }
      }
    }
  }
}

// An event with the text and number of `token` marked as holes.
struct Learned {
  explicit Learned(const std::string& data) : data_(data) {
    Holes holes;
    const auto hole = [&](Hole::Role role, std::string_view token) {
      const std::size_t at = data_.find(token);
      if (at != std::string::npos) holes.add(role, std::string_view(data_).substr(at, token.size()));
    };
    hole(Hole::Role::Varying, "vary");  // not in the order in which they stand
    hole(Hole::Role::Text, "text");
    hole(Hole::Role::Sequence, "12");
    sse::Event event;
    event.name = "n";
    event.data = data_;
    guess.learn(event, Kind::Text, holes);
  }
  bool matches(std::string_view data, std::string_view name = "n") {
    sse::Event event;
    event.name = name;
    event.data = data;
    match = {};
    return guess.match(event, match);
  }
  FrameGuess guess;
  FrameGuess::Match match;

 private:
  std::string data_;
};

TEST_CASE("a frame fits what differs in its holes only") {
  Learned frame(R"({"s":12,"d":"text","x":{"v":"vary"}})");
  CHECK(frame.matches(R"({"s":12,"d":"text","x":{"v":"vary"}})"));
  CHECK(frame.matches(R"({"s":7,"d":"other \" one","x":{"v":""}})"));
  CHECK(frame.match.text.raw == R"(other \" one)");
  CHECK(frame.match.text.escaped);
  CHECK(frame.match.sequence == 7u);
  CHECK(frame.matches(R"({"s":9999999999999999999,"d":"y","x":{"v":"z"}})"));
  for (const std::string_view other :
       {R"({"s":12,"d":"","x":{"v":"vary"}})",       // no text: may mean something else
        R"({"s":12,"d":"text","x":{"v":"vary"}} )",  // longer
        R"({"s":12,"d":"text","x":{"v":"vary"})",    // shorter
        R"({"s":12,"d":"text","x":{"w":"vary"}})",   // another key
        R"({"s":12,"d":"te"xt","x":{"v":"vary"}})",  // a string that ends early
        R"({"s":12,"d":"te\xt","x":{"v":"vary"}})",  // no escape
        R"({"s":12,"d":null,"x":{"v":"vary"}})",     // another kind of token
        R"({"s":"12","d":"text","x":{"v":"vary"}})", R"({"s":-12,"d":"text","x":{"v":"vary"}})",
        R"({"s":012,"d":"text","x":{"v":"vary"}})", R"({"s":1.5,"d":"text","x":{"v":"vary"}})",
        R"({"s":1e5,"d":"text","x":{"v":"vary"}})", R"({"s":,"d":"text","x":{"v":"vary"}})",
        R"({"s":99999999999999999999,"d":"text","x":{"v":"vary"}})",  // too long for the quick way
        R"({"s":12,"d":"text","x":{"v":7}})", "", "{"}) {
    INFO(other);
    CHECK_FALSE(frame.matches(other));
  }
  CHECK_FALSE(frame.matches(R"({"s":12,"d":"text","x":{"v":"vary"}})", "m"));
  CHECK_FALSE(frame.matches(R"({"s":12,"d":"text","x":{"v":"vary"}})", ""));
  CHECK_FALSE(frame.matches("{\"s\":12,\"d\":\"te\nxt\",\"x\":{\"v\":\"vary\"}}"));
  frame.guess.forget();
  CHECK_FALSE(frame.matches(R"({"s":12,"d":"text","x":{"v":"vary"}})"));
}

TEST_CASE("more holes than there is room for are noticed") {
  Holes holes;
  for (std::size_t i = 0; i < Holes::kMax; ++i) holes.add(Hole::Role::Varying, "x");
  CHECK_FALSE(holes.overflown());
  holes.add(Hole::Role::Varying, "x");
  CHECK(holes.overflown());
  CHECK(holes.size() == Holes::kMax);

  // Such an event is read the long way each time, and its texts are still right.
  test::StreamPair pair(Dialect::Gemini);
  const auto parts = [](const std::string& text) {
    std::string out = R"({"candidates":[{"content":{"parts":[)";
    for (std::size_t i = 0; i <= Holes::kMax; ++i) out += (i == 0 ? "" : ",") + (R"({"text":")" + text + "\"}");
    return out + "]}}]}";
  };
  CHECK(pair.difference("", parts("a")).value_or("") == "");
  CHECK(pair.difference("", parts("bc")).value_or("") == "");
  CHECK(pair.plain().answer().text_bytes == 3 * (Holes::kMax + 1));
}

}  // namespace
}  // namespace tidemark::dialect
