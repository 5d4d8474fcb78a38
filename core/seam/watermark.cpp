// Watermark and event ids.
#include "core/seam/watermark.hpp"

namespace tidemark::seam {
namespace {

constexpr Seq kMaxSeq = (Seq{1} << 53) - 1;  // what a JavaScript number holds exactly

std::optional<Seq> parse_natural(std::string_view digits) {
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  Seq value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
    if (value > kMaxSeq) return std::nullopt;
  }
  return value;
}

}  // namespace

Watermark::Verdict Watermark::offer(Seq seq) {
  if (seq <= value_) return Verdict::Duplicate;
  if (seq != value_ + 1) return Verdict::Hole;
  value_ = seq;
  return Verdict::Accept;
}

std::optional<EventId> parse_event_id(std::string_view id) {
  const std::size_t dash = id.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto seq = parse_natural(id.substr(dash + 1));
  if (!seq) return std::nullopt;
  return EventId{id.substr(0, dash), *seq};
}

std::optional<Seq> parse_watermark(std::string_view text) {
  if (text == "-1") return kNothing;
  return parse_natural(text);
}

}  // namespace tidemark::seam
