// Joining: overlap, and white space that the model was not shown.
#include "core/seam/joiner.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tidemark::seam {
namespace {

using Step = Joiner::Step;

constexpr JoinOptions kModel{};

// What the reader has after a continuation; with a refusal, its name in brackets after what was delivered.
std::string join(const std::string& delivered, const std::vector<std::string>& events, const JoinOptions& options) {
  Joiner joiner(delivered, options);
  std::string text = delivered, held;
  const auto take = [&](const Joiner::Decision& decision) {
    if (decision.step == Step::Drop) held.clear();
    if (decision.step == Step::Join) text += held.substr(decision.trim_bytes);
    if (decision.step == Step::Join) held.clear();
    if (decision.step == Step::Refuse) text += "[" + std::string(name(decision.why)) + "]";
    return decision.step != Step::Refuse;
  };
  for (const std::string& event : events) {
    held += event;
    if (!take(joiner.offer(event))) return text;
  }
  if (!joiner.decided()) take(joiner.finish());
  CHECK(joiner.decided());
  return text;
}

JoinOptions stripped(std::size_t bytes) { return {.stripped_bytes = bytes}; }

TEST_CASE("overlap goes by who continues", "[joiner]") {
  CHECK(join("系统架构", {"构设计"}, {.continuer = Continuer::SameGeneration}) == "系统架构设计");
  CHECK(join("ha ha", {" ha"}, kModel) == "ha ha ha");
  CHECK(join("one two three four", {"three four", " five"}, {.overlap_min = 10}) == "one two three four five");
  CHECK(join("one two three four", {"three four", " five"}, {.overlap_min = 11}) ==
        "one two three fourthree four five");
  CHECK(join("abc", {}, kModel) == "abc");
}

TEST_CASE("white space that the model was not shown is not said twice", "[joiner]") {
  CHECK(join("One.\n\n", {"\n\n", "Two."}, stripped(2)) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"\n", "\n", "Two."}, stripped(2)) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"\n\nTwo."}, stripped(2)) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"\n", "Two."}, stripped(2)) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"\n\n\nTwo."}, stripped(2)) == "One.\n\n\nTwo.");
  CHECK(join("One.\n\n", {" Two."}, stripped(2)) == "One.\n\n Two.");
  CHECK(join("One.\n\n", {"Two."}, stripped(2)) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"\n\nTwo."}, kModel) == "One.\n\n\n\nTwo.");
  CHECK(join("    ", {" ", " ", " ", " ", "x"}, stripped(4)) == "    x");
  CHECK(join("    ", {" ", " ", " "}, stripped(9)) == "    ");
}

TEST_CASE("once joined, nothing is looked at again", "[joiner]") {
  const std::string delivered = "the tide comes in";
  Joiner joiner(delivered, kModel);
  CHECK(joiner.offer("tide comes in").trim_bytes == 13);
  CHECK(joiner.decided());
  CHECK(joiner.offer("tide comes in").step == Step::Join);
  CHECK(joiner.offer("tide comes in").trim_bytes == 0);
  CHECK(joiner.finish().trim_bytes == 0);
}

}  // namespace
}  // namespace tidemark::seam
