// Names drawn from the system's randomness.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::proxy {

/// 128 bits as 32 lower-case hex digits: the id of a stream that the client did not name.
std::string draw_stream_id();

/// A short token of letters and digits, without a dash, so that EPOCH-SEQ can be read back.
std::string draw_epoch();

/// As draw_epoch(), where epochs are numbers that grow: below 2^40, in decimal digits.
std::string draw_number_epoch();

/// A seed for generators whose output is no secret.
std::uint64_t draw_seed();

}  // namespace tidemark::proxy
