// The table of providers: who takes a prefix, and how.
#include "native/continuation/providers.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/native/continuation/cut.hpp"

namespace tidemark::continuation {
namespace {

using config::PrefixStyle;
using dialect::Dialect;

TEST_CASE("a Claude is known by any of its names") {
  for (const char* name :
       {"claude-3-5-sonnet-latest",
        "claude-3-5-sonnet-20241022",
        "claude-3-haiku-20240307",
        "claude-3-7-sonnet-latest",
        "claude-2.1",
        "claude-instant-1.2",
        "anthropic.claude-v2:1",
        "anthropic.claude-instant-v1",
        "claude-sonnet-4-0",
        "claude-sonnet-4-20250514",
        "claude-opus-4-1-20250805",
        "claude-sonnet-4-5-20250929",
        "claude-haiku-4-5",
        "anthropic/claude-sonnet-4.5",
        "anthropic/claude-3.5-sonnet:beta",
        "claude-opus-4@20250514",
        "claude-opus-4%4020250514",
        "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-sonnet-4-20250514-v1:0",
        "Claude-3-Opus",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-5-20251101-v1:0"}) {
    CAPTURE(name);
    CHECK(claude_of(name) == Claude::TakesPrefix);
  }
  for (const char* name : {"claude-sonnet-4-6", "claude-opus-4-6", "claude-opus-4-7", "anthropic/claude-sonnet-4.6",
                           "anthropic/claude-opus-4.7:thinking", "claude-opus-4-6@default", "claude-opus-4-6-20260205",
                           "us.anthropic.claude-opus-4-6-v1", "global.anthropic.claude-sonnet-4-6-20260101-v1:0",
                           "claude-sonnet-5", "claude-opus-5-1-20270101", "claude-5-haiku", "claude-4.6-opus",
                           "claude-latest", "claude-10-x", "CLAUDE-OPUS-4-6"}) {
    CAPTURE(name);
    CHECK(claude_of(name) == Claude::RefusesPrefix);
  }
  for (const char* name : {"", "gpt-5.1", "deepseek-chat", "gemini-2.5-flash", "cloud-4-6"}) {
    CAPTURE(name);
    CHECK(claude_of(name) == Claude::No);
  }
}

struct Known {
  const char* base_url;
  Dialect dialect;
  const char* model;
  bool refused;
  PrefixStyle style;
  bool echo;
};

TEST_CASE("every line of the table is found by host and model") {
  const Known cases[] = {
      {"https://api.openai.com", Dialect::OpenaiChat, "gpt-5.1", true, PrefixStyle::Trailing, false},
      {"https://API.OpenAI.com/v1", Dialect::OpenaiResponses, "gpt-5.1", true, PrefixStyle::Trailing, false},
      {"https://eu.api.openai.com", Dialect::OpenaiChat, "gpt-5.1", true, PrefixStyle::Trailing, false},
      {"https://mine.openai.azure.com", Dialect::OpenaiChat, "", true, PrefixStyle::Trailing, false},
      {"https://notapi.openai.com.example", Dialect::OpenaiChat, "gpt-5.1", false, PrefixStyle::Trailing, false},
      {"https://api.anthropic.com", Dialect::AnthropicMessages, "claude-sonnet-4-5", false, PrefixStyle::Trailing,
       false},
      {"https://api.anthropic.com", Dialect::AnthropicMessages, "claude-sonnet-4-6", true, PrefixStyle::Trailing,
       false},
      {"https://openrouter.ai/api", Dialect::OpenaiChat, "anthropic/claude-sonnet-4.6", true, PrefixStyle::Trailing,
       false},
      {"https://openrouter.ai/api", Dialect::OpenaiChat, "anthropic/claude-3.5-sonnet", false, PrefixStyle::Trailing,
       false},
      {"https://openrouter.ai/api", Dialect::OpenaiChat, "openai/gpt-5", true, PrefixStyle::Trailing, false},
      {"https://openrouter.ai/api", Dialect::OpenaiChat, "openai/gpt-oss-120b", false, PrefixStyle::Trailing, false},
      {"https://openrouter.ai/api", Dialect::OpenaiChat, "meta-llama/llama-3.3-70b", false, PrefixStyle::Trailing,
       false},
      {"https://api.deepseek.com", Dialect::OpenaiChat, "deepseek-chat", false, PrefixStyle::PrefixFlag, false},
      {"https://api.deepseek.com/anthropic", Dialect::AnthropicMessages, "deepseek-chat", false, PrefixStyle::Trailing,
       false},
      {"https://api.mistral.ai", Dialect::OpenaiChat, "mistral-large-latest", false, PrefixStyle::PrefixFlag, true},
      {"https://codestral.mistral.ai", Dialect::OpenaiChat, "codestral-latest", false, PrefixStyle::PrefixFlag, true},
      {"https://dashscope-intl.aliyuncs.com/compatible-mode", Dialect::OpenaiChat, "qwen3-max", false,
       PrefixStyle::PartialFlag, false},
      {"https://api.moonshot.ai", Dialect::OpenaiChat, "kimi-k2-0905-preview", false, PrefixStyle::PartialFlag, false},
      {"https://generativelanguage.googleapis.com", Dialect::Gemini, "gemini-2.5-flash", false, PrefixStyle::Trailing,
       false},
      {"http://127.0.0.1:8080", Dialect::OpenaiChat, "gpt-5.1", false, PrefixStyle::Trailing, false},
      {"http://[::1]:11434", Dialect::OpenaiChat, "llama3.3", false, PrefixStyle::Trailing, false},
  };
  for (const Known& known : cases) {
    CAPTURE(known.base_url, known.model);
    const PrefixManner manner = prefix_manner(upstream_at(known.base_url), known.dialect, known.model);
    CHECK(manner.refused == known.refused);
    CHECK(manner.style == known.style);
    CHECK(manner.echo == known.echo);
  }
}

TEST_CASE("white space at the end is left out for Claude and for Anthropic's dialect only") {
  const auto strips = [](const char* base_url, Dialect dialect, const char* model) {
    return prefix_manner(upstream_at(base_url), dialect, model).strips;
  };
  CHECK(strips("https://api.anthropic.com", Dialect::AnthropicMessages, "claude-sonnet-4-5"));
  CHECK(strips("http://127.0.0.1:1", Dialect::AnthropicMessages, "glm"));
  CHECK(strips("https://openrouter.ai/api", Dialect::OpenaiChat, "anthropic/claude-3.5-sonnet"));
  CHECK_FALSE(strips("https://openrouter.ai/api", Dialect::OpenaiChat, "llama"));
  CHECK_FALSE(strips("https://api.deepseek.com", Dialect::OpenaiChat, "deepseek-chat"));
}

TEST_CASE("the configuration is put in place of the table") {
  config::Upstream openai = upstream_at("https://api.openai.com");
  openai.prefix_style = PrefixStyle::ContinueFinalMessage;
  CHECK_FALSE(prefix_manner(openai, Dialect::OpenaiChat, "m").refused);
  CHECK(prefix_manner(openai, Dialect::OpenaiChat, "m").style == PrefixStyle::ContinueFinalMessage);
  CHECK(prefix_manner(openai, Dialect::OpenaiResponses, "m").style == PrefixStyle::Trailing);

  config::Upstream claude = upstream_at("https://openrouter.ai/api");
  claude.prefix_style = PrefixStyle::Trailing;
  CHECK_FALSE(prefix_manner(claude, Dialect::OpenaiChat, "anthropic/claude-opus-4.6").refused);
  CHECK(prefix_manner(claude, Dialect::OpenaiChat, "anthropic/claude-opus-4.6").strips);

  config::Upstream deepseek = upstream_at("https://api.deepseek.com");
  CHECK(prefix_manner(deepseek, Dialect::OpenaiChat, "m").beta_path);
  deepseek.prefix_style = PrefixStyle::PrefixFlag;
  CHECK(prefix_manner(deepseek, Dialect::OpenaiChat, "m").beta_path);
  deepseek.prefix_style = PrefixStyle::Trailing;
  CHECK_FALSE(prefix_manner(deepseek, Dialect::OpenaiChat, "m").beta_path);

  config::Upstream mistral = upstream_at("https://api.mistral.ai");
  mistral.prefix_style = PrefixStyle::PrefixFlag;
  CHECK(prefix_manner(mistral, Dialect::OpenaiChat, "m").echo);
  mistral.prefix_echo = false;
  CHECK_FALSE(prefix_manner(mistral, Dialect::OpenaiChat, "m").echo);

  config::Upstream gateway = upstream_at("http://127.0.0.1:1");
  gateway.prefix_style = PrefixStyle::PrefixFlag;
  CHECK_FALSE(prefix_manner(gateway, Dialect::OpenaiChat, "m").echo);
  CHECK_FALSE(prefix_manner(gateway, Dialect::OpenaiChat, "m").beta_path);
  gateway.prefix_echo = true;
  CHECK(prefix_manner(gateway, Dialect::OpenaiChat, "m").echo);
}

TEST_CASE("the way to DeepSeek's beta") {
  CHECK(under_beta("/chat/completions") == "/beta/chat/completions");
  CHECK(under_beta("/v1/chat/completions") == "/beta/chat/completions");
  CHECK(under_beta("/v1/chat/completions?x=1") == "/beta/chat/completions?x=1");
  CHECK(under_beta("/beta/chat/completions") == "/beta/chat/completions");
}

}  // namespace
}  // namespace tidemark::continuation
