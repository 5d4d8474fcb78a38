// seq-delta: Tidemark's own plain form, numbered deltas (docs/dialects.md).
#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::seq_delta {
namespace {

std::uint64_t next_number(const Answer& answer) { return answer.sequence ? *answer.sequence + 1 : 0; }

}  // namespace

bool read(Reading& reading) {
  if (is_done_marker(reading.event.data)) {
    reading.marker = true;
    return true;
  }
  JsonReader& json = reading.json;
  JsonString text;
  JsonString reasoning;
  JsonString finish_reason;
  bool done = false;
  const bool is_object = json.object([&](std::string_view key) {
    if (is(key, "seq")) {
      reading.take_sequence();
    } else if (is(key, "delta") || is(key, "text") || is(key, "content")) {
      const JsonString value = json.string();
      if (value) text = value;
    } else if (is(key, "reasoning")) {
      reasoning = json.string();
    } else if (is(key, "done")) {
      done = json.is_true();
    } else if (is(key, "finish_reason")) {
      finish_reason = json.string();
    } else if (is(key, "message")) {
      reading.take_error_member(key);
    } else {
      reading.take_other(key);
    }
  });
  if (!is_object || !json.at_end()) return false;
  reading.finish = chat_finish(finish_reason);
  if (reading.finish == Finish::Error) {
    reading.is_error = true;
    if (!reading.error.code) reading.error.code = finish_reason;
  }
  if (is(reading.event.name, "error")) reading.is_error = true;
  if (reading.is_error || reading.challenge) return true;
  reading.answer.progress = true;
  reading.take_text(text);
  reading.take_reasoning(reasoning);
  reading.marker = done;
  if (done && reading.finish == Finish::None) reading.finish = Finish::Stop;
  return true;
}

void end(const Answer& answer, FinishStyle style, OwnEvents& out) {
  OwnEvent event;
  JsonWriter json(event.data);
  json.begin_object().number_field("seq", next_number(answer)).raw_field("done", "true");
  json.field("finish_reason", chat_finish_name(style)).end_object();
  out.push_back(std::move(event));
}

void promote(const Answer& answer, std::string_view text, OwnEvents& out) {
  OwnEvent event;
  JsonWriter json(event.data);
  json.begin_object().number_field("seq", next_number(answer)).field("delta", text).end_object();
  out.push_back(std::move(event));
}

}  // namespace tidemark::dialect::seq_delta
