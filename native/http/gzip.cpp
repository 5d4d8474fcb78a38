// zlib's inflate, a buffer at a time.
#include "native/http/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "native/http/message.hpp"

namespace tidemark::http {

bool is_gzip(std::string_view coding) { return equal_names(coding, "gzip") || equal_names(coding, "x-gzip"); }

struct GzipDecoder::Impl {
  z_stream stream{};
  std::array<Bytef, kOutput> output{};
  bool usable = false;
  bool between = true;  // no member has been begun, or the last one is over
  bool any = false;     // a member has been begun
};

GzipDecoder::GzipDecoder() : impl_(std::make_unique<Impl>()) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  impl_->usable = inflateInit2(&impl_->stream, kGzipOnly) == Z_OK;
}

GzipDecoder::~GzipDecoder() { inflateEnd(&impl_->stream); }

bool GzipDecoder::complete() const { return impl_->between && impl_->any; }

GzipDecoder::State GzipDecoder::decode(std::string_view& input, std::string_view& output) {
  output = {};
  if (!impl_->usable) return State::Failed;
  if (impl_->between && impl_->any) {
    input.remove_prefix(std::min(input.find_first_not_of('\0'), input.size()));
  }
  if (impl_->between) {
    if (input.empty()) return State::Hungry;
    inflateReset(&impl_->stream);
    impl_->between = false;
    impl_->any = true;
  }
  z_stream& stream = impl_->stream;
  // zlib's next_in is not const in its older headers; it never writes there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = impl_->output.data();
  stream.avail_out = static_cast<uInt>(impl_->output.size());
  const int result = inflate(&stream, Z_NO_FLUSH);
  input.remove_prefix(input.size() - stream.avail_in);
  output = {reinterpret_cast<const char*>(impl_->output.data()), impl_->output.size() - stream.avail_out};
  if (result == Z_STREAM_END) {
    impl_->between = true;
    return input.empty() ? State::Hungry : State::More;
  }
  if (result != Z_OK && result != Z_BUF_ERROR) {
    impl_->usable = false;
    return State::Failed;
  }
  return stream.avail_out == 0 || !input.empty() ? State::More : State::Hungry;
}

}  // namespace tidemark::http
