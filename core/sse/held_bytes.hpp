// Bytes that a parser holds: a buffer that grows to a bound and no further.
//
// std::string may grow to twice what it is asked for; std::vector's insertion is kilobytes of code in WebAssembly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace tidemark::sse {

class HeldBytes {
 public:
  HeldBytes() = default;
  HeldBytes(const HeldBytes& other) { append(other.data(), other.size(), 0); }
  HeldBytes(HeldBytes&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  HeldBytes& operator=(HeldBytes other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~HeldBytes() = default;

  const char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// The capacity doubles, but never beyond `bound` unless the bytes need it.
  [[gnu::noinline]] void append(const char* from, std::size_t size, std::size_t bound) {
    const std::size_t wanted = size_ + size;
    if (wanted > capacity_) {
      capacity_ = std::min(std::max(wanted, 2 * capacity_), std::max(wanted, bound));
      std::unique_ptr<char[]> grown(new char[capacity_]);
      if (size_ > 0) std::memcpy(grown.get(), bytes_.get(), size_);
      bytes_ = std::move(grown);
    }
    if (size > 0) std::memcpy(bytes_.get() + size_, from, size);
    size_ = wanted;
  }

  /// Forgets the bytes; keeps a small capacity, and gives a large one back.
  void clear() {
    size_ = 0;
    if (capacity_ > kCapacityToKeep) release();
  }

 private:
  static constexpr std::size_t kCapacityToKeep = 4u << 10;

  [[gnu::noinline]] void release() {
    bytes_.reset();
    capacity_ = 0;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tidemark::sse
