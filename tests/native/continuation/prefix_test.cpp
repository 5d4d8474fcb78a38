// The exact requests that continue by a prefix, provider by provider.
#include <string>

#include "tests/catch.hpp"
#include "tests/native/continuation/cut.hpp"

namespace tidemark::continuation {
namespace {

using config::PrefixStyle;
using dialect::Dialect;
using seam::Continuer;
using seam::Form;

ContinuedRequest prefixed(const CutAnswer& cut) {
  auto built = continued_request(Form::Prefix, cut);
  INFO(why_not(built));
  REQUIRE(built.ok());
  return std::move(built).value();
}

ContinuedRequest prefixed(const config::Upstream& upstream, Dialect dialect, std::string_view body,
                          std::string_view text) {
  return prefixed(cut_answer(upstream, dialect, body, text));
}

TEST_CASE("each provider gets its own form of prefix") {
  struct Case {
    const char* base_url;
    Dialect dialect;
    const char* target;
    Continuer continuer;
    const char* body;
    const char* continued;
  };
  const Case cases[] = {
      // Claude up to 4.5
      {"https://api.anthropic.com", Dialect::AnthropicMessages, "/v1/messages", Continuer::Model,
       R"({"model":"claude-sonnet-4-5","max_tokens":100,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],)"
       R"("messages":[{"role":"user","content":"hi"}],"stream":true})",
       R"({"model":"claude-sonnet-4-5","max_tokens":100,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],)"
       R"("messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Say \"é\""}],"stream":true})"},
      // llama.cpp, Ollama, an unknown host
      {"http://127.0.0.1:8080/base", Dialect::OpenaiChat, "/base/v1/chat/completions", Continuer::Model,
       R"({"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true})",
       R"({"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Say \"é\""}],"stream":true})"},
      {"https://openrouter.ai/api", Dialect::OpenaiChat, "/api/v1/chat/completions", Continuer::Model,
       R"({"messages":[{"role":"user","content":"hi"}],"model":"meta-llama/llama-3.3-70b"})",
       R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Say \"é\""}],"model":"meta-llama/llama-3.3-70b"})"},
      {"https://api.deepseek.com", Dialect::OpenaiChat, "/beta/chat/completions", Continuer::Model,
       R"({"model":"deepseek-chat","messages":[{"role":"user","content":"hi"}]})",
       R"({"model":"deepseek-chat","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Say \"é\"","prefix":true}]})"},
      {"https://api.mistral.ai", Dialect::OpenaiChat, "/v1/chat/completions", Continuer::Echo,
       R"({"model":"mistral-large-latest","messages":[{"role":"user","content":"hi"}]})",
       R"({"model":"mistral-large-latest","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Say \"é\"","prefix":true}]})"},
      {"https://dashscope.aliyuncs.com/compatible-mode", Dialect::OpenaiChat, "/compatible-mode/v1/chat/completions",
       Continuer::Model, R"({"model":"qwen3-max","messages":[{"role":"user","content":"hi"}]})",
       R"({"model":"qwen3-max","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Say \"é\"","partial":true}]})"},
      {"https://api.moonshot.cn", Dialect::OpenaiChat, "/v1/chat/completions", Continuer::Model,
       R"({"model":"kimi-k2","messages":[{"role":"user","content":"hi"}]})",
       R"({"model":"kimi-k2","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Say \"é\"","partial":true}]})"},
      {"https://generativelanguage.googleapis.com", Dialect::Gemini,
       "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", Continuer::Model,
       R"({"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"temperature":0.10}})",
       R"({"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"Say \"é\""}]}],"generationConfig":{"temperature":0.10}})"},
      {"http://127.0.0.1:8080", Dialect::OpenaiResponses, "/v1/responses", Continuer::Model,
       R"({"input":"hi \u00e9","instructions":"i","background":true,"store":true})",
       R"({"input":[{"role":"user","content":"hi \u00e9"},{"role":"assistant","content":"Say \"é\""}],"instructions":"i","background":true,"store":true})"},
      {"http://127.0.0.1:8080", Dialect::OpenaiResponses, "/v1/responses", Continuer::Model,
       R"({"previous_response_id":"resp_1","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]})",
       R"({"previous_response_id":"resp_1","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},{"role":"assistant","content":"Say \"é\""}]})"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.base_url, one.body);
    const config::Upstream upstream = upstream_at(one.base_url);
    const ContinuedRequest request = prefixed(upstream, one.dialect, one.body, "Say \"é\"");
    CHECK(request.method == "POST");
    CHECK(request.target == one.target);
    CHECK(request.body == one.continued);
    CHECK(request.continuer == one.continuer);
    CHECK(request.stripped_bytes == 0);
    CHECK(request.set.empty());
  }
}

