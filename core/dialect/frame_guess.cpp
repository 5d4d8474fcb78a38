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

// Whether the block is lines of id, event and data alone, each ended by a line feed, the data being one of them. `id`
// is then the id line's value, empty where there is none.
bool has_plain_lines(const sse::Event& event, std::string_view& id) {
  const std::string_view block = event.block;
  const bool data_within =
      event.data.data() >= block.data() && event.data.data() + event.data.size() <= block.data() + block.size();
  if (block.empty() || !data_within || block.find('\r') != std::string_view::npos) return false;
  for (std::size_t at = 0, end = 0; at < block.size(); at = end + 1) {
    end = block.find('\n', at);
    if (end == std::string_view::npos) return false;
    const std::string_view line = block.substr(at, end - at);
    if (starts_with(line, "data:") || starts_with(line, "event:")) continue;
    constexpr std::size_t kValue = 4;
    if (!starts_with(line, "id: ") || line.size() == kValue || !id.empty()) return false;
    id = line.substr(kValue);
  }
  return event.has_id == !id.empty();
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

void FrameGuess::add_piece(std::size_t at, Hole::Role role, std::size_t size) {
  pieces_[size_++] = {at, role, at + size};
}

void FrameGuess::learn(const sse::Event& event, Kind kind, Holes holes) {
  holes.sort();
  kind_ = kind;
  size_ = 0;
  std::string_view id;
  whole_block_ = has_plain_lines(event, id);
  text_.assign(whole_block_ ? event.block : event.data);
  name_.assign(event.name);
  has_id_ = event.has_id;
  const auto place = [origin = whole_block_ ? event.block.data() : event.data.data()](std::string_view part) {
    return static_cast<std::size_t>(part.data() - origin);
  };
  if (whole_block_) {
    data_in_text_ = {place(event.data), place(event.data) + event.data.size()};
    name_in_text_ = {};
    if (!event.name.empty()) name_in_text_ = {place(event.name), place(event.name) + event.name.size()};
  }
  const bool id_first = !id.empty() && id.data() < event.data.data();
  if (id_first) add_piece(place(id), Hole::Role::EventId, id.size());
  for (std::size_t i = 0; i < holes.size(); ++i) {
    add_piece(place(holes[i].token), holes[i].role, holes[i].token.size());
  }
  if (!id.empty() && !id_first) add_piece(place(id), Hole::Role::EventId, id.size());
}

// Compares from `at`; returns where the text ends, or nullptr. Of `found` the views are set that lie in a whole block.
const char* FrameGuess::match_text(const char* at, const char* end, sse::Event& found, Match& out) const {
  std::size_t from = 0;
  const char* name = nullptr;
  const char* data = nullptr;
  const auto same = [&](std::size_t to) {
    const std::size_t size = to - from;
    if (static_cast<std::size_t>(end - at) < size || !scan::equal(at, text_.data() + from, size)) return false;
    if (from <= name_in_text_.at && name_in_text_.at < to) name = at + (name_in_text_.at - from);
    if (from <= data_in_text_.at && data_in_text_.at < to) data = at + (data_in_text_.at - from);
    at += size;
    return true;
  };

  for (std::size_t i = 0; i < size_; ++i) {
    const Piece& piece = pieces_[i];
    if (!same(piece.end)) return nullptr;
    from = piece.resume;
    JsonString string;
    switch (piece.role) {
      case Hole::Role::Text:
      case Hole::Role::Reasoning:
        if (!take_string(at, end, out.text) || out.text.raw.empty()) return nullptr;
        break;
      case Hole::Role::Sequence: {
        std::uint64_t value = 0;
        if (!take_number(at, end, value)) return nullptr;
        out.sequence = value;
        break;
      }
      case Hole::Role::Varying:
        if (!take_string(at, end, string)) return nullptr;
        break;
      case Hole::Role::EventId: {
        const char* const begin = at;
        at = scan::find_plain_end(at, end);
        found.id = {begin, static_cast<std::size_t>(at - begin)};
        break;
      }
    }
  }
  if (!same(text_.size())) return nullptr;
  if (whole_block_) {
    found.name = {name, name_in_text_.end - name_in_text_.at};
    found.data = {data, static_cast<std::size_t>(at - data) - (text_.size() - data_in_text_.end)};
  }
  return at;
}

bool FrameGuess::match(const sse::Event& event, Match& out) const {
  if (size_ == 0) return false;
  std::string_view text = event.data;
  if (whole_block_) {
    if (event.block.empty() || event.has_id != has_id_) return false;
    text = event.block;
  } else if (event.name.size() != name_.size() || !scan::equal(event.name.data(), name_.data(), name_.size())) {
    return false;
  }
  sse::Event found;
  const char* const end = text.data() + text.size();
  return match_text(text.data(), end, found, out) == end;
}

bool FrameGuess::match_ahead(std::string_view bytes, sse::Event& event, Match& out) const {
  if (size_ == 0 || !whole_block_) return false;
  const char* const end = bytes.data() + bytes.size();
  const char* const after = match_text(bytes.data(), end, event, out);
  if (after == nullptr || after == end || *after != '\n') return false;
  event.block = bytes.substr(0, static_cast<std::size_t>(after - bytes.data()));
  event.line_end = "\n";
  event.has_id = has_id_;
  return true;
}

}  // namespace tidemark::dialect
