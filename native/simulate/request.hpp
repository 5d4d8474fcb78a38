// What a request to the simulated upstream asks for, and how much of the answer it says to be there already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/dialect/dialect.hpp"
#include "core/seam/watermark.hpp"
#include "native/http/message.hpp"

namespace tidemark::simulate {

/// How a request continues an answer.
enum class Continues : std::uint8_t {
  Nothing,
  Prefix,  // the text so far is the last message, the assistant's
  Turn,    // the text so far is the assistant's last message, and a user's turn asks to go on
  Tail,    // the length of the text so far and the fingerprint of its end
};

struct Request {
  bool stream = false;
  bool background = false;           // openai-responses: to be kept, for who comes back for it
  bool ends_with_assistant = false;  // whether or not that is a beginning of the answer
  seam::Seq watermark = seam::kNothing;
  Continues continues = Continues::Nothing;
  std::size_t so_far = 0;  // bytes of the answer's text that are there already

  /// Repetitions and continuations of a request agree in its subject, and repetitions in its identity as well, which
  /// begins with the subject and ends with the Idempotency-Key.
  std::string subject;
  std::string identity;
};

/// Why a request is refused, with status 400.
struct RequestRefused {
  std::string_view code;
  std::string_view message;
};

/// `answer`: the text that would be said. A request continues an answer only where its text so far begins that text.
Result<Request, RequestRefused> read_request(dialect::Dialect spoken, const http::RequestHead& head,
                                             std::string_view body, std::string_view answer);

}  // namespace tidemark::simulate
