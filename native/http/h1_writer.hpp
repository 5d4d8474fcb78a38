// HTTP/1.1 messages as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "native/http/message.hpp"

namespace tidemark::http {

enum class Framing : std::uint8_t {
  Length,  // `length` bytes
  Chunked,
  UntilEnd,  // the connection's end ends it
  None,      // there is no body, and no length to tell (204, and responses to HEAD as the head says)
};

/// Appends the head. Framing and persistence are written here: Connection, Keep-Alive, Transfer-Encoding, and with
/// Length or Chunked also Content-Length, of `head` are passed over. CR, LF and NUL inside of values become spaces.
/// `keep_alive` false: `Connection: close`; true is told only to HTTP/1.0 (`minor_version` 0).
void write_head(const ResponseHead& head, Framing framing, std::size_t length, bool keep_alive, int minor_version,
                std::string& out);

/// The same for a request; `Content-Length` is written where there is a body or the method usually has one. A Host is
/// put first where `head` has none.
void write_head(const RequestHead& head, std::size_t length, std::string_view host, std::string& out);

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
/// Room that write_chunk_size wants in front of a chunk's bytes.
inline constexpr std::size_t kChunkSizeRoom = 10;
/// Writes the size line of a chunk of `size` bytes (at least 1, at most 8 hex digits) so that it ends at room[10];
/// returns where it starts.
std::size_t write_chunk_size(std::size_t size, char* room);

}  // namespace tidemark::http
