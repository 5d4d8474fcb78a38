// The buffer through which bytes and strings come in: one for all objects, and a call takes what it needs from it
// before it returns.
#pragma once

#include <cstdint>
#include <string_view>

#include "wasm/byte_buffer.hpp"

namespace tidemark::wasm {

inline ByteBuffer g_input;

inline std::string_view input(std::uint32_t size, std::uint32_t at = 0) { return {g_input.data() + at, size}; }

}  // namespace tidemark::wasm
