// Random event streams from a seed: every kind of line, in every kind of line end, valid or not.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::sse::test {

class StreamGenerator {
 public:
  explicit StreamGenerator(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

  std::string stream() {
    static const std::string kPieces[] = {"data",
                                          "data:",
                                          "data: ",
                                          "data:  x",
                                          "event",
                                          "event:",
                                          "event: name",
                                          "id",
                                          "id:",
                                          "id: 7",
                                          "retry: 10",
                                          "retry: 99999999999999999999",
                                          "retry: 1x",
                                          ":",
                                          ": comment",
                                          "other: x",
                                          "Data: x",
                                          " data: x",
                                          "x",
                                          "é😀",
                                          "\xEF\xBB\xBF",
                                          "\xEF",
                                          "\xBB",
                                          "\xFF",
                                          std::string("\0", 1),
                                          std::string("id: a\0b", 7),
                                          ":",
                                          " ",
                                          "\t"};
    static const std::string kEnds[] = {"\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", "\n\r", "\r\r\n"};
    std::string out;
    for (std::size_t left = below(12); left > 0; --left) {
      out += kPieces[below(std::size(kPieces))];
      if (below(8) == 0) out += std::string(below(200), 'y');
      if (below(4) != 0) out += kEnds[below(std::size(kEnds))];
    }
    return out;
  }

  /// Cuts at random places; some chunks are empty.
  std::vector<std::string_view> chunks(std::string_view input) {
    std::vector<std::string_view> out;
    const std::size_t longest = 1 + below(input.size() + 2);
    while (!input.empty()) {
      const std::size_t size = below(longest + 1);
      out.push_back(input.substr(0, size));
      input.remove_prefix(out.back().size());
    }
    return out;
  }

 private:
  std::mt19937 random_;
};

}  // namespace tidemark::sse::test
