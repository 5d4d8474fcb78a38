// The module's exports: plain functions over handles. Numbers pass as they are; bytes and strings through the input
// buffer, into which JavaScript copies them; what comes back is a frame (frame_abi.hpp).
//
// Plain exports instead of Embind: no glue, nothing that a content security policy minds, and no cost a call.
#include <emscripten/emscripten.h>

#include <cstring>
#include <limits>
#include <optional>

#include "core/dialect/dialect.hpp"
#include "core/session/recoverer.hpp"
#include "core/sse/parser.hpp"
#include "wasm/frame_abi.hpp"
#include "wasm/input.hpp"

using tidemark::TimeMs;
using tidemark::wasm::g_input;
using tidemark::wasm::input;
namespace dialect = tidemark::dialect;
namespace seam = tidemark::seam;
namespace session = tidemark::session;
namespace sse = tidemark::sse;
namespace wasm = tidemark::wasm;

namespace {

struct RecovererHandle {
  explicit RecovererHandle(const session::RecovererOptions& options) : sink(frame), recoverer(options, sink) {
    frame.begin({});
    end_call();
  }
  wasm::Frame frame;
  wasm::FrameSink sink;
  session::Recoverer recoverer;

  [[gnu::noinline]] session::Recoverer& begin_call(std::string_view chunk) {
    frame.begin(chunk);
    return recoverer;
  }
  [[gnu::noinline]] void end_call() {
    frame.end();
    wasm::FrameHeader& header = frame.header();
    header.state = static_cast<std::uint32_t>(recoverer.state());
    header.attempts = recoverer.attempts();
    const TimeMs deadline = recoverer.next_deadline();
    header.number =
        deadline == tidemark::kNever ? std::numeric_limits<double>::infinity() : static_cast<double>(deadline);
  }
};

/// What tidemark_tell() tells. `value`: see there.
enum class Tell { Start, Bytes, End, Failure, Timeout, Wake, Hidden, Abort, Stop };

struct ParserHandle {
  explicit ParserHandle(std::size_t max_event_bytes)
      : parser({.max_line_bytes = max_event_bytes, .max_event_bytes = max_event_bytes}) {
    end_call();
  }
  wasm::Frame frame;
  sse::Parser parser;

  void end_call() {
    frame.end();
    frame.header().state = static_cast<std::uint32_t>(parser.error());
    const auto retry = parser.retry_ms();
    frame.header().number = retry ? static_cast<double>(*retry) : -1;
  }
};

TimeMs time_of(double now) { return static_cast<TimeMs>(now); }

}  // namespace

