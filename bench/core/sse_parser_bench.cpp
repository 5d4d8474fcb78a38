// How fast the parser is, beside a newline scan with memchr over the same bytes in the same chunks.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "core/sse/parser.hpp"

namespace {

using tidemark::sse::Event;
using tidemark::sse::Parser;
using tidemark::sse::Step;

// A chat completion of a thousand words, about 270 bytes an event.
std::string chat_stream() {
  std::string out;
  for (int i = 0; i < 1000; ++i) {
    out +=
        R"(data: {"id":"chatcmpl-D8kQv3yTn5Ws0Hb7Lr2Zx9Gm4Jc","object":"chat.completion.chunk","created":1760000000,)"
        R"("model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_7c233bf9d1",)"
        R"("choices":[{"index":0,"delta":{"content":" word)" +
        std::to_string(i) + R"("},"logprobs":null,"finish_reason":null}]})" + "\n\n";
  }
  return out;
}

// The same in the Responses API's way: an event line, and about 200 bytes an event.
std::string responses_stream() {
  std::string out;
  for (int i = 0; i < 1000; ++i) {
    out += "event: response.output_text.delta\ndata: " +
           (R"({"type":"response.output_text.delta","sequence_number":)" + std::to_string(i)) +
           R"(,"item_id":"msg_68e6f1a2b3c4d5e6f708192a3b4c5d6e","output_index":0,"content_index":0,"delta":" word",)" +
           R"("logprobs":[]})" + "\n\n";
  }
  return out;
}

template <typename OnChunk>
void over_chunks(benchmark::State& state, const std::string& stream, OnChunk on_chunk) {
  const auto chunk_size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    for (std::size_t at = 0; at < stream.size(); at += chunk_size) {
      on_chunk(std::string_view(stream).substr(at, chunk_size));
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(stream.size()));
}

void memchr_scan(benchmark::State& state, const std::string& stream) {
  over_chunks(state, stream, [](std::string_view chunk) {
    const char* at = chunk.data();
    const char* const end = at + chunk.size();
    while (const void* hit = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
      at = static_cast<const char*>(hit) + 1;
      benchmark::DoNotOptimize(at);
    }
  });
}

void parse(benchmark::State& state, const std::string& stream) {
  Parser parser;
  Event event;
  over_chunks(state, stream, [&](std::string_view chunk) {
    parser.feed(chunk);
    while (parser.next(event) == Step::Event) benchmark::DoNotOptimize(event);
  });
}

void with_chunk_sizes(benchmark::internal::Benchmark* bench) { bench->ArgName("chunk")->Arg(16384)->Arg(1400)->Arg(1); }
void with_large_chunks(benchmark::internal::Benchmark* bench) { bench->ArgName("chunk")->Arg(16384)->Arg(1400); }

BENCHMARK_CAPTURE(memchr_scan, chat, chat_stream())->Apply(with_large_chunks);
BENCHMARK_CAPTURE(parse, chat, chat_stream())->Apply(with_chunk_sizes);
BENCHMARK_CAPTURE(memchr_scan, responses, responses_stream())->Apply(with_large_chunks);
BENCHMARK_CAPTURE(parse, responses, responses_stream())->Apply(with_chunk_sizes);

}  // namespace