TEST_CASE("a style that is configured is used") {
  struct Case {
    PrefixStyle style;
    const char* continued;
  };
  for (
      const Case& one : {
          Case{PrefixStyle::Trailing, R"({"messages":[{"role":"assistant","content":"T"}],"seed":1})"},
          Case{PrefixStyle::PrefixFlag, R"({"messages":[{"role":"assistant","content":"T","prefix":true}],"seed":1})"},
          Case{PrefixStyle::PartialFlag,
               R"({"messages":[{"role":"assistant","content":"T","partial":true}],"seed":1})"},
          Case{
              PrefixStyle::ContinueFinalMessage,
              R"({"messages":[{"role":"assistant","content":"T"}],"seed":1,"continue_final_message":true,"add_generation_prompt":false})"},
      }) {
    config::Upstream upstream = upstream_at("http://127.0.0.1:8000");
    upstream.prefix_style = one.style;
    CHECK(prefixed(upstream, Dialect::OpenaiChat, R"({"messages":[],"seed":1})", "T").body == one.continued);
  }
  config::Upstream vllm = upstream_at("http://127.0.0.1:8000");
  vllm.prefix_style = PrefixStyle::ContinueFinalMessage;
  CHECK(
      prefixed(vllm, Dialect::OpenaiChat, R"({"add_generation_prompt":true,"messages":[],"echo":true})", "T").body ==
      R"({"add_generation_prompt":false,"messages":[{"role":"assistant","content":"T"}],"echo":true,"continue_final_message":true})");
}

TEST_CASE("who sends the prefix again is told from the table, the configuration and the request") {
  config::Upstream upstream = upstream_at("http://127.0.0.1:8000");
  CHECK(prefixed(upstream, Dialect::OpenaiChat, R"({"messages":[]})", "T").continuer == Continuer::Model);
  CHECK(prefixed(upstream, Dialect::OpenaiChat, R"({"messages":[],"echo":true})", "T").continuer == Continuer::Echo);
  upstream.prefix_echo = true;
  CHECK(prefixed(upstream, Dialect::OpenaiChat, R"({"messages":[]})", "T").continuer == Continuer::Echo);
  const auto turn = continued_request(Form::ContinueTurn,
                                      cut_answer(upstream, Dialect::OpenaiChat, R"({"messages":[],"echo":true})", "T"));
  REQUIRE(turn.ok());
  CHECK(turn.value().continuer == Continuer::Model);
}

TEST_CASE("providers that refuse a prefix are not asked") {
  struct Case {
    const char* base_url;
    Dialect dialect;
    const char* body;
  };
  for (const Case& one : {
           Case{"https://api.openai.com", Dialect::OpenaiChat, R"({"model":"gpt-5.1","messages":[]})"},
           Case{"https://api.openai.com", Dialect::OpenaiResponses, R"({"model":"gpt-5.1","input":"x"})"},
           Case{"https://api.anthropic.com", Dialect::AnthropicMessages,
                R"({"model":"claude-opus-4-6","messages":[]})"},
           Case{"http://127.0.0.1:1", Dialect::AnthropicMessages, R"({"model":"claude-sonnet-5","messages":[]})"},
       }) {
    CAPTURE(one.base_url, one.body);
    const config::Upstream upstream = upstream_at(one.base_url);
    const CutAnswer cut = cut_answer(upstream, one.dialect, one.body, "T");
    CHECK(why_not(continued_request(Form::Prefix, cut)) == "prefix-refused");
    CHECK(why_not(continued_request(Form::ContinueTurn, cut)).empty());
  }
  const config::Upstream vertex = upstream_at("https://aiplatform.googleapis.com");
  CutAnswer cut = cut_answer(vertex, Dialect::AnthropicMessages, R"({"messages":[]})", "T");
  cut.target = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-4-6@default:streamRawPredict";
  CHECK(why_not(continued_request(Form::Prefix, cut)) == "prefix-refused");
  cut.target = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-4-5@20251101:streamRawPredict";
  CHECK(why_not(continued_request(Form::Prefix, cut)).empty());
}

