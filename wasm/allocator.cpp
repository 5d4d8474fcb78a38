// The module's memory: blocks of few sizes, kept in lists by size, taken from the memory's end where the list is empty.
//
// One thread, and hardly any allocation while a stream runs (buffers are kept): so it is made to be small. A block is
// at most a quarter larger than what was asked for. What has been freed serves the next request of its size; it is
// never joined with its neighbours.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

extern "C" char __heap_base;  // the linker's: from here on nothing of the module's own lies

namespace {

// In front of every block; as large as the strictest alignment, so that the block has it too.
struct alignas(16) Header {
  std::uint32_t size_class = 0;
  Header* next = nullptr;  // while the block is free
};

constexpr std::uint32_t kPage = 65536;
constexpr std::uint32_t kLeast = 5 * sizeof(Header);
constexpr std::uint32_t kMost = 1u << 30;

Header* g_free[128];   // by size class
std::uintptr_t g_end;  // of the blocks given out so far

Header* at_end_of_memory(std::uint32_t size) {
  if (g_end == 0) g_end = (reinterpret_cast<std::uintptr_t>(&__heap_base) + sizeof(Header) - 1) & ~(sizeof(Header) - 1);
  const std::uint64_t end = std::uint64_t{g_end} + size;
  const std::uint64_t have = std::uint64_t{__builtin_wasm_memory_size(0)} * kPage;
  if (end > have) {
    const std::uint64_t pages = (end - have + kPage - 1) / kPage;
    // The module traps, and its owner sees a RuntimeError.
    if (__builtin_wasm_memory_grow(0, static_cast<std::size_t>(pages)) == SIZE_MAX) __builtin_trap();
  }
  auto* const block = reinterpret_cast<Header*>(g_end);
  g_end += size;
  return block;
}

}  // namespace

void* operator new(std::size_t wanted) {
  if (wanted > kMost) __builtin_trap();
  std::uint32_t last = static_cast<std::uint32_t>(wanted + sizeof(Header)) - 1;
  if (last < kLeast - 1) last = kLeast - 1;
  // Sizes are 5 to 8 times a power of two.
  const auto shift = static_cast<std::uint32_t>(std::bit_width(last)) - 3;
  const std::uint32_t steps = last >> shift;  // 4 to 7
  Header*& free = g_free[shift * 4 + (steps - 4)];
  Header* block = free;
  if (block != nullptr) {
    free = block->next;
  } else {
    block = at_end_of_memory((steps + 1) << shift);
    block->size_class = shift * 4 + (steps - 4);
  }
  return block + 1;
}

void operator delete(void* pointer) noexcept {
  if (pointer == nullptr) return;
  Header* const block = static_cast<Header*>(pointer) - 1;
  block->next = g_free[block->size_class];
  g_free[block->size_class] = block;
}

void operator delete(void* pointer, std::size_t) noexcept { ::operator delete(pointer); }
