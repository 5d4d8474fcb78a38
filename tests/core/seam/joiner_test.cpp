// Joining: overlap, white space that the model was not shown, echoes, and continuations that are none.
#include "core/seam/joiner.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tidemark::seam {
namespace {

using Step = Joiner::Step;

constexpr JoinOptions kModel{};

// What the reader has after a continuation; with a refusal, its name in brackets after what was delivered.
std::string join(const std::string& delivered, const std::vector<std::string>& events,
                 const JoinOptions& options = kModel) {
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

constexpr JoinOptions kEcho{.continuer = Continuer::Echo};

TEST_CASE("an echo of the prefix is dropped as it comes, whatever it weighs", "[joiner]") {
  CHECK(join("The tide", {"The", " tide", " comes in."}, kEcho) == "The tide comes in.");
  CHECK(join("The tide", {"The tide comes in."}, kEcho) == "The tide comes in.");
  CHECK(join("Hi", {"H", "i", " there."}, kEcho) == "Hi there.");
  CHECK(join("The tide", {"The tide"}, kEcho) == "The tide");
  CHECK(join("", {"The tide"}, kEcho) == "The tide");
  // White space that was not shown is none of the echo, and comes again after it, or doesn't.
  const JoinOptions options{.continuer = Continuer::Echo, .stripped_bytes = 2};
  CHECK(join("One.\n\n", {"One.", "\n\n", "Two."}, options) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"One.\n", "\nTwo."}, options) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"One.", "Two."}, options) == "One.\n\nTwo.");
  CHECK(join("One.\n\n", {"One.", "\n\n"}, options) == "One.\n\n");

  const std::string long_text(20000, 'x');
  Joiner joiner(long_text, kEcho);
  CHECK(joiner.offer(long_text.substr(0, 3)).step == Step::Hold);
  CHECK(joiner.offer(long_text.substr(0, 9)).step == Step::Drop);
  CHECK(joiner.offer(long_text.substr(0, 15000)).step == Step::Drop);
  const Joiner::Decision decision = joiner.offer(long_text.substr(0, 4988) + "y");
  CHECK(decision.step == Step::Join);
  CHECK(decision.trim_bytes == 4988);
}

TEST_CASE("an echo that leaves off is refused, and no echo at all is a continuation", "[joiner]") {
  CHECK(join("The tide comes in and", {"The tide", " comes", " out"}, kEcho) == "The tide comes in and[divergence]");
  CHECK(join("The tide comes in and", {"The tide comes"}, kEcho) == "The tide comes in and[divergence]");
  CHECK(join("The tide comes in and", {" goes", " out."}, kEcho) == "The tide comes in and goes out.");
  CHECK(join("The tide comes in, The", {" T", "rent"}, kEcho) == "The tide comes in, The Trent");
  CHECK(join("Then: one, two, ", {"The", "n: one more"}, kEcho) == "Then: one, two, Then: one more");
  CHECK(join("Then: one, two, three", {"one, two, three", " four"}, kEcho) == "Then: one, two, three four");
}

const std::string kTides =
    "Tides are the regular rise and fall of the sea, caused mainly by the pull of the Moon and, to a lesser degree, by "
    "that of the Sun. As the Earth turns, each place on the coast passes through two bulges of water a day. When the "
    "Sun and the Moon stand in one line, their pulls add up and we get spring tides; at the quar";
const std::string kAfterSentence = kTides + "ters they work against each other.\n\n";

std::string verdict(const std::string& delivered, const std::vector<std::string>& events) {
  const std::string joined = join(delivered, events, kModel).substr(delivered.size());
  std::string sent;
  for (const std::string& event : events) sent += event;
  return joined == sent ? "joined" : joined;
}

TEST_CASE("an answer that begins again is refused", "[joiner]") {
  const std::vector<std::string> again{"Tides", " are",  " the", " regular", " rise",   " and",    " fall",
                                       " of",   " the",  " sea", ",",        " caused", " mainly", " by",
                                       " the",  " pull", " of",  " the",     " Moon",   " and"};
  CHECK(verdict(kTides, again) == "[restart]");
  CHECK(verdict(kAfterSentence, again) == "[restart]");
  CHECK(verdict(kTides + "ters ", again) == "[restart]");
  CHECK(verdict(kTides, {"## Tides\n**are** the *regular* rise and fall of"}) == "[restart]");
  // Less is enough where nothing can begin, too little nowhere.
  CHECK(verdict(kTides, {"Tides are the regular rise and fall of"}) == "[restart]");
  CHECK(verdict(kAfterSentence, {"Tides are the regular ones of all things, and sailors know them well enough."}) ==
        "joined");
  // In other words, where nothing can begin.
  const std::string later = kAfterSentence +
                            "The second bulge puzzles many people. How high the water finally comes depends on the "
                            "shape of the shore: a funnel of rock raises it by as much as sixteen metres, while other "
                            "waters hardly notice it. Anybody who sails should carry a table of both, and a wa";
  CHECK(verdict(later, {"Caused", " mainly by the pull of the Moon, and to a lesser degree by the Sun, tides",
                        " come as the Earth turns: each coast passes through two of them"}) == "[restart]");
}

