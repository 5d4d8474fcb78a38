// The frame: what one call gives back to JavaScript, packed, so that no call is made for a single event.
//
// A frame is three stretches of the module's memory, valid until the next call about the same object:
//   words  descriptors, 32-bit little-endian words, one after the other;
//   text   UTF-8; the strings of all descriptors in order, each as long (in UTF-16 code units) as its descriptor says:
//          decoded at once and then cut up;
//   raw    bytes of events that did not lie in the chunk as one piece.
// web/src/engine/frame.ts reads what is written here; the two change together.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/session/recoverer.hpp"
#include "core/sse/parser.hpp"
#include "wasm/byte_buffer.hpp"

namespace tidemark::wasm {

/// As JavaScript reads it; its address stays the same for the life of its object.
struct FrameHeader {
  std::uint32_t words_at = 0;
  std::uint32_t words_size = 0;  // in words
  std::uint32_t text_at = 0;
  std::uint32_t text_size = 0;
  std::uint32_t raw_at = 0;
  std::uint32_t raw_size = 0;
  std::uint32_t state = 0;     // Recoverer: RecovererState; parser: sse::Error
  std::uint32_t attempts = 0;  // Recoverer only
  double number = 0;           // Recoverer: the next deadline, infinite for none; parser: retry_ms, -1 for none
};

/// First byte of a descriptor's first word. `a`, `b` and `flags` are its other three bytes; a 64-bit number is two
/// words, the lower first; every string of the text is one word, its length.
enum class Op : std::uint8_t {
  Connect,  // flags: 1 resume_seq, 2 body_fields, 4 tail_header | attempt | resume_seq:64 | received_length:64 | epoch
            // | last event id | fingerprint
  Disconnect,  // attempt
  State,       // a: state
  Event,     // a: kind, b: finish, flags: see EventFlag | seq:64 | text | reasoning | block at, size | data at, size |
             // name at, size | trimmed
  Seam,      // a: kind | attempt | after_seq:64 | duplicates:64 | trimmed:64
  Retry,     // a: cause | attempt | delay_ms
  Finished,  // a: end | reason
  Failed,    // flags: 1 in_band, 2 retry_after | status | retry_after_ms | attempts | code | message
  SseEvent,  // flags: 1 named, 2 as the named event before | name | data
  SseId,     // the last event id, for the events from here on | id
};

/// Where an event's bytes lie: offsets count from the chunk's or from raw's beginning.
enum EventFlag : std::uint8_t {
  kBlockInRaw = 1,  // block (closing blank line included) and name
  kDataInRaw = 2,
  kNamed = 4,
};

class Frame {
 public:
  /// Forgets what was written. `chunk` is what the call is given.
  void begin(std::string_view chunk);
  /// Fills in the header's stretches.
  void end();
  FrameHeader& header() { return header_; }

  void word(std::uint32_t value);
  void first_word(Op op, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t flags = 0);
  void wide(std::int64_t value);
  void text(std::string_view text);

  void event(const session::EventAction& action);
  void sse_event(const sse::Event& event);
  /// Says so where the id in force has changed.
  void sse_id(std::string_view id);

 private:
  struct Place {  // of an event's block: in the chunk, or with kBlockInRaw in raw
    std::uint32_t at = 0;
    std::uint32_t size = 0;
    std::uint32_t flags = 0;
  };

  Place place(const session::EventAction& action);
  Place place_in_raw(std::string_view block, std::string_view closing);
  std::uint32_t in_raw(std::string_view bytes);

  FrameHeader header_;
  std::string_view chunk_;
  ByteBuffer words_, text_, raw_;
  std::string last_name_, last_id_;  // of SseEvents
};

/// Writes a Recoverer's orders into a frame.
class FrameSink final : public session::RecovererSink {
 public:
  explicit FrameSink(Frame& frame) : frame_(frame) {}
  void connect(const session::ConnectAction& action) override;
  void disconnect(unsigned attempt) override;
  void state(session::RecovererState state) override;
  void event(const session::EventAction& action) override { frame_.event(action); }
  void seam(const session::SeamAction& action) override;
  void retry(const session::RetryAction& action) override;
  void finished(const session::FinishedAction& action) override;
  void failed(const session::FailedAction& action) override;

 private:
  Frame& frame_;
};

}  // namespace tidemark::wasm
