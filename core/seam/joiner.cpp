// Overlap first, then the white space that the model was not shown.
#include "core/seam/joiner.hpp"

#include <algorithm>

namespace tidemark::seam {

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::None:
      return "none";
    case Refusal::Restart:
      return "restart";
    case Refusal::LeadIn:
      return "lead-in";
    case Refusal::Different:
      return "different";
    case Refusal::Divergence:
      return "divergence";
  }
  return {};
}

Joiner::Joiner(std::string_view delivered, const JoinOptions& options)
    : stripped_(delivered.substr(delivered.size() - std::min(options.stripped_bytes, delivered.size()))),
      trimmer_(delivered, options.continuer == Continuer::Model ? Continuer::Model : Continuer::SameGeneration,
               options.overlap_min) {}

Joiner::Decision Joiner::offer(std::string_view text) {
  if (decided_) return {Step::Join, 0};
  if (text.empty()) return {};
  offered_ += text;
  if (!trimmer_.decided()) {
    const auto overlap = trimmer_.offer(text);
    if (!overlap.decided) return {};
    trim_bytes_ = overlap.trim_bytes;
  }
  // All of it so far is white space that was stripped; more of that may follow.
  const std::size_t again = stripped_again();
  if (again == offered_.size() && again < stripped_.size()) return {};
  return decide();
}

Joiner::Decision Joiner::finish() {
  if (decided_) return {Step::Join, 0};
  if (!trimmer_.decided()) trim_bytes_ = trimmer_.finish().trim_bytes;
  return decide();
}

Joiner::Decision Joiner::decide() {
  decided_ = true;
  return {Step::Join, std::max(trim_bytes_, stripped_again())};
}

std::size_t Joiner::stripped_again() const {
  const auto differs = std::mismatch(stripped_.begin(), stripped_.end(), offered_.begin(), offered_.end()).first;
  return static_cast<std::size_t>(differs - stripped_.begin());
}

}  // namespace tidemark::seam
