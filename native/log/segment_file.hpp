// One file of the journal, open for writing; and what else of the file system the journal needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tidemark::log {

/// A descriptor that is closed with its holder.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// All errors are values of errno, 0 for none.
class SegmentFile {
 public:
  /// Makes the file, readable by its owner only; one that is there already is an error. Null, and `error` says why.
  static std::shared_ptr<SegmentFile> create(const std::string& path, int& error);

  /// At the file's end. Where not all of it could be written, the file is cut back to what it was.
  int append(std::string_view bytes);
  /// In place.
  int overwrite(std::size_t at, char byte);

  std::uint64_t size() const { return size_; }
  int fd() const { return descriptor_.get(); }

  explicit SegmentFile(int fd) : descriptor_(fd) {}

 private:
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// The whole file to `out`.
int read_file(const std::string& path, std::string& out);

}  // namespace tidemark::log
