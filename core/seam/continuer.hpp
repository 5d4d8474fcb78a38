// Who continues an answer after a seam (contract § 5).
#pragma once

#include <cstdint>

namespace tidemark::seam {

/// Who continues, and so what counts as overlap.
enum class Continuer : std::uint8_t {
  SameGeneration,  // a server that resumes its own generation: any overlap is trimmed, from one code point on
  Model,           // a model asked to go on: a match lighter than overlap_min is chance, and kept
  Echo,            // a model whose provider is known to send the whole prefix again first
};

}  // namespace tidemark::seam
