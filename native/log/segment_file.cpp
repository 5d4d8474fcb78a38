// System calls on segment files.
#include "native/log/segment_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace tidemark::log {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::shared_ptr<SegmentFile> SegmentFile::create(const std::string& path, int& error) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  error = fd < 0 ? errno : 0;
  return fd < 0 ? nullptr : std::make_shared<SegmentFile>(fd);
}

int SegmentFile::append(std::string_view bytes) {
  for (std::uint64_t written = 0; written < bytes.size();) {
    const ssize_t count =
        ::pwrite(fd(), bytes.data() + written, bytes.size() - written, static_cast<off_t>(size_ + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count < 0 ? errno : EIO;
      // Where this fails too, the reader stops in front of the torn record by itself.
      while (::ftruncate(fd(), static_cast<off_t>(size_)) < 0 && errno == EINTR) {
      }
      return error;
    }
    written += static_cast<std::uint64_t>(count);
  }
  size_ += bytes.size();
  return 0;
}

int SegmentFile::overwrite(std::size_t at, char byte) {
  for (;;) {
    const ssize_t count = ::pwrite(fd(), &byte, 1, static_cast<off_t>(at));
    if (count == 1) return 0;
    if (count < 0 && errno == EINTR) continue;
    return count < 0 ? errno : EIO;
  }
}

int read_file(const std::string& path, std::string& out) {
  out.clear();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) < 0) return errno;
  out.resize(static_cast<std::size_t>(facts.st_size));
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t count = ::read(file.get(), out.data() + have, out.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  out.resize(have);
  return 0;
}

}  // namespace tidemark::log
