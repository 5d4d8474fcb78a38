// HTTP/1.0 and 1.1 (RFC 9112) on llhttp, which sees heads only after H1HeadReader has passed them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "native/http/codec.hpp"

namespace tidemark::http {

class H1Parser;

/// Beyond the rules of H1HeadReader, BadMessage: more than one Content-Length or one that is no number, Content-Length
/// with Transfer-Encoding, Transfer-Encoding other than a single `chunked` or in HTTP/1.0, HTTP/1.1 without exactly one
/// Host, and between chunks any control character or CR and LF apart.
class H1RequestDecoder final : public RequestDecoder {
 public:
  explicit H1RequestDecoder(const CodecLimits& limits);
  ~H1RequestDecoder() override;
  std::size_t feed(std::string_view bytes, std::vector<RequestAction>& actions) override;

 private:
  std::unique_ptr<H1Parser> parser_;
};

/// The same rules as far as they concern responses.
class H1ResponseDecoder final : public ResponseDecoder {
 public:
  explicit H1ResponseDecoder(const CodecLimits& limits);
  ~H1ResponseDecoder() override;
  void expect(std::string_view method) override;
  std::size_t feed(std::string_view bytes, std::vector<ResponseAction>& actions) override;
  void finish(std::vector<ResponseAction>& actions) override;

 private:
  std::unique_ptr<H1Parser> parser_;
};

}  // namespace tidemark::http
