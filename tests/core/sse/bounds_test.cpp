// The parser's bounds on memory and work, seen through every allocation of this program.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include "core/sse/parser.hpp"
#include "tests/catch.hpp"

namespace {

struct Allocations {
  std::size_t live = 0;
  std::size_t peak = 0;
  std::size_t total = 0;
};
Allocations allocations;

struct alignas(std::max_align_t) Header {
  std::size_t size;
};

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const block = std::malloc(sizeof(Header) + size);
  if (block == nullptr) return nullptr;
  static_cast<Header*>(block)->size = size;
  allocations.live += size;
  allocations.total += size;
  if (allocations.live > allocations.peak) allocations.peak = allocations.live;
  return static_cast<Header*>(block) + 1;
}

void* operator new(std::size_t size) {
  void* const block = operator new(size, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void operator delete(void* at) noexcept {
  if (at == nullptr) return;
  Header* const block = static_cast<Header*>(at) - 1;
  allocations.live -= block->size;
  std::free(block);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

namespace tidemark::sse {
namespace {

// Counts from its making on.
class Watch {
 public:
  Watch() : live_(allocations.live), total_(allocations.total) { allocations.peak = allocations.live; }
  std::size_t peak() const { return allocations.peak - live_; }
  std::size_t held() const { return allocations.live - live_; }
  std::size_t total() const { return allocations.total - total_; }

 private:
  std::size_t live_;
  std::size_t total_;
};

struct Outcome {
  std::size_t events = 0;
  std::size_t data_bytes = 0;
  Error error = Error::None;
};

// Feeds `head`, then `body` `times` times, then `tail`, in chunks of `size`.
Outcome feed(Parser& parser, std::string_view head, std::string_view body, std::size_t times, std::string_view tail,
             std::size_t size) {
  Outcome outcome;
  Event event;
  const auto feed_part = [&](std::string_view part) {
    for (std::size_t at = 0; at < part.size() && outcome.error == Error::None; at += size) {
      parser.feed(part.substr(at, size));
      Step step = parser.next(event);
      for (; step == Step::Event || step == Step::Comment; step = parser.next(event)) {
        ++outcome.events;
        outcome.data_bytes += event.data.size();
      }
      if (step == Step::Failed) outcome.error = parser.error();
    }
  };
  feed_part(head);
  for (std::size_t i = 0; i < times; ++i) feed_part(body);
  feed_part(tail);
  return outcome;
}

constexpr std::size_t kMebi = 1u << 20;

TEST_CASE("a line of 16 MB takes linear work, in chunks of any size") {
  const std::size_t chunk = GENERATE(std::size_t{1}, std::size_t{1400}, 16 * kMebi);
  const std::string line(16 * kMebi, 'x');
  Parser parser(Limits{32 * kMebi, 32 * kMebi});
  const Watch watch;
  const Outcome outcome = feed(parser, "data: ", line, 1, "\n\n", chunk);
  CHECK(outcome.events == 1);
  CHECK(outcome.data_bytes == line.size());
  // Growing by doubling moves each byte twice at most; anything quadratic would be thousands of times this.
  CHECK(watch.total() <= 4 * line.size());
  CHECK(watch.peak() <= 3 * line.size() + kMebi);
}

TEST_CASE("an event of a million data lines takes linear work") {
  const std::size_t chunk = GENERATE(std::size_t{1}, std::size_t{1400});
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "data\n";
  Parser parser(Limits{100, 8 * kMebi});
  const Watch watch;
  const Outcome outcome = feed(parser, "", lines, 1000, "\n", chunk);
  CHECK(outcome.events == 1);
  CHECK(outcome.data_bytes == 999999);
  CHECK(watch.total() <= 4 * 1000 * lines.size());
}

TEST_CASE("what never ends is refused within the bound") {
  struct Hostile {
    const char* what;
    std::string head;
    std::string body;
    Error error;
  };
  const Hostile hostile =
      GENERATE(Hostile{"an endless line", "data: ", std::string(4096, 'x'), Error::LineTooLong},
               Hostile{"an endless comment", ":", std::string(4096, 'x'), Error::LineTooLong},
               Hostile{"endless data lines", "", "data: " + std::string(1000, 'x') + "\n", Error::EventTooLarge},
               Hostile{"endless short data lines", "", "data\n", Error::EventTooLarge},
               Hostile{"endless comments", "", ": keepalive\r\n", Error::EventTooLarge},
               Hostile{"endless ids", "", "id: 1234567890\r", Error::EventTooLarge},
               Hostile{"endless events", "", "event: " + std::string(50000, 'x') + "\n", Error::EventTooLarge});
  const std::size_t chunk = GENERATE(std::size_t{1}, std::size_t{1400}, kMebi);
  INFO(hostile.what << " in chunks of " << chunk);
  constexpr Limits kLimits{64u << 10, 128u << 10};
  Parser parser(kLimits);
  const Watch watch;
  const Outcome outcome = feed(parser, hostile.head, hostile.body, 40000, "", chunk);
  CHECK(outcome.events == 0);
  CHECK(outcome.error == hostile.error);
  // The block and its joined data, and for a moment the old place of the one that grows.
  CHECK(watch.peak() <= 3 * kLimits.max_event_bytes);
  CHECK(watch.held() <= 8u << 10);
}

TEST_CASE("large events leave no large buffers behind") {
  Parser parser;
  const std::string body(kMebi, 'x');
  const Watch watch;
  const Outcome outcome = feed(parser, "data: ", body, 1, "\ndata: y\n\n", 1400);
  CHECK(outcome.events == 1);
  CHECK(watch.held() <= 8u << 10);
}

TEST_CASE("a stream of small events whose blocks lie in one chunk allocates nothing") {
  Parser parser;
  std::string chunk;
  for (int i = 0; i < 100; ++i) chunk += "event: delta\ndata: {\"n\":1}\n\n";
  const Watch watch;
  const Outcome outcome = feed(parser, "", chunk, 100, "", chunk.size());
  CHECK(outcome.events == 10000);
  CHECK(watch.total() == 0);
}

TEST_CASE("a lower bound than one block's size fails at the first byte beyond it, a higher one does not") {
  const std::string stream = "data: abc\r\n\r\n";  // a line of 9, a block of 11
  const auto outcome = [&](std::size_t line, std::size_t event, std::size_t chunk) {
    Parser parser(Limits{line, event});
    return feed(parser, stream, "", 0, "", chunk);
  };
  for (const std::size_t chunk : {1u, 2u, 3u, 100u}) {
    CHECK(outcome(9, 11, chunk).events == 1);
    CHECK(outcome(8, 11, chunk).error == Error::LineTooLong);
    CHECK(outcome(9, 10, chunk).error == Error::EventTooLarge);
    CHECK(outcome(9, 9, chunk).error == Error::EventTooLarge);
    CHECK(outcome(8, 8, chunk).error == Error::LineTooLong);
  }
}

}  // namespace
}  // namespace tidemark::sse
