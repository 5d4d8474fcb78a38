// Adding turns to `messages`, `input` or `contents`.
#include "native/continuation/turns.hpp"

#include <optional>
#include <string>

#include "core/dialect/json_text.hpp"

namespace tidemark::continuation {
namespace {

using config::PrefixStyle;
using dialect::Dialect;

enum class Role : std::uint8_t { User, Assistant };

std::string_view list_key(Dialect dialect) {
  if (dialect == Dialect::OpenaiResponses) return "input";
  return dialect == Dialect::Gemini ? "contents" : "messages";
}

std::string_view role_name(Dialect dialect, Role role) {
  if (role == Role::User) return "user";
  return dialect == Dialect::Gemini ? "model" : "assistant";
}

/// The member that says of a chat message that it is to be gone on with; empty: none.
std::string_view flag_of(PrefixStyle style) {
  if (style == PrefixStyle::PrefixFlag) return "prefix";
  return style == PrefixStyle::PartialFlag ? "partial" : "";
}

std::string turn(Dialect dialect, Role role, std::string_view text, std::string_view flag = {}) {
  std::string out;
  dialect::JsonWriter json(out);
  json.begin_object().field("role", role_name(dialect, role));
  if (dialect == Dialect::Gemini) {
    json.key("parts").begin_array().begin_object().field("text", text).end_object().end_array();
  } else {
    json.field("content", text);
  }
  if (!flag.empty()) json.raw_field(flag, "true");
  json.end_object();
  return out;
}

/// An assistant's turn that the client's conversation ends with.
struct Prefill {
  JsonObject message;
  std::string_view string;  // its text, or the last part of it
};

/// Whether a part of a message is text of the answer, to which more can be added.
bool is_text(const JsonObject& part) {
  const auto type = part.string("type");
  return is_string(part.find("text")) && (!type || type == "text" || type == "output_text") && !part.is_true("thought");
}

std::optional<Prefill> prefill_of(Dialect dialect, std::string_view list) {
  const auto turns = elements_of(list);
  if (turns.empty()) return std::nullopt;
  JsonObject message = JsonObject::of(turns.back());
  if (!message.is("role", role_name(dialect, Role::Assistant))) return std::nullopt;
  if (message.has("tool_calls") || message.has("function_call")) return std::nullopt;
  const std::string_view content = message.find(dialect == Dialect::Gemini ? "parts" : "content");
  if (dialect != Dialect::Gemini && is_string(content)) return Prefill{std::move(message), content};
  const auto parts = elements_of(content);
  if (parts.empty()) return std::nullopt;
  const JsonObject part = JsonObject::of(parts.back());
  if (!is_text(part)) return std::nullopt;
  return Prefill{std::move(message), part.find("text")};
}

/// Adds turns at the end of the conversation; a plain string that stands for one (Responses) becomes a list.
void add_turns(JsonEdit& edit, std::string_view list, const std::string& turns) {
  if (is_array(list)) return edit.append_element(list, turns);
  edit.replace(list,
               std::string("[{\"role\":\"user\",\"content\":").append(list).append("},").append(turns).append("]"));
}

/// The part of an answer's text that a prefill does not say already: an upstream that sends the prefix again has sent
/// the client's own first.
std::string_view beyond(const Prefill& prefill, std::string_view text, bool echo) {
  if (!echo) return text;
  const std::string before = said(prefill.string).value_or("");
  return text.substr(0, before.size()) == before ? text.substr(before.size()) : text;
}

}  // namespace

void add_prefix(JsonEdit& edit, Dialect dialect, const JsonObject& body, std::string_view text,
                const PrefixManner& manner) {
  const std::string_view list = body.find(list_key(dialect));
  const std::string_view flag = flag_of(manner.style);
  if (const auto prefill = prefill_of(dialect, list)) {
    edit.append_text(prefill->string, beyond(*prefill, text, manner.echo));
    if (!flag.empty()) edit.set(prefill->message, flag, "true");
  } else {
    add_turns(edit, list, turn(dialect, Role::Assistant, text, flag));
  }
  if (manner.style == PrefixStyle::ContinueFinalMessage) {
    edit.set(body, "continue_final_message", "true");
    edit.set(body, "add_generation_prompt", "false");
  }
}

void add_user_turn(JsonEdit& edit, Dialect dialect, const JsonObject& body, std::string_view text,
                   std::string_view notice, bool joined) {
  const std::string_view list = body.find(list_key(dialect));
  const std::string question = turn(dialect, Role::User, notice);
  const auto prefill = joined ? prefill_of(dialect, list) : std::nullopt;
  if (!prefill) return add_turns(edit, list, turn(dialect, Role::Assistant, text) + "," + question);
  edit.append_text(prefill->string, text);
  edit.append_element(list, question);
}

}  // namespace tidemark::continuation
