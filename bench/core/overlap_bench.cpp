// What a seam costs: overlap and trimmer over the whole window, at their worst; and the tail, kept event by event.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/seam/overlap_trimmer.hpp"
#include "core/seam/tail_fingerprint.hpp"

namespace {

namespace seam = tidemark::seam;

std::string prose(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i)
    text += "The tide of day " + std::to_string(i) + " comes in, and 潮 goes out. ";
  text.resize(size);
  return text;
}

// Nothing fits but at the last moment, over and over.
std::string repetitive(std::size_t size) { return std::string(size, 'a'); }

void over_window(benchmark::State& state, const std::string& delivered, const std::string& continuation) {
  for (auto _ : state) benchmark::DoNotOptimize(seam::overlap_bytes(delivered, continuation));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(delivered.size()));
}

void overlap_prose(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  over_window(state, prose(size), prose(size).substr(size / 2));
}

void overlap_worst(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  over_window(state, repetitive(size - 1) + "b", repetitive(size));
}

void trimmer(benchmark::State& state) {
  const std::string delivered = repetitive(seam::OverlapTrimmer::kWindowBytes);
  const std::string event = repetitive(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    seam::OverlapTrimmer one(delivered, seam::Continuer::SameGeneration);
    while (!one.offer(event).decided) {
    }
  }
}

void tail_of_whole_text(benchmark::State& state) {
  const std::string text = prose(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(seam::tail_fingerprint(text));
}

void tail_append(benchmark::State& state) {
  const std::string text = prose(1 << 16);
  const auto piece = static_cast<std::size_t>(state.range(0));
  seam::Tail tail;
  for (auto _ : state) {
    for (std::size_t at = 0; at < text.size(); at += piece) tail.append(std::string_view(text).substr(at, piece));
    benchmark::DoNotOptimize(tail.fingerprint());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

BENCHMARK(overlap_prose)->ArgName("bytes")->Arg(1024)->Arg(16384);
BENCHMARK(overlap_worst)->ArgName("bytes")->Arg(1024)->Arg(16384);
BENCHMARK(trimmer)->ArgName("event")->Arg(5)->Arg(4096);
BENCHMARK(tail_of_whole_text)->ArgName("bytes")->Arg(1024)->Arg(1 << 20);
BENCHMARK(tail_append)->ArgName("piece")->Arg(5)->Arg(64)->Arg(16384);

}  // namespace