TEST_CASE("white space at the end is left out where it is not taken, and counted") {
  struct Case {
    const char* text;
    const char* kept;
    std::size_t stripped;
  };
  const config::Upstream upstream = upstream_at("https://api.anthropic.com");
  const std::string body = R"({"model":"claude-sonnet-4-5","messages":[]})";
  for (const Case& one : {
           Case{"a b", "a b", 0}, Case{"a b ", "a b", 1}, Case{"a\n\n \t\r\v\f", R"(a)", 7},
           Case{"表\xE3\x80\x80\xC2\xA0", "表", 5}, Case{"a\xE2\x80\x89\xE2\x80\xA8", "a", 6},
           Case{"a\xE2\x80\x8B", "a\xE2\x80\x8B", 0},  // a zero-width space is none
       }) {
    const ContinuedRequest request = prefixed(upstream, Dialect::AnthropicMessages, body, one.text);
    CHECK(request.stripped_bytes == one.stripped);
    CHECK(request.body == std::string(R"({"model":"claude-sonnet-4-5","messages":[{"role":"assistant","content":")") +
                              one.kept + "\"}]}");
  }
  const config::Upstream unknown = upstream_at("http://127.0.0.1:1");
  const ContinuedRequest request = prefixed(unknown, Dialect::OpenaiChat, R"({"messages":[]})", "a \n");
  CHECK(request.stripped_bytes == 0);
  CHECK(request.body == R"({"messages":[{"role":"assistant","content":"a \n"}]})");
}

TEST_CASE("there is nothing to continue in white space") {
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
  for (const char* text : {"", " ", "\n\n", "\xE3\x80\x80"}) {
    for (const Form form : {Form::Prefix, Form::ContinueTurn}) {
      const CutAnswer cut = cut_answer(upstream, Dialect::OpenaiChat, R"({"messages":[]})", text);
      CHECK(why_not(continued_request(form, cut)) == "nothing-to-continue");
    }
  }
}

TEST_CASE("where the client itself began the answer, the text goes on in its message") {
  struct Case {
    Dialect dialect;
    const char* body;
    const char* continued;
  };
  const Case cases[] = {
      {Dialect::AnthropicMessages,
       R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"One"}]})",
       R"({"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"One, two"}]})"},
      {Dialect::AnthropicMessages,
       R"({"messages":[{"content":[{"type":"text","text":"A"},{"text":"One\n","type":"text","cache_control":{"type":"ephemeral"}}],"role":"assistant"}]})",
       R"({"messages":[{"content":[{"type":"text","text":"A"},{"text":"One\n, two","type":"text","cache_control":{"type":"ephemeral"}}],"role":"assistant"}]})"},
      {Dialect::OpenaiChat, R"({"messages":[{"role":"assistant","content":"","name":"x"}]})",
       R"({"messages":[{"role":"assistant","content":", two","name":"x"}]})"},
      {Dialect::Gemini, R"({"contents":[{"role":"model","parts":[{"text":"One"}]}]})",
       R"({"contents":[{"role":"model","parts":[{"text":"One, two"}]}]})"},
      {Dialect::OpenaiResponses,
       R"({"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One"}]}]})",
       R"({"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One, two"}]}]})"},
      // What looks like one, and is none: a new message it is.
      {Dialect::OpenaiChat, R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{}]}]})",
       R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{}]},{"role":"assistant","content":", two"}]})"},
      {Dialect::OpenaiChat, R"({"messages":[{"role":"tool","content":"r","tool_call_id":"c"}]})",
       R"({"messages":[{"role":"tool","content":"r","tool_call_id":"c"},{"role":"assistant","content":", two"}]})"},
      {Dialect::AnthropicMessages,
       R"({"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t"}]}]})",
       R"({"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t"}]},{"role":"assistant","content":", two"}]})"},
      {Dialect::Gemini, R"({"contents":[{"role":"model","parts":[{"text":"t","thought":true}]}]})",
       R"({"contents":[{"role":"model","parts":[{"text":"t","thought":true}]},{"role":"model","parts":[{"text":", two"}]}]})"},
      {Dialect::OpenaiChat, R"({"messages":[7]})", R"({"messages":[7,{"role":"assistant","content":", two"}]})"},
  };
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
  for (const Case& one : cases) {
    CAPTURE(one.body);
    CHECK(prefixed(upstream, one.dialect, one.body, ", two").body == one.continued);
  }
}

