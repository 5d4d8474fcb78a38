// The fast scans against a plain loop.
#include "core/sse/byte_scan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tidemark::sse {
namespace {

using Scan = const char* (*)(const char*, const char*);

std::vector<Scan> scans() {
  std::vector<Scan> all = {find_line_end, find_line_end_swar};
#if defined(__SSE2__)
  all.push_back(find_line_end_sse2);
#endif
  return all;
}

TEST_CASE("every byte value at every place is told from a line end") {
  for (const Scan scan : scans()) {
    for (std::size_t size = 0; size <= 150; ++size) {
      std::vector<char> text(size, 'x');  // exactly sized, so that sanitizers see a read beyond it
      const char* const end = text.data() + size;
      REQUIRE(scan(text.data(), end) == end);
      for (std::size_t at = 0; at < size; ++at) {
        for (int value = 0; value < 256; ++value) {
          text[at] = static_cast<char>(value);
          const char* const expected = is_line_end(text[at]) ? text.data() + at : end;
          if (scan(text.data(), end) != expected) FAIL("size " << size << ", byte " << value << " at " << at);
        }
        text[at] = 'x';
      }
    }
  }
}

TEST_CASE("the first of several line ends is found, whatever low bytes stand before it") {
  for (const Scan scan : scans()) {
    for (const char filler : {'x', '\t', '\0', '\x0E', '\x80', '\xFF'}) {
      for (std::size_t first = 0; first < 200; ++first) {
        std::vector<char> text(200, filler);
        text[first] = '\r';
        if (first + 1 < text.size()) text[first + 1] = '\n';
        text.back() = '\n';
        const char* const found = scan(text.data(), text.data() + text.size());
        REQUIRE(found - text.data() == static_cast<std::ptrdiff_t>(first));
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::sse
