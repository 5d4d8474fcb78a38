// Text on its way to JavaScript: UTF-8 that TextDecoder will not change, and its length as JavaScript counts.
#pragma once

#include <cstdint>
#include <string_view>

#include "wasm/byte_buffer.hpp"

namespace tidemark::wasm {

/// Appends `text`; each maximal part of it that is not UTF-8 becomes U+FFFD, as the Encoding standard decodes it.
/// Returns the number of UTF-16 code units appended. Linear; eight bytes at a time where they are ASCII.
std::uint32_t append_text(ByteBuffer& out, std::string_view text);

}  // namespace tidemark::wasm
