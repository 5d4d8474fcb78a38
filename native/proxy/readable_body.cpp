// Decoding what is to be looked at.
#include "native/proxy/readable_body.hpp"

#include <algorithm>

#include "core/dialect/challenge.hpp"

namespace tidemark::proxy {

session::BodyCoding ReadableBody::begin(const http::Headers& headers) {
  gzip_.reset();
  left_ = dialect::kMaxChallengeBytes;
  const std::string_view coding = headers.get("content-encoding");
  if (coding.empty() || http::equal_names(coding, "identity")) return session::BodyCoding::None;
  if (!http::is_gzip(coding)) return session::BodyCoding::Unreadable;
  gzip_ = std::make_unique<http::GzipDecoder>();
  return session::BodyCoding::Readable;
}

std::string_view ReadableBody::read(std::string_view bytes) {
  text_.clear();
  while (gzip_) {
    std::string_view output;
    const auto state = gzip_->decode(bytes, output);
    text_ += output.substr(0, left_);
    left_ -= std::min(left_, output.size());
    if (state == http::GzipDecoder::State::Failed || left_ == 0) {
      gzip_.reset();
    } else if (state == http::GzipDecoder::State::Hungry) {
      break;
    }
  }
  return text_;
}

}  // namespace tidemark::proxy
