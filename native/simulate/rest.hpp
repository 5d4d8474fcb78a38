// The rest of an answer, told by a model that was shown the beginning.
#pragma once

#include <cstddef>
#include <string>

#include "native/simulate/script.hpp"

namespace tidemark::simulate {

/// Whether the rest is a response of its own, or more of the one that was begun.
enum class Rest : std::uint8_t {
  Fresh,  // with a preamble and ids of its own, everything counted from 0
  Same,   // its numbers are those of the whole answer (seq-delta)
};

struct Telling {
  std::size_t from = 0;     // bytes of the answer's text that are not told
  std::string lead;         // told before the rest, as one event
  std::size_t shown = 0;    // tokens of the answer that the prompt contained; added to its number in the usage
  std::size_t leading = 0;  // tokens of `lead`
  std::string mark;         // ends the ids of a fresh response
};

/// The events of `whole` that come after its first `telling.from` bytes of text: an event that is cut has the rest of
/// its text, and reasoning and tool calls from before are left out. A block or item that has nothing left to say is
/// left out as well. Ids, indices, numbers, the texts that `done` events repeat and the usage are a fresh response's.
/// Precondition: `from` is at most the text's length, which is not 0, and cuts no code point.
Script rest_of(const Script& whole, Rest kind, const Telling& telling);

/// The same answer under other ids.
Script marked(const Script& script, const std::string& mark);

/// So many of the script's text events begin in the first `bytes` bytes of its text.
std::size_t tokens_in(const Script& script, std::size_t bytes);

}  // namespace tidemark::simulate
