// Requests whose answers are not continued, dialect by dialect.
#include "native/continuation/conditions.hpp"

#include <algorithm>
#include <array>

#include "native/continuation/providers.hpp"

namespace tidemark::continuation {
namespace {

using dialect::Dialect;
using seam::Form;
using Reason = std::optional<std::string_view>;

constexpr std::string_view kSeveralChoices = "several-choices";
constexpr std::string_view kStructuredOutput = "structured-output";
constexpr std::string_view kOtherMedia = "other-media";
constexpr std::string_view kForcedTool = "forced-tool";
constexpr std::string_view kNoMessages = "no-messages";

/// Whether `count` is there and is not 1.
bool is_several(std::string_view count) { return !count.empty() && whole_number(count) != 1; }

/// Whether the value, which may be absent, is an object whose `type` is something else than `plain`.
bool has_type_beside(std::string_view value, std::string_view plain) {
  return !value.empty() && !JsonObject::of(value).is("type", plain);
}

/// Whether a list of output media, which may be absent, names another one than text.
bool names_other_than_text(std::string_view list) {
  if (list.empty()) return false;
  if (!is_array(list)) return true;
  const auto media = elements_of(list);
  return std::any_of(media.begin(), media.end(), [](std::string_view one) {
    const auto name = said(one);
    return name != "text" && name != "TEXT";
  });
}

/// A tool choice that leaves the model no text to write. OpenAI's two APIs, and those like them.
bool is_forced(std::string_view choice) {
  if (choice.empty()) return false;
  if (!is_object(choice)) return choice != "\"auto\"" && choice != "\"none\"";
  const JsonObject object = JsonObject::of(choice);
  if (object.is("type", "auto") || object.is("type", "none")) return false;
  if (!object.is("type", "allowed_tools")) return true;
  const JsonObject inside = object.has("mode") ? object : JsonObject::of(object.find("allowed_tools"));
  return !inside.is("mode", "auto");
}

/// Chat completions: how vLLM, SGLang, llama.cpp and Ollama are told of a grammar, beside OpenAI's response_format.
constexpr std::array<std::string_view, 11> kGrammars{
    "guided_json", "guided_regex", "guided_choice",  "guided_grammar", "structured_outputs", "grammar", "json_schema",
    "regex",       "ebnf",         "structural_tag", "format"};

Reason of_chat(const JsonObject& body) {
  if (!is_array(body.find("messages"))) return body.has("prompt") ? "legacy-completions" : kNoMessages;
  if (is_several(body.find("n")) || is_several(body.find("best_of"))) return kSeveralChoices;
  if (has_type_beside(body.find("response_format"), "text")) return kStructuredOutput;
  for (const std::string_view grammar : kGrammars) {
    if (body.has(grammar)) return kStructuredOutput;
  }
  if (names_other_than_text(body.find("modalities")) || body.has("audio")) return kOtherMedia;
  if (is_forced(body.find("tool_choice")) || is_forced(body.find("function_call"))) return kForcedTool;
  return std::nullopt;
}

Reason of_responses(const JsonObject& body) {
  const std::string_view input = body.find("input");
  if (body.has("prompt")) return "stored-prompt";  // what it says, and what it asks for, is not known here
  // Its items would be added to the conversation a second time.
  if (body.has("conversation")) return "stored-conversation";
  if (!is_array(input) && !is_string(input)) return kNoMessages;
  if (has_type_beside(JsonObject::of(body.find("text")).find("format"), "text")) return kStructuredOutput;
  if (names_other_than_text(body.find("modalities")) || body.has("audio")) return kOtherMedia;
  if (is_forced(body.find("tool_choice"))) return kForcedTool;
  return std::nullopt;
}

Reason of_anthropic(const JsonObject& body) {
  if (!is_array(body.find("messages"))) return body.has("prompt") ? "legacy-completions" : kNoMessages;
  if (body.has("output_format") || JsonObject::of(body.find("output_config")).has("format")) return kStructuredOutput;
  if (is_forced(body.find("tool_choice"))) return kForcedTool;
  return std::nullopt;
}

Reason of_gemini(const JsonObject& body) {
  if (!is_array(body.find("contents"))) return kNoMessages;
  const JsonObject config = JsonObject::of(body.find("generationConfig", "generation_config"));
  if (is_several(config.find("candidateCount", "candidate_count"))) return kSeveralChoices;
  const std::string_view type = config.find("responseMimeType", "response_mime_type");
  if (!type.empty() && said(type) != "text/plain" && said(type) != "") return kStructuredOutput;
  for (const std::string_view schema :
       {"responseSchema", "response_schema", "responseJsonSchema", "response_json_schema", "_responseJsonSchema"}) {
    if (config.has(schema)) return kStructuredOutput;
  }
  if (names_other_than_text(config.find("responseModalities", "response_modalities"))) return kOtherMedia;
  if (config.has("speechConfig") || config.has("speech_config")) return kOtherMedia;
  const JsonObject tools = JsonObject::of(body.find("toolConfig", "tool_config"));
  const JsonObject calling = JsonObject::of(tools.find("functionCallingConfig", "function_calling_config"));
  if (calling.is("mode", "ANY")) return kForcedTool;
  return std::nullopt;
}

Reason of_reattaching(Dialect dialect, const JsonObject& body) {
  // Responses are stored unless the request says otherwise.
  const bool stored = !body.has("store") || body.is_true("store");
  const bool resumable = dialect == Dialect::OpenaiResponses && body.is_true("background") && stored;
  return resumable ? Reason() : "not-resumable";
}

}  // namespace

std::optional<std::string_view> why_no_seam(Form form, Dialect dialect, const JsonObject& body) {
  if (form == Form::Reattach) return of_reattaching(dialect, body);
  switch (dialect) {
    case Dialect::OpenaiChat:
      return of_chat(body);
    case Dialect::OpenaiResponses:
      return of_responses(body);
    case Dialect::AnthropicMessages:
      return of_anthropic(body);
    case Dialect::Gemini:
      return of_gemini(body);
    case Dialect::SeqDelta:
    case Dialect::AiSdkUi:
    case Dialect::Opaque:
      break;
  }
  return "dialect";
}

bool asks_for_thinking(const JsonObject& body, std::string_view model) {
  const std::string name = lower_case(model);
  for (const std::string_view word : {"thinking", "qwq", "qvq"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  // Anthropic, Moonshot: {"type": "enabled" | "adaptive" | "disabled"}.
  const std::string_view thinking = body.find("thinking");
  if (is_object(thinking) && !JsonObject::of(thinking).is("type", "disabled")) return true;
  // Qwen; vLLM, SGLang and llama.cpp hand theirs to the model's template.
  if (thinking == "true" || body.is_true("enable_thinking")) return true;
  const JsonObject of_template = JsonObject::of(body.find("chat_template_kwargs"));
  if (of_template.is_true("enable_thinking") || of_template.is_true("thinking")) return true;
  // Claude behind an API of OpenAI's shape: its effort, or OpenRouter's own object.
  if (claude_of(name) == Claude::No) return false;
  const JsonObject reasoning = JsonObject::of(body.find("reasoning"));
  if (reasoning.is_true("enabled") || whole_number(reasoning.find("max_tokens")).value_or(0) > 0) return true;
  if (reasoning.has("effort") && !reasoning.is("effort", "none")) return true;
  return body.has("reasoning_effort") && !body.is("reasoning_effort", "none");
}

}  // namespace tidemark::continuation
