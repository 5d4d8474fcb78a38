// Decoding of `Content-Encoding: gzip` as it comes (RFC 1952), with bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tidemark::http {

/// Whether a Content-Encoding names it; x-gzip is the same (RFC 9110 § 8.4.1.3).
bool is_gzip(std::string_view coding);

/// Sans-I/O. Costs some 40 kB; what it hands out at once is at most kOutput, however well it was compressed.
class GzipDecoder {
 public:
  static constexpr std::size_t kOutput = std::size_t{16} * 1024;

  GzipDecoder();
  ~GzipDecoder();
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  enum class State : std::uint8_t {
    More,    // call again, with the rest of the input: there may be more output
    Hungry,  // all input is used
    Failed,  // not gzip, or damaged
  };
  /// Takes from the front of `input` what it uses. `output` is valid until the next call. Members that follow one
  /// another are one stream (§ 2.2); zeros after the last are padding.
  State decode(std::string_view& input, std::string_view& output);
  /// Between members: the input may end here.
  bool complete() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::http
