// Bodies of requests in each dialect, and the provider's ways to ask for more of an answer.
#include "native/simulate/request.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/utf8.hpp"
#include "core/seam/tail_fingerprint.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using Json = nlohmann::ordered_json;

constexpr std::string_view kWhiteSpace = " \t\r\n";

// A turn of the conversation.
struct Message {
  std::string role;
  std::optional<std::string> text;  // nullopt where it is more than text
};

std::optional<std::string> text_of(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const Json& part : content) {
    if (!part.is_object() || !part.contains("text") || !part["text"].is_string()) return std::nullopt;
    text += part["text"].get<std::string>();
  }
  return text;
}

Message message_of(const Json& json) {
  Message message;
  if (!json.is_object()) return message;
  if (json.contains("role") && json["role"].is_string()) message.role = json["role"].get<std::string>();
  if (json.contains("content")) message.text = text_of(json["content"]);
  return message;
}

bool is_true(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_boolean() && found->get<bool>();
}

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

// Whether a user's turn quotes the end of a text.
bool quotes_end(std::string_view turn, std::string_view text) {
  constexpr std::size_t kQuoted = 8;
  const std::size_t end = text.find_last_not_of(kWhiteSpace) + 1;
  std::size_t begin = end;
  for (std::size_t points = 0; points < kQuoted && begin > 0;) {
    if (!is_continuation(text[--begin])) ++points;
  }
  return turn.find(text.substr(begin, end - begin)) != std::string_view::npos;
}

// Where a resumed /v1/seq answer starts: behind the watermark of the header, or of the body.
std::optional<seam::Seq> watermark_of(const http::Headers& headers, const Json& body) {
  if (const std::string* given = headers.find("X-Resume-Seq")) return seam::parse_watermark(*given);
  const auto field = body.find("resumeSeq");
  if (field == body.end()) return seam::kNothing;
  if (!field->is_number_integer() || field->get<seam::Seq>() < seam::kNothing) return std::nullopt;
  return field->get<seam::Seq>();
}

// The beginning of the answer that is `received` units of UTF-16 long and ends as the fingerprint says.
std::optional<std::size_t> tail_in(std::string_view answer, const http::Headers& headers, const Json& body) {
  const auto received = body.find("receivedLength");
  if (received == body.end() || !received->is_number_unsigned()) return std::nullopt;
  std::string fingerprint(headers.get("X-Tail-Fingerprint"));
  if (const auto field = body.find("tailFingerprint"); field != body.end() && field->is_string()) {
    fingerprint = field->get<std::string>();
  }
  std::uint64_t left = received->get<std::uint64_t>();
  std::size_t bytes = 0;
  while (left > 0 && bytes < answer.size()) {
    const std::uint64_t units = utf16_units(answer[bytes]);
    if (units > left) return std::nullopt;
    left -= units;
    do ++bytes;
    while (bytes < answer.size() && is_continuation(answer[bytes]));
  }
  if (left > 0 || seam::to_hex(seam::tail_fingerprint(answer.substr(0, bytes))) != fingerprint) return std::nullopt;
  return bytes;
}

// Takes off the turns that a continuation adds, and says the rest in one way.
class Conversation {
 public:
  Conversation(const Json& turns, std::string_view answer) : answer_(answer) {
    if (turns.is_string()) {
      turns_.push_back({{"role", "user"}, {"content", turns}});
    } else if (turns.is_array()) {
      turns_ = turns;
    }
  }

  bool ends_with_assistant() const { return at(1).role == "assistant"; }
  std::optional<std::string> last_text() const { return at(1).text; }

  /// How the last turns continue the answer.
  Continues continues(std::size_t& so_far) const {
    so_far = begun_in(at(ends_with_assistant() ? 1 : 2));
    if (ends_with_assistant()) return so_far > 0 ? Continues::Prefix : Continues::Nothing;
    return asks_to_go_on() ? Continues::Turn : Continues::Nothing;
  }

  Json original() {
    while (!turns_.empty()) {
      const std::size_t added = ends_with_assistant() ? 1 : asks_to_go_on() ? 2 : 0;
      if (added == 0) break;
      turns_.erase(turns_.end() - static_cast<std::ptrdiff_t>(added), turns_.end());
    }
    Json original = Json::array();
    for (const Json& turn : turns_) {
      const Message message = message_of(turn);
      original.push_back(message.text ? Json{{"role", message.role}, {"content", *message.text}} : turn);
    }
    return original;
  }