TEST_CASE("what an answer says several times, it may say once more", "[joiner]") {
  const std::string refrain = "The ferry leaves at nine, the ferry leaves at nine,\n";
  const std::string verse = "and I have not yet packed my bag or hung the wash in line.\n\n";
  CHECK(verdict(refrain + verse, {refrain, "and half the village stands to wave."}) == "joined");
  CHECK(verdict(refrain + verse + refrain + verse, {refrain, verse, refrain, verse + "!"}) != "[restart]");
  const std::string row = "| 0.00 | 0.00 | 0.00 | nothing to be seen here |\n";
  CHECK(verdict(row + row + row,
                {"| 0", ".00", " |", " 0.00", " | 0.00", " | nothing to be seen", " here |\n", "| 1"}) == "joined");
}

TEST_CASE("a light overlap of the first events does not end the wait for the whole of it", "[joiner]") {
  const std::string delivered = "in every language: прилив, 潮汐, 満潮,";
  CHECK(join(delivered, {"прилив", ",", " 潮汐", ",", " 満潮", ",", " मद"}, {.overlap_min = 1}) == delivered + " मद");
  CHECK(join("a, b; c, d", {", d"}, {.overlap_min = 1}) == "a, b; c, d");
}

TEST_CASE("another answer is told by a joint that no sentence has", "[joiner]") {
  const std::string before = "Twice a day the sea withdraws from the shore, and the boats lie on their sides";
  CHECK(verdict(before, {"A", " lighthouse", " needs", " three", " things"}) == "[different]");
  CHECK(verdict(before, {"**Why", " that", " ocean", " back**\n\n", "Twice"}) == "[different]");
  CHECK(verdict(before + ",", {"A", " lighthouse", " needs", " three"}) == "[different]");
  CHECK(verdict(before + ",", {"**Why", " that", " ocean", " back**"}) == "[different]");
  CHECK(verdict("They all look up at the same old and silent Moon", {"**Why", " that", " ocean", " comes"}) ==
        "[different]");
  CHECK(verdict(before + ",", {" and", " wait"}) == "joined");
  CHECK(verdict("Paul,John,George,", {"A", " Drummer"}) == "joined");
  CHECK(verdict(before + " as **they", {"** do"}) == "joined");
}

TEST_CASE("a short answer that is said again is refused", "[joiner]") {
  for (const char* begun : {"Yes", "The ", "The water ", "# Tides", "1. First", "系统架", "```c"}) {
    const std::string again = std::string(begun) + "and all the rest of it.";
    INFO(begun);
    CHECK(verdict(begun, {again}) == "[restart]");
    CHECK(verdict(begun, {again.substr(0, 3), again.substr(3)}) == "[restart]");
  }
  CHECK(join("ha ha", {" ha"}) == "ha ha ha");
  CHECK(join("The", {" Then"}) == "The Then");
  CHECK(join("The", {"Th", "ings"}) == "TheThings");
  CHECK(join("1", {"1", "1"}) == "111");
  CHECK(join("#", {"# Tides"}) == "## Tides");
}

TEST_CASE("an overlap in small pieces is waited for, unless it is a habit", "[joiner]") {
  const std::string delivered = "The boat lay in the reeds behind her house, green with age";
  CHECK(join(delivered, {"reeds", " behind", " her", " house", ", green", " with", " age", ", and"}) ==
        delivered + ", and");
  CHECK(join(delivered, {"reeds", " behind", " her", " hut"}) == delivered + "reeds behind her hut");
  const std::string laugh = "ha ha ha ha ha ha ha ha ha ha ha ha ha ha";
  CHECK(verdict(laugh, {" h", "a", " ", "ha", " ha", " ha", " ha", " ha ha ha", " ho"}) == "joined");
  CHECK(join(laugh, {" h", "a", " ", "ha", " ha", " ha", " ha", " ha ha ha", " ho"}) ==
        laugh + " ha ha ha ha ha ha ha ha ho");
  // All of it is an answer that was started again.
  CHECK(verdict(delivered, {"The", " boat", " lay", " in the reeds", " behind", " her house,", " green with age",
                            ", and"}) == "[restart]");
  CHECK(join(delivered, {delivered, ", and"}) == delivered + ", and");
}

