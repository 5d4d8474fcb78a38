// Packing of everything but events, and what events need seldom.
#include <cstring>

#include "core/seam/tail_fingerprint.hpp"
#include "wasm/frame_abi.hpp"
#include "wasm/utf16_text.hpp"

namespace tidemark::wasm {
namespace {

std::uint32_t address(const void* pointer) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pointer));
}
std::uint32_t size32(std::size_t size) { return static_cast<std::uint32_t>(size); }

}  // namespace

void Frame::begin(std::string_view chunk) {
  chunk_ = chunk;
  words_.clear();
  text_.clear();
  raw_.clear();
}

void Frame::end() {
  header_.words_at = address(words_.data());
  header_.words_size = size32(words_.size() / sizeof(std::uint32_t));
  header_.text_at = address(text_.data());
  header_.text_size = size32(text_.size());
  header_.raw_at = address(raw_.data());
  header_.raw_size = size32(raw_.size());
}

void Frame::word(std::uint32_t value) {
  std::memcpy(words_.reserve(sizeof value), &value, sizeof value);
  words_.advance(sizeof value);
}

void Frame::first_word(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t flags) {
  word(static_cast<std::uint32_t>(op) | a << 8 | b << 16 | flags << 24);
}

void Frame::wide(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  word(static_cast<std::uint32_t>(bits));
  word(static_cast<std::uint32_t>(bits >> 32));
}

void Frame::text(std::string_view text) { word(append_text(text_, text)); }

std::uint32_t Frame::in_raw(std::string_view bytes) {
  const std::uint32_t at = size32(raw_.size());
  raw_.append(bytes);
  return at;
}

Frame::Place Frame::place_in_raw(std::string_view block, std::string_view closing) {
  Place placed{in_raw(block), size32(block.size() + closing.size()), kBlockInRaw};
  if (!block.ends_with('\n') && !block.ends_with('\r')) {  // the stream ended within its last line
    raw_.append(closing);
    placed.size += size32(closing.size());
  }
  raw_.append(closing);
  return placed;
}

void Frame::sse_event(const sse::Event& event) {
  sse_id(event.id);
  std::uint32_t flags = 0;
  std::string_view name;
  if (!event.name.empty()) {
    if (event.name == last_name_) {
      flags = 2;
    } else {
      flags = 1;
      last_name_ = name = event.name;
    }
  }
  first_word(Op::SseEvent, 0, 0, flags);
  text(name);
  text(event.data);
}

void Frame::sse_id(std::string_view id) {
  if (id == last_id_) return;
  last_id_ = id;
  first_word(Op::SseId);
  text(id);
}

void FrameSink::connect(const session::ConnectAction& action) {
  const std::uint32_t flags =
      (action.resume_seq ? 1u : 0u) | (action.body_fields ? 2u : 0u) | (action.tail_header ? 4u : 0u);
  frame_.first_word(Op::Connect, 0, 0, flags);
  frame_.word(action.attempt);
  frame_.wide(action.resume_seq.value_or(seam::kNothing));
  frame_.wide(static_cast<std::int64_t>(action.received_length));
  frame_.text(action.epoch);
  frame_.text(action.last_event_id);
  frame_.text(seam::to_hex(action.tail_fingerprint));
}

void FrameSink::disconnect(unsigned attempt) {
  frame_.first_word(Op::Disconnect);
  frame_.word(attempt);
}

void FrameSink::state(session::RecovererState state) {
  frame_.first_word(Op::State, static_cast<std::uint32_t>(state));
}

void FrameSink::seam(const session::SeamAction& action) {
  frame_.first_word(Op::Seam, static_cast<std::uint32_t>(action.kind));
  frame_.word(action.attempt);
  frame_.wide(action.after_seq);
  frame_.wide(static_cast<std::int64_t>(action.duplicates));
  frame_.wide(static_cast<std::int64_t>(action.trimmed));
}

void FrameSink::retry(const session::RetryAction& action) {
  frame_.first_word(Op::Retry, static_cast<std::uint32_t>(action.cause));
  frame_.word(action.attempt);
  frame_.word(static_cast<std::uint32_t>(action.delay_ms));
}

void FrameSink::finished(const session::FinishedAction& action) {
  frame_.first_word(Op::Finished, static_cast<std::uint32_t>(action.end));
  frame_.text(action.reason);
}

void FrameSink::failed(const session::FailedAction& action) {
  const std::uint32_t flags = (action.in_band ? 1u : 0u) | (action.retry_after_ms ? 2u : 0u);
  frame_.first_word(Op::Failed, 0, 0, flags);
  frame_.word(static_cast<std::uint32_t>(action.status));
  frame_.wide(action.retry_after_ms.value_or(0));
  frame_.word(action.attempts);
  frame_.text(action.code);
  frame_.text(action.message);
}

}  // namespace tidemark::wasm
