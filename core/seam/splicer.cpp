// Choosing the dialect's splice, and what passes without one.
#include "core/seam/splicer.hpp"

#include <algorithm>
#include <string>

#include "core/dialect/json_text.hpp"
#include "core/seam/splice.hpp"

namespace tidemark::seam {
namespace {

using dialect::Dialect;
using dialect::Kind;

std::unique_ptr<Splice> splice_of(Dialect dialect, const dialect::Answer& so_far, std::string_view text,
                                  std::uint64_t tokens) {
  switch (dialect) {
    case Dialect::OpenaiChat:
      return splice_openai_chat(so_far, tokens);
    case Dialect::OpenaiResponses:
      return splice_openai_responses(so_far, text, tokens);
    case Dialect::AnthropicMessages:
      return splice_anthropic_messages(so_far, tokens);
    case Dialect::Gemini:
      return splice_gemini(so_far, tokens);
    case Dialect::SeqDelta:
    case Dialect::AiSdkUi:
    case Dialect::Opaque:
      break;
  }
  return nullptr;
}

}  // namespace

Splicer::Splicer(Dialect dialect, const dialect::Answer& so_far, std::string_view text, std::uint64_t tokens)
    : splice_(splice_of(dialect, so_far, text, tokens)) {}
Splicer::~Splicer() = default;
Splicer::Splicer(Splicer&&) noexcept = default;
Splicer& Splicer::operator=(Splicer&&) noexcept = default;

void Splicer::splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes, OwnEvents& out) {
  const bool is_object = !event.data.empty() && event.data.front() == '{' && meaning.kind != Kind::Malformed;
  if (splice_ && is_object) return splice_->splice(event, meaning, std::min(trim_bytes, meaning.text.size()), out);
  out.push_back({std::string(event.name), std::string(event.data)});
}

std::string quoted(std::string_view text) {
  std::string out;
  if (!text.empty()) dialect::append_json_string(out, text);
  return out;
}

void TextTrim::piece(const dialect::JsonString& string, dialect::JsonEdits& edits) {
  if (left_ == 0 || string.raw.empty()) return;
  std::string scratch;
  const std::string_view text = dialect::decoded(string, scratch);
  const std::size_t gone = std::min(left_, text.size());
  left_ -= gone;
  edits.replace_inside(string.raw, text.substr(gone));
}

}  // namespace tidemark::seam