TEST_CASE("a flag that the client's own message has or lacks is set in it") {
  const config::Upstream deepseek = upstream_at("https://api.deepseek.com/beta");
  const auto request = prefixed(deepseek, Dialect::OpenaiChat,
                                R"({"messages":[{"prefix":true,"role":"assistant","content":"One"}]})", ", two");
  CHECK(request.body == R"({"messages":[{"prefix":true,"role":"assistant","content":"One, two"}]})");
  CHECK(request.target == "/beta/v1/chat/completions");
  const config::Upstream kimi = upstream_at("https://api.moonshot.ai");
  CHECK(prefixed(kimi, Dialect::OpenaiChat, R"({"messages":[{"role":"assistant","content":"One"}]})", ", two").body ==
        R"({"messages":[{"role":"assistant","content":"One, two","partial":true}]})");
}

TEST_CASE("an upstream that sends the prefix again has sent the client's own with the answer") {
  const config::Upstream mistral = upstream_at("https://api.mistral.ai");
  const std::string body = R"({"messages":[{"role":"assistant","content":"One\u00e9","prefix":true}]})";
  CHECK(prefixed(mistral, Dialect::OpenaiChat, body, "Oneé, two").body ==
        R"({"messages":[{"role":"assistant","content":"One\u00e9, two","prefix":true}]})");
  CHECK(prefixed(mistral, Dialect::OpenaiChat, body, ", two").body ==
        R"({"messages":[{"role":"assistant","content":"One\u00e9, two","prefix":true}]})");
}

TEST_CASE("what is left of a limit is asked for, and at least one token") {
  struct Case {
    Dialect dialect;
    const char* limit;
    std::uint64_t tokens;
    const char* left;
  };
  const Case cases[] = {
      {Dialect::OpenaiChat, R"("max_tokens":100)", 0, R"("max_tokens":100)"},
      {Dialect::OpenaiChat, R"("max_tokens":100)", 30, R"("max_tokens":70)"},
      {Dialect::OpenaiChat, R"("max_tokens":100)", 100, R"("max_tokens":1)"},
      {Dialect::OpenaiChat, R"("max_tokens":100)", 18446744073709551615u, R"("max_tokens":1)"},
      {Dialect::OpenaiChat, R"("max_tokens":1)", 30, R"("max_tokens":1)"},
      {Dialect::OpenaiChat, R"("max_tokens":0)", 30, R"("max_tokens":0)"},
      {Dialect::OpenaiChat, R"("max_tokens":null)", 30, R"("max_tokens":null)"},
      {Dialect::OpenaiChat, R"("max_tokens":-1)", 30, R"("max_tokens":-1)"},
      {Dialect::OpenaiChat, R"("max_tokens":"100")", 30, R"("max_tokens":"100")"},
      {Dialect::OpenaiChat, R"("max_tokens":100.0)", 30, R"("max_tokens":70)"},
      {Dialect::OpenaiChat, R"("max_tokens":100.5)", 30, R"("max_tokens":100.5)"},
      {Dialect::OpenaiChat, R"("max_tokens":5,"max_tokens":100)", 30, R"("max_tokens":5,"max_tokens":70)"},
      {Dialect::OpenaiChat, R"("max_completion_tokens":100,"max_tokens":90)", 30,
       R"("max_completion_tokens":70,"max_tokens":60)"},
      {Dialect::OpenaiChat, R"("max_tokens":100,"min_tokens":20)", 30, R"("max_tokens":70,"min_tokens":0)"},
      {Dialect::AnthropicMessages, R"("max_tokens":100)", 30, R"("max_tokens":70)"},
      {Dialect::OpenaiResponses, R"("max_output_tokens":100,"max_tokens":5)", 30,
       R"("max_output_tokens":70,"max_tokens":5)"},
      {Dialect::Gemini, R"("generationConfig":{"stopSequences":["x"],"maxOutputTokens":100})", 30,
       R"("generationConfig":{"stopSequences":["x"],"maxOutputTokens":70})"},
      {Dialect::Gemini, R"("generation_config":{"max_output_tokens":100})", 200,
       R"("generation_config":{"max_output_tokens":1})"},
      {Dialect::Gemini, R"("generationConfig":7)", 200, R"("generationConfig":7)"},
  };
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
  for (const Case& one : cases) {
    CAPTURE(one.limit, one.tokens);
    const std::string list = one.dialect == Dialect::OpenaiResponses ? "input"
                             : one.dialect == Dialect::Gemini        ? "contents"
                                                                     : "messages";
    const std::string body = "{" + std::string(one.limit) + ",\"" + list + "\":[]}";
    CutAnswer cut = cut_answer(upstream, one.dialect, body, "T");
    cut.tokens = one.tokens;
    const std::string continued = prefixed(cut).body;
    CHECK(continued.substr(0, continued.find(",\"" + list)) == "{" + std::string(one.left));
  }
}