extern "C" {

/// Room for `size` bytes of input at the returned address.
EMSCRIPTEN_KEEPALIVE char* tidemark_input(std::uint32_t size) {
  g_input.clear();
  return g_input.reserve(size);
}

/// The dialect that a request's path tells, as its number; -1 for none.
EMSCRIPTEN_KEEPALIVE int tidemark_dialect_from_path(std::uint32_t size) {
  const auto found = dialect::from_path(input(size));
  return found ? static_cast<int>(*found) : -1;
}

/// FNV-1a over the last 30 code points of the input. Each half as an unsigned number.
EMSCRIPTEN_KEEPALIVE std::uint32_t tidemark_tail_fingerprint(std::uint32_t size, int upper_half) {
  const std::uint64_t fingerprint = seam::tail_fingerprint(input(size));
  return static_cast<std::uint32_t>(upper_half != 0 ? fingerprint >> 32 : fingerprint);
}

/// Input: the options as 64-bit floats, in this order. Returns a handle.
EMSCRIPTEN_KEEPALIVE RecovererHandle* tidemark_recoverer_new() {
  double given[13];
  std::memcpy(given, g_input.data(), sizeof given);
  session::RecovererOptions options;
  options.max_retries = static_cast<unsigned>(given[0]);
  options.first_retry_delay_ms = time_of(given[1]);
  options.backoff.base_ms = given[2];
  options.backoff.factor = given[3];
  options.backoff.jitter_ms = given[4];
  options.backoff.max_ms = given[5];
  options.heartbeat_timeout_ms = time_of(given[6]);
  options.max_retry_after_ms = time_of(given[7]);
  options.max_event_bytes = static_cast<std::size_t>(given[8]);
  if (given[9] >= 0) options.dialect = static_cast<dialect::Dialect>(static_cast<int>(given[9]));
  options.resume = static_cast<session::ResumeMode>(static_cast<int>(given[10]));
  options.seed = static_cast<std::uint64_t>(given[11]) << 32 | static_cast<std::uint64_t>(given[12]);
  return new RecovererHandle(options);
}
EMSCRIPTEN_KEEPALIVE void tidemark_recoverer_free(RecovererHandle* handle) { delete handle; }
EMSCRIPTEN_KEEPALIVE wasm::FrameHeader* tidemark_recoverer_frame(RecovererHandle* handle) {
  return &handle->frame.header();
}

/// Everything that a recoverer is told but a response. `attempt` where it is about a leg. `value`: of Bytes and Failure
/// the size of the input (the chunk, the message); of Hidden, whether it is.
EMSCRIPTEN_KEEPALIVE void tidemark_tell(RecovererHandle* handle, Tell what, double now_ms, unsigned attempt,
                                        std::uint32_t value) {
  const std::string_view chunk = what == Tell::Bytes ? input(value) : std::string_view();
  session::Recoverer& recoverer = handle->begin_call(chunk);
  const TimeMs now = time_of(now_ms);
  switch (what) {
    case Tell::Start:
      recoverer.start(now);
      break;
    case Tell::Bytes:
      recoverer.handle_bytes(now, attempt, chunk);
      break;
    case Tell::End:
      recoverer.handle_end(now, attempt);
      break;
    case Tell::Failure:
      recoverer.handle_failure(now, attempt, input(value));
      break;
    case Tell::Timeout:
      recoverer.handle_timeout(now);
      break;
    case Tell::Wake:
      recoverer.wake(now);
      break;
    case Tell::Hidden:
      recoverer.set_hidden(now, value != 0);
      break;
    case Tell::Abort:
      recoverer.abort(now);
      break;
    case Tell::Stop:
      recoverer.stop(now);
      break;
  }
  handle->end_call();
}

/// Input: three strings, one after the other, of the given sizes. `retry_after_ms`: not a number where none is asked
/// for.
EMSCRIPTEN_KEEPALIVE void tidemark_response(RecovererHandle* handle, double now, unsigned attempt, int status,
                                            int should_not_retry, double retry_after_ms, std::uint32_t content_type,
                                            std::uint32_t stream, std::uint32_t epoch) {
  session::ResponseFacts facts;
  facts.status = status;
  facts.should_not_retry = should_not_retry != 0;
  if (retry_after_ms >= 0) facts.retry_after_ms = time_of(retry_after_ms);
  std::uint32_t at = 0;
  const auto next = [&at](std::uint32_t size) {
    const std::string_view text = input(size, at);
    at += size;
    return text;
  };
  facts.content_type = next(content_type);
  facts.tidemark_stream = next(stream);
  facts.tidemark_epoch = next(epoch);
  handle->begin_call({}).handle_response(time_of(now), attempt, facts);
  handle->end_call();
}

EMSCRIPTEN_KEEPALIVE ParserHandle* tidemark_parser_new(double max_event_bytes) {
  return new ParserHandle(static_cast<std::size_t>(max_event_bytes));
}
EMSCRIPTEN_KEEPALIVE void tidemark_parser_free(ParserHandle* handle) { delete handle; }
EMSCRIPTEN_KEEPALIVE wasm::FrameHeader* tidemark_parser_frame(ParserHandle* handle) { return &handle->frame.header(); }

/// Input: the chunk.
EMSCRIPTEN_KEEPALIVE void tidemark_parser_feed(ParserHandle* handle, std::uint32_t size) {
  handle->frame.begin({});
  handle->parser.feed(input(size));
  sse::Event event;
  for (sse::Step step = handle->parser.next(event); step != sse::Step::NeedMore && step != sse::Step::Failed;
       step = handle->parser.next(event)) {
    if (step == sse::Step::Event) handle->frame.sse_event(event);
  }
  handle->frame.sse_id(handle->parser.last_event_id());
  handle->end_call();
}
/// End of the stream: what is unfinished is dropped, and the parser is ready for another one.
EMSCRIPTEN_KEEPALIVE void tidemark_parser_end(ParserHandle* handle) {
  handle->frame.begin({});
  handle->parser.reset();
  handle->end_call();
}

}  // extern "C"
