// Packing of events, which is hot. The rest: frame_sink.cpp.
#include <array>
#include <cstring>

#include "wasm/frame_abi.hpp"
#include "wasm/utf16_text.hpp"

namespace tidemark::wasm {
namespace {

std::uint32_t size32(std::size_t size) { return static_cast<std::uint32_t>(size); }

bool within(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace

// The block as it came, the blank line that closes it included. Where that does not follow as the event's own line ends
// do, or not in the same chunk, all of it is put together in raw.
Frame::Place Frame::place(const session::EventAction& action) {
  const std::string_view block = action.block;
  const std::string_view closing = action.line_end;
  if (within(block, chunk_)) {
    const auto at = static_cast<std::size_t>(block.data() - chunk_.data());
    const std::size_t after = at + block.size();
    if (closing.size() == 1 ? after < chunk_.size() && chunk_[after] == closing[0]
                            : chunk_.substr(after, closing.size()) == closing) {
      return {size32(at), size32(block.size() + closing.size()), 0};
    }
  }
  return place_in_raw(block, closing);
}

void Frame::event(const session::EventAction& action) {
  const std::string_view block = action.block;
  const Place placed = place(action);
  std::uint32_t flags = placed.flags | (action.name.empty() ? 0u : std::uint32_t{kNamed});
  const auto offset = [&](std::string_view part) {
    return placed.at + size32(static_cast<std::size_t>(part.data() - block.data()));
  };
  std::uint32_t data_at = 0;
  if (within(action.data, block)) {
    data_at = offset(action.data);
    if ((flags & kBlockInRaw) != 0) flags |= kDataInRaw;
  } else {
    flags |= kDataInRaw;
    data_at = in_raw(action.data);
  }
  const bool has_name = !action.name.empty() && within(action.name, block);
  const auto seq = static_cast<std::uint64_t>(action.seq);
  const std::array<std::uint32_t, 12> words = {static_cast<std::uint32_t>(Op::Event) |
                                                   static_cast<std::uint32_t>(action.kind) << 8 |
                                                   static_cast<std::uint32_t>(action.finish) << 16 | flags << 24,
                                               static_cast<std::uint32_t>(seq),
                                               static_cast<std::uint32_t>(seq >> 32),
                                               append_well_formed(text_, action.text),
                                               append_well_formed(text_, action.reasoning),
                                               placed.at,
                                               placed.size,
                                               data_at,
                                               size32(action.data.size()),
                                               has_name ? offset(action.name) : 0,
                                               has_name ? size32(action.name.size()) : 0,
                                               action.trimmed};
  std::memcpy(words_.reserve(sizeof words), words.data(), sizeof words);
  words_.advance(sizeof words);
}

}  // namespace tidemark::wasm