TEST_CASE("a budget for thinking stays below the limit") {
  const config::Upstream upstream = upstream_at("https://api.anthropic.com");
  const std::string body =
      R"({"thinking":{"type":"enabled","budget_tokens":1024},"max_tokens":2000,"model":"claude-opus-4-6","messages":[]})";
  CutAnswer cut = cut_answer(upstream, Dialect::AnthropicMessages, body, "T");
  const auto limit_after = [&cut](std::uint64_t tokens) {
    cut.tokens = tokens;
    const auto built = continued_request(Form::ContinueTurn, cut);
    REQUIRE(built.ok());
    const std::string& continued = built.value().body;
    const std::size_t at = continued.find("max_tokens\":") + 12;
    return continued.substr(at, continued.find(',', at) - at);
  };
  CHECK(limit_after(500) == "1500");
  CHECK(limit_after(1500) == "1025");
}

TEST_CASE("all else in a body keeps its bytes and its order") {
  const std::string before =
      "{\n  \"temperature\" : 0.70, \"seed\":123456789012345678901234567890, \"stop\":[\"\\u003cend>\"],\n"
      R"(  "stream_options":{"include_usage":true}, "metadata":{"k":"\ud83d\ude00"}, "x":1,"x":2,)"
      R"( "tools":[{"type":"function","function":{"name":"f","parameters":{}}}], "messages": [)"
      R"({"role":"system","content":"s"}, {"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"data:"}}]},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":"r"} )";
  const std::string after = "],\n  \"stream\":true\n}\n";
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
  const std::string body = before + after;
  const std::size_t trailing = 1;  // the space before the bracket
  CHECK(prefixed(upstream, Dialect::OpenaiChat, body, "T").body ==
        before.substr(0, before.size() - trailing) + R"(,{"role":"assistant","content":"T"} )" + after);
}

TEST_CASE("headers that hold for the first request only are left out of the second") {
  const config::Upstream upstream = upstream_at("http://127.0.0.1:1/base");
  http::RequestHead head;
  head.method = "POST";
  head.target = "/base/v1/chat/completions";
  head.headers = {{"Host", "127.0.0.1:1"},
                  {"Authorization", "Bearer k"},
                  {"Content-Type", "application/json"},
                  {"Idempotency-Key", "one"},
                  {"Content-MD5", "x"},
                  {"Content-Digest", "x"},
                  {"X-Resume-Seq", "3"},
                  {"Last-Event-ID", "e-3"},
                  {"Tidemark-Epoch", "e"},
                  {"X-Tail-Fingerprint", "ff"},
                  {"X-Stainless-Retry-Count", "0"}};
  apply(prefixed(upstream, Dialect::OpenaiChat, R"({"messages":[]})", "T"), head);
  CHECK(head.method == "POST");
  CHECK(head.target == "/base/v1/chat/completions");
  CHECK(head.headers == http::Headers{{"Host", "127.0.0.1:1"},
                                      {"Authorization", "Bearer k"},
                                      {"Content-Type", "application/json"},
                                      {"X-Stainless-Retry-Count", "0"}});
}

}  // namespace
}  // namespace tidemark::continuation
