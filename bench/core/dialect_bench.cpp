// Parser and dialects over the recorded streams, beside a newline scan with memchr over the same bytes in the same
// chunks.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/interpreter.hpp"
#include "core/sse/parser.hpp"
#include "tests/recordings.hpp"

namespace {

using tidemark::dialect::Dialect;
using tidemark::dialect::Interpreter;
using tidemark::test::Recording;

struct Stream {
  Dialect dialect = Dialect::Opaque;
  std::string bytes;
};

// The streams as the providers framed them; all of one dialect, or all there are.
std::vector<Stream> streams(const std::string& part_of_name) {
  std::vector<Stream> out;
  for (const Recording& recording : tidemark::test::recordings()) {
    if (recording.file.find(part_of_name) != std::string::npos) out.push_back({recording.dialect, recording.framed()});
  }
  return out;
}

template <class OnStream>
void over_streams(benchmark::State& state, const std::string& part_of_name, OnStream on_stream) {
  const std::vector<Stream> all = streams(part_of_name);
  if (all.empty()) return state.SkipWithError("no recordings");
  const auto chunk_size = static_cast<std::size_t>(state.range(0));
  std::int64_t size = 0;
  for (const Stream& stream : all) size += static_cast<std::int64_t>(stream.bytes.size());
  for (auto _ : state) {
    for (const Stream& stream : all) {
      auto on_chunk = on_stream(stream.dialect);
      for (std::size_t at = 0; at < stream.bytes.size(); at += chunk_size) {
        on_chunk(std::string_view(stream.bytes).substr(at, chunk_size));
      }
    }
  }
  state.SetBytesProcessed(state.iterations() * size);
}

void memchr_scan(benchmark::State& state, const std::string& part_of_name) {
  over_streams(state, part_of_name, [](Dialect) {
    return [](std::string_view chunk) {
      const char* at = chunk.data();
      const char* const end = at + chunk.size();
      while (const void* hit = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
        at = static_cast<const char*>(hit) + 1;
        benchmark::DoNotOptimize(at);
      }
    };
  });
}

void parse(benchmark::State& state, const std::string& part_of_name) {
  over_streams(state, part_of_name, [](Dialect) {
    return [parser = tidemark::sse::Parser()](std::string_view chunk) mutable {
      tidemark::sse::Event event;
      parser.feed(chunk);
      while (parser.next(event) != tidemark::sse::Step::NeedMore) benchmark::DoNotOptimize(event);
    };
  });
}

void parse_and_interpret(benchmark::State& state, const std::string& part_of_name, Interpreter::Shortcut shortcut) {
  over_streams(state, part_of_name, [shortcut](Dialect dialect) {
    return [parser = tidemark::sse::Parser(),
            interpreter = Interpreter(dialect, shortcut)](std::string_view chunk) mutable {
      tidemark::sse::Event event;
      parser.feed(chunk);
      for (;;) {
        tidemark::dialect::FrameGuess::Match match;
        if (interpreter.recognise(parser.ahead(), event, match) && parser.take_ahead(event)) {
          benchmark::DoNotOptimize(interpreter.interpret(match));
        } else if (parser.next(event) != tidemark::sse::Step::NeedMore) {
          benchmark::DoNotOptimize(interpreter.interpret(event));
        } else {
          return;
        }
      }
    };
  });
}

void meaning(benchmark::State& state, const std::string& part_of_name) {
  parse_and_interpret(state, part_of_name, Interpreter::Shortcut::On);
}
void meaning_without_shortcut(benchmark::State& state, const std::string& part_of_name) {
  parse_and_interpret(state, part_of_name, Interpreter::Shortcut::Off);
}

void with_chunk_sizes(benchmark::internal::Benchmark* bench) { bench->ArgName("chunk")->Arg(16384)->Arg(1400); }

BENCHMARK_CAPTURE(memchr_scan, all, "")->Apply(with_chunk_sizes);
BENCHMARK_CAPTURE(parse, all, "")->Apply(with_chunk_sizes);
BENCHMARK_CAPTURE(meaning, all, "")->Apply(with_chunk_sizes);
BENCHMARK_CAPTURE(meaning_without_shortcut, all, "")->Apply(with_chunk_sizes);

#define TIDEMARK_DIALECT(name, part)                                        \
  BENCHMARK_CAPTURE(memchr_scan, name, part)->ArgName("chunk")->Arg(16384); \
  BENCHMARK_CAPTURE(parse, name, part)->ArgName("chunk")->Arg(16384);       \
  BENCHMARK_CAPTURE(meaning, name, part)->ArgName("chunk")->Arg(16384);     \
  BENCHMARK_CAPTURE(meaning_without_shortcut, name, part)->ArgName("chunk")->Arg(16384)
TIDEMARK_DIALECT(openai_chat, "openai-chat/");
TIDEMARK_DIALECT(openai_responses, "openai-responses/");
TIDEMARK_DIALECT(anthropic_messages, "anthropic-messages/");
TIDEMARK_DIALECT(gemini, "gemini/");

}  // namespace
