// What is said: the built-in answer, and others to take for it.
#include "native/simulate/pieces.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace tidemark::simulate {
namespace {

constexpr std::string_view kBuiltInReasoning =
    "The question is about tides. I should explain the two bulges, why there are two a day, and what a tide mark is.";

constexpr std::string_view kBuiltInText =
    "**Why the sea comes back**\n\n"
    "Twice a day the sea withdraws, and twice a day it returns. The Moon pulls on the near side of the Earth a little "
    "harder than on its centre, and on its centre a little harder than on the far side. The water answers with two "
    "bulges: one towards the Moon, one away from it. The Earth turns beneath them, and so a beach meets high water "
    "about every twelve hours and twenty-five minutes.\n\n"
    "The Sun does the same, at a little less than half the strength. When Sun, Moon and Earth stand in line, the two "
    "pulls add up to a *spring tide*; when they stand at right angles, they spoil each other and we see a *neap tide*. "
    "Coasts make the rest: in the open ocean the range is hardly a metre, in the Bay of Fundy it is sixteen.\n\n"
    "| place | range |\n|---|---|\n| open ocean | ≈ 0.6 m |\n| Saint-Malo | 12 m |\n| Bay of Fundy | 16 m |\n\n"
    "Sailors of every language have a word for it — *marée*, *прилив*, 潮汐, 満潮, मद 🌊. What the water leaves behind "
    "on the sand, a line of foam and seaweed, is the **tide mark**: it says how far the sea had come. If you walk away "
    "and come back, you need not guess; you look for the line, and go on from there.\n\n"
    "```python\ndef high_water(first, n):\n    return [first + i * 12.42 for i in range(n)]\n```\n\n"
    "That is all the arithmetic that a beach needs. The rest is patience: the tide has never yet failed to return.";

constexpr std::string_view kOtherText =
    "A lighthouse needs three things: height, a lamp, and somebody who minds it.\n\n"
    "The lamp is the least of them. Before the Fresnel lens, keepers burnt whale oil behind plain glass, and a ship "
    "saw "
    "the light from some six miles away; afterwards the same flame reached twenty. Each tower has its own rhythm of "
    "flashes, so that sailors can tell one from another by counting seconds.\n\n"
    "1. *Fixed*: always on.\n2. *Flashing*: more dark than light.\n3. *Occulting*: more light than dark.\n\n"
    "Most of them are automatic today. The stairs are still there.";

// Words with the space before them, as models' tokens come; a cut never falls inside a code point.
std::vector<std::string> into_pieces(std::string_view text) {
  std::vector<std::string> pieces;
  std::string piece;
  for (const char c : text) {
    if ((c == ' ' || c == '\n') && !piece.empty() && piece.back() != '\n' && piece.back() != ' ') {
      pieces.push_back(std::move(piece));
      piece.clear();
    }
    piece += c;
  }
  if (!piece.empty()) pieces.push_back(std::move(piece));
  return pieces;
}

// Words that can stand for each other often enough.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOtherWords = {{{"the", "that"},
                                                                                        {"a", "one"},
                                                                                        {"is", "remains"},
                                                                                        {"and", "as well as"},
                                                                                        {"of", "from"},
                                                                                        {"to", "towards"},
                                                                                        {"in", "within"},
                                                                                        {"day", "daytime"},
                                                                                        {"sea", "ocean"},
                                                                                        {"you", "one"},
                                                                                        {"it", "this"},
                                                                                        {"with", "using"}}};

}  // namespace

std::string Pieces::joined_text() const {
  std::string joined;
  for (const std::string& piece : text) joined += piece;
  return joined;
}

Pieces built_in_pieces() { return {{}, into_pieces(kBuiltInText)}; }

std::vector<std::string> built_in_reasoning() { return into_pieces(kBuiltInReasoning); }

Pieces other_pieces() { return {{}, into_pieces(kOtherText)}; }

Pieces paraphrased(const Pieces& pieces) {
  Pieces said;
  std::size_t number = 0;
  for (const std::string& word : into_pieces(pieces.joined_text())) {
    const std::size_t begin = word.find_first_not_of(" \n");
    const std::string bare = begin == std::string::npos ? std::string() : word.substr(begin);
    std::string instead = bare;
    for (const auto& [usual, other] : kOtherWords) {
      if (bare == usual) instead = other;
    }
    const bool left_out = ++number > 2 && number % 4 == 0 && instead == bare;
    if (left_out) instead.clear();
    said.text.push_back(word.substr(0, begin) + instead);
  }
  return said;
}

}  // namespace tidemark::simulate