TEST_CASE("a continuation that talks about continuing is refused", "[joiner]") {
  for (const char* lead_in :
       {"Sure, continuing:\n\n", "Sure! Here’s the rest:\n",
        "Continuing from where I left off: ", "**Continuing from where we left off:**\n",
        "I apologize for the interruption. ", "Let me continue from there. ", "Okay, let's continue. ",
        "Here is the rest of the answer:\n", "好的，继续：\n", "接着上文继续：", "続きです。\n", "はい、続けます。",
        "Natürlich, hier ist der Rest:\n", "Bien sûr, voici la suite :\n", "Claro, continúo: ", "Конечно, продолжаю:\n",
        "네, 계속하겠습니다.\n", "I'm sorry, but I can't help with that request."}) {
    INFO(lead_in);
    CHECK(verdict(kTides, {lead_in, "ters they"}).front() == '[');
    CHECK(verdict(kAfterSentence, {lead_in, "The second bulge"}).front() == '[');
  }
  CHECK(verdict(kTides, {"I", "'m", " sorry", ", but", " I", " can't", " continue", "."}) == "[different]");
  CHECK(verdict(kTides, {"Sure", ",", " continuing", ":\n\n", "ters"}) == "[lead-in]");
}

TEST_CASE("prose that only looks like a lead-in is joined", "[joiner]") {
  for (const char* text :
       {"Sure, the paint dried, and then the apples had to be picked.",
        "Sure, continuing education is what nurses need.", "Let me continue, she would say.",
        "Here is the rest of the code:\n", "\"Sure, continuing:\" he said.",
        "I'm sorry, I said to the boat, but I can't leave you here.", "Continuing education matters.",
        "Okay. The next step is to mix the flour with water.", "好的，继续走吧，老人对自己说。",
        "続きを書こうとしても、猫が動かない。", "Claro, dicen, el viento también manda."}) {
    INFO(text);
    CHECK(verdict(kAfterSentence, {text}) == "joined");
  }
  CHECK(verdict(kTides + "ters he said: ", {"sure, continuing: no"}) == "joined");
}

TEST_CASE("words that are cut before upper case are joined", "[joiner]") {
  const std::string filler = "It has often been asked which of them one should buy, and the answer is never the same. ";
  const auto cut = [&](const std::string& before, const std::string& after) {
    INFO(before << "+" << after);
    CHECK(verdict(filler + before, {after, " and", " what", " it", " costs", " depends", " on", " you."}) == "joined");
  };
  cut("Buy an i", "Phone");
  cut("Write it in La", "TeX");
  cut("Use Java", "Script");
  cut("Sell it on e", "Bay");
  cut("Put it on Git", "Hub");
  cut("Ask Mr Mc", "Donald");
  cut("Install mac", "OS");
  cut("The strand of m", "RNA");
  cut("The call `use", "State` keeps the value");
  cut("Then fetchResults calls use", "State(value)");
  cut("Liebe Student", "Innen");
  cut("It weighs 5 k", "W");
  cut("Written in C", "# by hand");
  cut("The meeting in ", "London");
  cut("Der ", "Bahnhof");
  cut("| Berlin", "| Hamburg |");
  cut("This is **bold", "** New");
  cut("因此", "系统的可扩展性很重要");
}

TEST_CASE("a heading, a code block or a sentence inside a word begins another answer", "[joiner]") {
  CHECK(verdict(kTides, {"## What", " tides are"}) == "[different]");
  CHECK(verdict(kTides, {"```python\n", "import"}) == "[different]");
  CHECK(verdict(kTides, {"My", " grandmother", " kept a boat"}) == "[different]");
  CHECK(verdict("系统架构设计是软件开发中最重要的环节之一，它决", {"## 系统架构", "是"}) == "[different]");
  CHECK(verdict("```python\nimport os  # read", {"## The rest of the comment"}) == "joined");
}

TEST_CASE("the end of the attempt decides with what there is", "[joiner]") {
  CHECK(verdict(kAfterSentence, {"Sure", ", contin"}) == "joined");
  CHECK(verdict(kAfterSentence, {"Tides", " are"}) == "joined");
  CHECK(verdict(kTides, {"Tides", " are"}) == "[different]");
  CHECK(verdict(kTides, {"Sure", ", continuing:"}) == "[lead-in]");
}

TEST_CASE("a refusal stays one", "[joiner]") {
  Joiner joiner(kTides, kModel);
  CHECK(joiner.offer("Sure, continuing: ").step == Step::Refuse);
  CHECK(joiner.decided());
  CHECK(joiner.offer("ters").step == Step::Refuse);
  CHECK(joiner.finish().why == Refusal::LeadIn);
}

TEST_CASE("no more than a kilobyte is held for evidence", "[joiner]") {
  const std::string delivered = kTides + std::string(2000, '.') + kTides;
  Joiner joiner(delivered, kModel);
  std::size_t held = 0;
  for (std::size_t at = kTides.size() + 1; !joiner.decided(); ++at) {
    REQUIRE(joiner.offer(delivered.substr(at, 1)).step != Step::Drop);
    ++held;
  }
  CHECK(held <= Evidence::kMostBytes);
}

}  // namespace
}  // namespace tidemark::seam