 private:
  Message at(std::size_t from_end) const {
    return from_end <= turns_.size() ? message_of(turns_[turns_.size() - from_end]) : Message{};
  }

  // Bytes of the answer that the assistant's message ends with. A beginning that the client had given it stands in
  // front of the answer's.
  std::size_t begun_in(const Message& assistant) const {
    constexpr std::size_t kLeast = 8;
    if (assistant.role != "assistant" || !assistant.text) return 0;
    const std::string_view text = *assistant.text;
    if (begins_with(answer_, text)) return text.size();
    for (std::size_t bytes = std::min(text.size(), answer_.size()); bytes >= kLeast; --bytes) {
      if (begins_with(answer_, text.substr(text.size() - bytes))) return bytes;
    }
    return 0;
  }

  // A later question in a conversation comes after the whole answer, and doesn't quote its end.
  bool asks_to_go_on() const {
    const Message user = at(1);
    const std::size_t begun = begun_in(at(2));
    if (user.role != "user" || !user.text || begun == 0) return false;
    const bool whole = begun > answer_.find_last_not_of(kWhiteSpace);
    return !whole || quotes_end(*user.text, answer_);
  }

  std::string_view answer_;
  Json turns_ = Json::array();
};

// What a continuation may change, beside the turns.
constexpr const char* kChanging[] = {
    "resumeSeq",         "receivedLength",         "tailFingerprint",       "max_tokens",    "max_completion_tokens",
    "max_output_tokens", "continue_final_message", "add_generation_prompt", "stream_options"};

}  // namespace

Result<Request, RequestRefused> read_request(Dialect spoken, const http::RequestHead& head, std::string_view text,
                                             std::string_view answer) {
  Json body = Json::parse(text, nullptr, false);
  if (!body.is_object()) return RequestRefused{"invalid_body", "body: allowed: a JSON object"};
  Request request;
  const auto watermark = watermark_of(head.headers, body);
  if (!watermark) return RequestRefused{"resume_invalid", "X-Resume-Seq: allowed: an integer from -1 on"};
  if (is_true(body, "continue_final_message") && is_true(body, "add_generation_prompt")) {
    return RequestRefused{"invalid_request",
                          "Cannot set both `continue_final_message` and `add_generation_prompt` to True."};
  }
  request.watermark = *watermark;
  request.stream = spoken == Dialect::SeqDelta || is_true(body, "stream");
  request.background = spoken == Dialect::OpenaiResponses && is_true(body, "background") &&
                       (is_true(body, "store") || !body.contains("store"));
  if (spoken != Dialect::SeqDelta) {
    const char* key = spoken == Dialect::OpenaiResponses ? "input" : "messages";
    Conversation conversation(body.value(key, Json()), answer);
    request.ends_with_assistant = conversation.ends_with_assistant();
    if (spoken == Dialect::AnthropicMessages && request.ends_with_assistant) {
      const auto last = conversation.last_text();
      if (last && !last->empty() && kWhiteSpace.find(last->back()) != std::string_view::npos) {
        return RequestRefused{"invalid_request_error",
                              "messages: final assistant content cannot end with trailing whitespace"};
      }
    }
    request.continues = conversation.continues(request.so_far);
    body[key] = conversation.original();
  }
  if (request.continues == Continues::Nothing && request.watermark == seam::kNothing) {
    if (const auto so_far = tail_in(answer, head.headers, body); so_far && *so_far > 0) {
      request.continues = Continues::Tail;
      request.so_far = *so_far;
    }
  }
  for (const char* field : kChanging) body.erase(field);
  request.subject = head.target.substr(0, head.target.find('?'));
  request.subject += '\n';
  request.subject += head.headers.get("X-Simulate");
  request.subject += '\n';
  request.subject += body.dump(-1, ' ', false, Json::error_handler_t::replace);
  request.subject += '\n';
  request.identity = request.subject;
  request.identity += head.headers.get("Idempotency-Key");
  return request;
}

}  // namespace tidemark::simulate
