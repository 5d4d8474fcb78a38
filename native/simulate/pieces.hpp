// An answer apart from any dialect: what the simulated upstream says, and what it may say instead.
#pragma once

#include <string>
#include <vector>

namespace tidemark::simulate {

/// Pieces as a model would stream them; none is cut inside a code point.
struct Pieces {
  std::vector<std::string> reasoning;
  std::vector<std::string> text;
  std::string joined_text() const;
};

/// The built-in answer: some hundred words on tides, with code points of one to four bytes.
Pieces built_in_pieces();

/// What is thought where an answer is to have reasoning, but has none of its own.
std::vector<std::string> built_in_reasoning();

/// An answer to another question.
Pieces other_pieces();

/// The same answer in other words: it begins like it, and then words are replaced or left out.
Pieces paraphrased(const Pieces& pieces);

}  // namespace tidemark::simulate
