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
  const bool is_object = json.type() == JsonType::Object;
  for (const Word word : json.members()) {
    switch (word) {
      case Word::Seq:
        reading.take_sequence();
        break;
      case Word::Delta:
      case Word::Text:
      case Word::Content:
        if (const JsonString value = json.string()) text = value;
        break;
      case Word::Reasoning:
        json.string(reasoning);
        break;
      case Word::Done:
        done = json.is_true();
        break;
      case Word::FinishReason:
        json.string(finish_reason);
        break;
      case Word::Message:
        reading.take_error_member(word);
        break;
      default:
        reading.take_other(word);
        break;
    }
  }
  if (!is_object || !json.at_end()) return false;
  reading.finish = chat_finish(finish_reason);
  if (reading.finish == Finish::Error) {
    reading.is_error = true;
    if (!reading.error.code) reading.error.code = finish_reason;
  }
  if (word_of(reading.event.name) == Word::Error) reading.is_error = true;
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
