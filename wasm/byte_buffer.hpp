// A buffer that is filled, read from JavaScript, and cleared without giving its memory back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace tidemark::wasm {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;
  ~ByteBuffer() { ::operator delete(data_); }

  /// Empties the buffer; memory beyond kToKeep is given back.
  void clear() {
    size_ = 0;
    if (capacity_ <= kToKeep) return;
    ::operator delete(data_);
    data_ = nullptr;
    capacity_ = 0;
  }

  /// Room for `bytes` more at the returned address, which is used up by advance().
  char* reserve(std::size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return data_ + size_;
  }
  void advance(std::size_t bytes) { size_ += bytes; }

  [[gnu::noinline]] void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kToKeep = 256u << 10;

  [[gnu::noinline]] void grow(std::size_t bytes) {
    std::size_t wanted = capacity_ < 1024 ? 1024 : capacity_ * 2;
    if (wanted - size_ < bytes) wanted = size_ + bytes;
    char* const grown = static_cast<char*>(::operator new(wanted));
    if (size_ > 0) std::memcpy(grown, data_, size_);
    ::operator delete(data_);
    data_ = grown;
    capacity_ = wanted;
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tidemark::wasm
