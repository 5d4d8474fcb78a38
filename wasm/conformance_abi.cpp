// What the conformance cases ask of the core and the package does not: exports of a second module, for tests only.
// Strings come in through the input buffer, one after the other; strings go out through one frame (frame_abi.hpp), as a
// word each, their length.
#include <emscripten/emscripten.h>

#include <string>

#include "core/dialect/interpreter.hpp"
#include "core/retry/backoff.hpp"
#include "core/retry/retry_after.hpp"
#include "core/seam/joiner.hpp"
#include "core/seam/overlap_trimmer.hpp"
#include "core/seam/watermark.hpp"
#include "wasm/frame_abi.hpp"
#include "wasm/input.hpp"

using tidemark::wasm::input;
namespace dialect = tidemark::dialect;
namespace retry = tidemark::retry;
namespace seam = tidemark::seam;
namespace wasm = tidemark::wasm;

namespace {
wasm::Frame g_frame;

// A joiner with what it looks at, and its last decision.
struct Joined {
  Joined(std::string_view text, const seam::JoinOptions& options) : delivered(text), joiner(delivered, options) {}

  std::string delivered;
  seam::Joiner joiner;
  seam::Joiner::Decision last;
};
}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE wasm::FrameHeader* conformance_frame() { return &g_frame.header(); }

EMSCRIPTEN_KEEPALIVE dialect::Interpreter* conformance_interpreter_new(int of, int shortcut) {
  using Shortcut = dialect::Interpreter::Shortcut;
  return new dialect::Interpreter(static_cast<dialect::Dialect>(of), shortcut != 0 ? Shortcut::On : Shortcut::Off);
}
EMSCRIPTEN_KEEPALIVE void conformance_interpreter_free(dialect::Interpreter* interpreter) { delete interpreter; }

/// kind | finish | flags: 1 terminal, 2 sequence, 4 retryable | sequence:64 | status | then strings: names of the kind
/// and the finish, text, reasoning, error message, type, code.
EMSCRIPTEN_KEEPALIVE void conformance_interpret(dialect::Interpreter* interpreter, std::uint32_t name_size,
                                                std::uint32_t data_size) {
  tidemark::sse::Event event;
  event.name = input(name_size);
  event.data = input(data_size, name_size);
  const dialect::Meaning meaning = interpreter->interpret(event);
  g_frame.begin({});
  g_frame.word(static_cast<std::uint32_t>(meaning.kind));
  g_frame.word(static_cast<std::uint32_t>(meaning.finish));
  g_frame.word((meaning.terminal ? 1u : 0u) | (meaning.sequence ? 2u : 0u) | (meaning.error.retryable() ? 4u : 0u));
  g_frame.wide(static_cast<std::int64_t>(meaning.sequence.value_or(0)));
  g_frame.word(static_cast<std::uint32_t>(meaning.error.status));
  for (const std::string_view text : {name(meaning.kind), name(meaning.finish), meaning.text, meaning.reasoning,
                                      meaning.error.message, meaning.error.type, meaning.error.code}) {
    g_frame.text(text);
  }
  g_frame.end();
}

/// One string: the name of what EOF would mean now; "truncated" for all that is not complete (kKeepsForEnding).
EMSCRIPTEN_KEEPALIVE void conformance_at_eof(dialect::Interpreter* interpreter) {
  g_frame.begin({});
  g_frame.text(name(interpreter->at_eof()));
  g_frame.end();
}

EMSCRIPTEN_KEEPALIVE std::uint32_t conformance_overlap(std::uint32_t delivered_size, std::uint32_t continuation_size) {
  return static_cast<std::uint32_t>(
      seam::overlap_bytes(input(delivered_size), input(continuation_size, delivered_size)));
}
EMSCRIPTEN_KEEPALIVE std::uint32_t conformance_weight(std::uint32_t size) { return seam::weight(input(size)); }

/// Input: the end of what was delivered. `model`: a model continues, not the same generation.
EMSCRIPTEN_KEEPALIVE seam::OverlapTrimmer* conformance_trimmer_new(std::uint32_t size, int model,
                                                                   std::uint32_t overlap_min) {
  return new seam::OverlapTrimmer(input(size), model != 0 ? seam::Continuer::Model : seam::Continuer::SameGeneration,
                                  overlap_min);
}
EMSCRIPTEN_KEEPALIVE void conformance_trimmer_free(seam::OverlapTrimmer* trimmer) { delete trimmer; }
/// Bytes to trim, or -1 where nothing is decided.
EMSCRIPTEN_KEEPALIVE int conformance_trimmer_offer(seam::OverlapTrimmer* trimmer, std::uint32_t size) {
  const auto decision = trimmer->offer(input(size));
  return decision.decided ? static_cast<int>(decision.trim_bytes) : -1;
}
EMSCRIPTEN_KEEPALIVE int conformance_trimmer_finish(seam::OverlapTrimmer* trimmer) {
  return static_cast<int>(trimmer->finish().trim_bytes);
}

/// Input: all that was delivered, which the joiner keeps a copy of. `continuer`: 0 the same generation, 1 a model, 2
/// one that echoes.
EMSCRIPTEN_KEEPALIVE Joined* conformance_joiner_new(std::uint32_t size, int continuer, std::uint32_t overlap_min,
                                                    std::uint32_t stripped_bytes) {
  return new Joined(input(size), {static_cast<seam::Continuer>(continuer), overlap_min, stripped_bytes});
}
EMSCRIPTEN_KEEPALIVE void conformance_joiner_free(Joined* joined) { delete joined; }
/// 0 hold, 1 drop, 2 join, 3 refuse; then conformance_joiner_trim and, as a string, conformance_joiner_why.
EMSCRIPTEN_KEEPALIVE int conformance_joiner_offer(Joined* joined, std::uint32_t size) {
  joined->last = joined->joiner.offer(input(size));
  return static_cast<int>(joined->last.step);
}
EMSCRIPTEN_KEEPALIVE int conformance_joiner_finish(Joined* joined) {
  joined->last = joined->joiner.finish();
  return static_cast<int>(joined->last.step);
}
EMSCRIPTEN_KEEPALIVE std::uint32_t conformance_joiner_trim(const Joined* joined) {
  return static_cast<std::uint32_t>(joined->last.trim_bytes);
}
EMSCRIPTEN_KEEPALIVE void conformance_joiner_why(const Joined* joined) {
  g_frame.begin({});
  g_frame.text(name(joined->last.why));
  g_frame.end();
}

EMSCRIPTEN_KEEPALIVE double conformance_backoff(double base, double factor, double jitter, double max, int attempt,
                                                double unit) {
  const retry::BackoffOptions options{.base_ms = base, .factor = factor, .jitter_ms = jitter, .max_ms = max};
  return static_cast<double>(retry::backoff_delay(options, static_cast<unsigned>(attempt), unit));
}

/// Input: Retry-After, retry-after-ms. -1 for none.
EMSCRIPTEN_KEEPALIVE double conformance_retry_after(std::uint32_t size, std::uint32_t ms_size, double unix_now) {
  const auto wait = retry::parse_retry_after(input(size), input(ms_size, size), static_cast<std::int64_t>(unix_now));
  return wait ? static_cast<double>(*wait) : -1;
}

/// Input: a watermark as a client writes it. -2 for none.
EMSCRIPTEN_KEEPALIVE double conformance_watermark(std::uint32_t size) {
  const auto watermark = seam::parse_watermark(input(size));
  return watermark ? static_cast<double>(*watermark) : -2;
}

}  // extern "C"
