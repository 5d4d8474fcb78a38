// Learning a frame, and comparing with it.
#include "core/dialect/frame_guess.hpp"

#include <utility>

namespace tidemark::dialect {
namespace {

// A string's inside from `at` to its closing quote, at which `at` is left.
bool take_string(const char*& at, const char* end, JsonString& out) {
  const char* const begin = at;
  out.escaped = false;
  for (;;) {
    at = scan::find_plain_end(at, end);
    if (at == end || static_cast<unsigned char>(*at) < 0x20) return false;
    if (*at == '"') break;
    out.escaped = true;
    at = end_of_escape(at, end);
    if (at == nullptr) return false;
  }
  out.raw = {begin, static_cast<std::size_t>(at - begin)};
  out.present = true;
  return true;
}

// A whole number short enough not to overflow; what follows it must be the frame's next byte.
bool take_number(const char*& at, const char* end, std::uint64_t& value) {
  constexpr int kMaxDigits = 19;
  const char* const begin = at;
  value = 0;
  while (at != end && *at >= '0' && *at <= '9') value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
  const auto digits = at - begin;
  return digits > 0 && digits <= kMaxDigits && (digits == 1 || *begin != '0');
}

}  // namespace

void Holes::add(Hole::Role role, std::string_view token) {
  if (size_ == kMax) {
    overflown_ = true;
  } else {
    holes_[size_++] = {role, token};
  }
}

void Holes::sort() {
  for (std::size_t i = 1; i < size_; ++i) {
    for (std::size_t k = i; k > 0 && holes_[k].token.data() < holes_[k - 1].token.data(); --k) {
      std::swap(holes_[k], holes_[k - 1]);
    }
  }
}

void FrameGuess::learn(const sse::Event& event, Kind kind, Holes holes) {
  holes.sort();
  name_.assign(event.name);
  data_.assign(event.data);
  kind_ = kind;
  size_ = holes.size();
  for (std::size_t i = 0; i < size_; ++i) {
    const auto at = static_cast<std::size_t>(holes[i].token.data() - event.data.data());
    pieces_[i] = {at, holes[i].role, at + holes[i].token.size()};
  }
}

bool FrameGuess::match(const sse::Event& event, Match& out) const {
  if (size_ == 0 || event.name.size() != name_.size()) return false;
  if (!scan::equal(event.name.data(), name_.data(), name_.size())) return false;
  const char* at = event.data.data();
  const char* const end = at + event.data.size();
  const auto same = [&](std::size_t from, std::size_t to) {
    const std::size_t size = to - from;
    if (static_cast<std::size_t>(end - at) < size || !scan::equal(at, data_.data() + from, size)) return false;
    at += size;
    return true;
  };

  std::size_t from = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const Piece& piece = pieces_[i];
    if (!same(from, piece.end)) return false;
    from = piece.resume;
    JsonString varying;
    switch (piece.role) {
      case Hole::Role::Text:
      case Hole::Role::Reasoning:
        if (!take_string(at, end, out.text) || out.text.raw.empty()) return false;
        break;
      case Hole::Role::Sequence: {
        std::uint64_t value = 0;
        if (!take_number(at, end, value)) return false;
        out.sequence = value;
        break;
      }
      case Hole::Role::Varying:
        if (!take_string(at, end, varying)) return false;
        break;
    }
  }
  return same(from, data_.size()) && at == end;
}

}  // namespace tidemark::dialect
