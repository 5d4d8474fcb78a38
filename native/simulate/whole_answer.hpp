// An answer that is not streamed.
#pragma once

#include <string>

#include "core/dialect/dialect.hpp"

namespace tidemark::simulate {

struct WholeAnswer {
  std::string text;
  std::size_t prompt_tokens = 0;
  std::size_t tokens = 0;  // of the text
  std::string mark;        // ends the ids, so that no two answers have the same
};

/// The JSON body in the dialect. openai-chat, openai-responses and anthropic-messages; precondition: one of these.
std::string whole_answer(dialect::Dialect spoken, const WholeAnswer& answer);

}  // namespace tidemark::simulate
