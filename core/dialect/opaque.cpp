// opaque: any other event stream. Every event with data is content, whatever it says, and EOF is its end.
#include "core/dialect/challenge.hpp"
#include "core/dialect/dialects.hpp"

namespace tidemark::dialect::opaque {

bool read(Reading& reading) {
  reading.challenge = challenge_in(reading.event.data);
  if (reading.challenge) return true;
  reading.wordless = true;
  reading.answer.progress = true;
  return true;
}

}  // namespace tidemark::dialect::opaque
