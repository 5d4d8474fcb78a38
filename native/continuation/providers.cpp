// The table of providers, with the source of each line.
#include "native/continuation/providers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace tidemark::continuation {
namespace {

using config::PrefixStyle;
using dialect::Dialect;

constexpr bool starts_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

constexpr bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// A host by its name, or "*.NAME" for the hosts under NAME.
bool matches_host(std::string_view pattern, std::string_view host) {
  if (pattern.empty()) return true;
  if (!starts_with(pattern, "*.")) return host == pattern;
  return ends_with(host, pattern.substr(1));
}

enum class Models : std::uint8_t { All, OldClaude, NewClaude, OpenaiOwn };

bool matches_model(Models models, std::string_view model) {
  switch (models) {
    case Models::All:
      return true;
    case Models::OldClaude:
      return claude_of(model) == Claude::TakesPrefix;
    case Models::NewClaude:
      return claude_of(model) == Claude::RefusesPrefix;
    case Models::OpenaiOwn:
      return starts_with(model, "openai/") && !starts_with(model, "openai/gpt-oss");
  }
  return false;
}

struct Line {
  std::string_view host;  // empty: any
  Models models;
  bool chat_only;  // said of chat completions; the provider's other APIs are taken for unknown ones
  PrefixManner manner;
};

constexpr PrefixManner kPartialMode{
    .style = PrefixStyle::PartialFlag, .never_thinking = true, .never_after_thought = true};

// The first line that matches counts. "Documented" and "source" were read; "reported" is what users and other clients'
// code say, and an upstream that answers otherwise is remembered (RefusedForms).
constexpr std::array kLines{
    // Documented by Anthropic, for its own API, Bedrock and Vertex: from Claude 4.6 on a last assistant message is
    // answered 400, "This model does not support assistant message prefill".
    Line{"", Models::NewClaude, false, {.refused = true}},
    // Documented by Anthropic: Claude up to 4.5 goes on with a last assistant message, which must not end in white
    // space; not together with extended thinking.
    Line{"", Models::OldClaude, false, {.strips = true, .never_thinking = true, .never_after_thought = true}},
    // Documented by OpenAI, as what is missing: a last assistant message is history, and a new turn begins.
    Line{"api.openai.com", Models::All, false, {.refused = true}},
    Line{"*.api.openai.com", Models::All, false, {.refused = true}},  // regional hosts
    Line{"*.openai.azure.com", Models::All, false, {.refused = true}},
    // Reported: the same models, behind OpenRouter.
    Line{"openrouter.ai", Models::OpenaiOwn, false, {.refused = true}},
    // Documented by DeepSeek ("Chat Prefix Completion"), for the base https://api.deepseek.com/beta; also with its
    // reasoning model. Reported: only what comes after the prefix is sent.
    Line{"api.deepseek.com", Models::All, true, {.style = PrefixStyle::PrefixFlag, .beta_path = true}},
    // Documented by Mistral (its API refuses a last assistant message without the flag). Reported: the answer begins
    // with the prefix.
    Line{"*.mistral.ai", Models::All, true, {.style = PrefixStyle::PrefixFlag, .echo = true}},
    // Documented by Alibaba Cloud ("partial mode"); only what comes after the prefix is sent. Reported: not in thinking
    // mode.
    Line{"dashscope.aliyuncs.com", Models::All, true, kPartialMode},
    Line{"dashscope-intl.aliyuncs.com", Models::All, true, kPartialMode},
    Line{"dashscope-us.aliyuncs.com", Models::All, true, kPartialMode},
    // Documented by Moonshot ("partial mode"), which sends only what comes after the prefix. Reported: its thinking
    // models do not take it well.
    Line{"api.moonshot.ai", Models::All, true, kPartialMode},
    Line{"api.moonshot.cn", Models::All, true, kPartialMode},
    // Everybody else goes on with a last assistant message or does not, which shows. Source: llama.cpp's server does,
    // unless started with --no-prefill-assistant, and refuses one with enable_thinking. Documented by OpenRouter
    // ("assistant prefill"), for the models behind it that do. Reported: Ollama, by the model's template; Gemini, for a
    // last turn of the role `model`. vLLM and SGLang (`continue_final_message`, in their sources) are nowhere to be
    // told by their host: they need `prefix_style`.
    Line{"", Models::All, false, {.never_thinking = true}},
};

/// What a style that the configuration names takes for granted.
void set_style(PrefixManner& manner, PrefixStyle style) {
  const bool as_known = !manner.refused && manner.style == style;
  manner.refused = false;
  if (as_known) return;
  manner.style = style;
  manner.echo = false;
  manner.beta_path = false;
  manner.never_thinking = style == PrefixStyle::PartialFlag || style == PrefixStyle::Trailing;
  manner.never_after_thought = style == PrefixStyle::PartialFlag;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); }

/// A version's number of one or two digits, with or without a v before it; longer ones are dates.
std::optional<int> version_number(std::string_view word) {
  if (!word.empty() && word.front() == 'v') word.remove_prefix(1);
  if (word.empty() || word.size() > 2 || !std::all_of(word.begin(), word.end(), is_digit)) return std::nullopt;
  int number = 0;
  for (const char c : word) number = number * 10 + (c - '0');
  return number;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_letter_or_digit(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_letter_or_digit(text[at])) ++at;
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

Claude claude_of(std::string_view model) {
  const std::string name = lower_case(model);
  const std::size_t at = name.rfind("claude");
  if (at == std::string::npos) return Claude::No;
  const auto words = words_of(std::string_view(name).substr(at + std::string_view("claude").size()));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "instant") return Claude::TakesPrefix;
    const auto major = version_number(words[i]);
    if (!major) continue;
    const bool more = i + 1 < words.size() && is_digit(words[i + 1].front());
    const int minor = more ? version_number(words[i + 1]).value_or(0) : 0;
    return *major > 4 || (*major == 4 && minor > 5) ? Claude::RefusesPrefix : Claude::TakesPrefix;
  }
  return Claude::RefusesPrefix;
}

PrefixManner prefix_manner(const config::Upstream& upstream, Dialect dialect, std::string_view model) {
  const std::string host = lower_case(upstream.base.address.host);
  const std::string name = lower_case(model);
  const bool chat = dialect == Dialect::OpenaiChat;
  const auto line = std::find_if(kLines.begin(), kLines.end(), [&](const Line& one) {
    return (chat || !one.chat_only) && matches_host(one.host, host) && matches_model(one.models, name);
  });
  PrefixManner manner = line->manner;  // the last line matches everything
  if (upstream.prefix_style) set_style(manner, chat ? *upstream.prefix_style : PrefixStyle::Trailing);
  if (upstream.prefix_echo) manner.echo = *upstream.prefix_echo;
  // Other servers of Anthropic's dialect are taken to be as strict as its own.
  if (dialect == Dialect::AnthropicMessages || claude_of(name) != Claude::No) manner.strips = true;
  return manner;
}

std::string under_beta(std::string_view path) {
  if (starts_with(path, "/beta/")) return std::string(path);
  if (starts_with(path, "/v1/")) path.remove_prefix(3);
  return std::string("/beta").append(path);
}

}  // namespace tidemark::continuation
