// Requests whose answers may not be continued, and why.
#include <string>

#include "tests/catch.hpp"
#include "tests/native/continuation/cut.hpp"

namespace tidemark::continuation {
namespace {

using dialect::Dialect;
using seam::Form;

struct Case {
  Dialect dialect;
  const char* members;  // beside the conversation
  const char* why;      // empty: it may
};

std::string body_of(const Case& one) {
  const std::string members = *one.members == '\0' ? "" : std::string(",") + one.members;
  switch (one.dialect) {
    case Dialect::OpenaiResponses:
      return R"({"model":"m","input":"hi")" + members + "}";
    case Dialect::Gemini:
      return R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}])" + members + "}";
    default:
      return R"({"model":"m","messages":[{"role":"user","content":"hi"}])" + members + "}";
  }
}

TEST_CASE("a request that asks for one plain text may have a seam, others may not") {
  constexpr Dialect kChat = Dialect::OpenaiChat;
  constexpr Dialect kResponses = Dialect::OpenaiResponses;
  constexpr Dialect kAnthropic = Dialect::AnthropicMessages;
  constexpr Dialect kGemini = Dialect::Gemini;
  const Case cases[] = {
      {kChat, "", ""},
      {kChat, R"("n":1)", ""},
      {kChat, R"("n":null,"response_format":null,"tool_choice":null,"modalities":null,"audio":null)", ""},
      {kChat, R"("n":2)", "several-choices"},
      {kChat, R"("n":"2")", "several-choices"},
      {kChat, R"("n":0)", "several-choices"},
      {kChat, R"("n":2,"n":1)", ""},
      {kChat, R"("best_of":3)", "several-choices"},
      {kChat, R"("response_format":{"type":"text"})", ""},
      {kChat, R"("response_format":{"type":"json_object"})", "structured-output"},
      {kChat, R"("response_format":{"type":"json_schema","json_schema":{}})", "structured-output"},
      {kChat, R"("response_format":"json")", "structured-output"},
      {kChat, R"("guided_json":{})", "structured-output"},
      {kChat, R"("guided_regex":"a+")", "structured-output"},
      {kChat, R"("guided_choice":["a"])", "structured-output"},
      {kChat, R"("guided_grammar":"g")", "structured-output"},
      {kChat, R"("structured_outputs":{"json":{}})", "structured-output"},
      {kChat, R"("grammar":"root ::= x")", "structured-output"},
      {kChat, R"("json_schema":{})", "structured-output"},
      {kChat, R"("regex":"a")", "structured-output"},
      {kChat, R"("ebnf":"a")", "structured-output"},
      {kChat, R"("format":"json")", "structured-output"},
      {kChat, R"("modalities":["text"])", ""},
      {kChat, R"("modalities":["text","audio"])", "other-media"},
      {kChat, R"("modalities":"image")", "other-media"},
      {kChat, R"("audio":{"voice":"alloy"})", "other-media"},
      {kChat, R"("tools":[],"tool_choice":"auto")", ""},
      {kChat, R"("tools":[],"tool_choice":"none")", ""},
      {kChat, R"("tools":[],"tool_choice":"required")", "forced-tool"},
      {kChat, R"("tool_choice":{"type":"function","function":{"name":"f"}})", "forced-tool"},
      {kChat, R"("tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto"}})", ""},
      {kChat, R"("tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required"}})", "forced-tool"},
      {kChat, R"("function_call":"auto")", ""},
      {kChat, R"("function_call":{"name":"f"})", "forced-tool"},
      {kResponses, "", ""},
      {kResponses, R"("text":{"format":{"type":"text"},"verbosity":"low"},"background":true,"store":true)", ""},
      {kResponses, R"("text":{"verbosity":"low"})", ""},
      {kResponses, R"("text":{"format":{"type":"json_object"}})", "structured-output"},
      {kResponses, R"("text":{"format":{"type":"json_schema","name":"x"}})", "structured-output"},
      {kResponses, R"("tool_choice":"required")", "forced-tool"},
      {kResponses, R"("tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]})", ""},
      {kResponses, R"("tool_choice":{"type":"allowed_tools","mode":"required","tools":[]})", "forced-tool"},
      {kResponses, R"("tool_choice":{"type":"function","name":"f"})", "forced-tool"},
      {kResponses, R"("prompt":{"id":"pmpt_1"})", "stored-prompt"},
      {kResponses, R"("conversation":"conv_1")", "stored-conversation"},
      {kResponses, R"("previous_response_id":"resp_1","instructions":"be brief")", ""},
      {kResponses, R"("input":{})", "no-messages"},
      {kAnthropic, "", ""},
      {kAnthropic, R"("output_config":{"effort":"high"})", ""},
      {kAnthropic, R"("output_config":{"format":{"type":"json_schema"}})", "structured-output"},
      {kAnthropic, R"("output_format":{"type":"json_schema"})", "structured-output"},
      {kAnthropic, R"("tool_choice":{"type":"auto","disable_parallel_tool_use":true})", ""},
      {kAnthropic, R"("tool_choice":{"type":"any"})", "forced-tool"},
      {kAnthropic, R"("tool_choice":{"type":"tool","name":"t"})", "forced-tool"},
      {kGemini, "", ""},
      {kGemini, R"("generationConfig":{"candidateCount":1,"responseMimeType":"text/plain"})", ""},
      {kGemini, R"("generationConfig":{"candidateCount":2})", "several-choices"},
      {kGemini, R"("generation_config":{"candidate_count":2})", "several-choices"},
      {kGemini, R"("generationConfig":{"responseMimeType":"application/json"})", "structured-output"},
      {kGemini, R"("generationConfig":{"responseMimeType":"text/x.enum"})", "structured-output"},
      {kGemini, R"("generationConfig":{"responseSchema":{}})", "structured-output"},
      {kGemini, R"("generationConfig":{"responseJsonSchema":{}})", "structured-output"},
      {kGemini, R"("generationConfig":{"responseModalities":["TEXT"]})", ""},
      {kGemini, R"("generationConfig":{"responseModalities":["TEXT","IMAGE"]})", "other-media"},
      {kGemini, R"("generationConfig":{"speechConfig":{}})", "other-media"},
      {kGemini, R"("toolConfig":{"functionCallingConfig":{"mode":"AUTO"}})", ""},
      {kGemini, R"("tool_config":{"function_calling_config":{"mode":"ANY"}})", "forced-tool"},
      {Dialect::AiSdkUi, "", "dialect"},
      {Dialect::Opaque, "", "dialect"},
      {Dialect::SeqDelta, "", "dialect"},
  };
  for (const Case& one : cases) {
    const std::string body = body_of(one);
    CAPTURE(dialect::name(one.dialect), body);
    for (const Form form : {Form::Prefix, Form::ContinueTurn}) {
      CHECK(why_no_seam(form, one.dialect, body).value_or("") == one.why);
      const config::Upstream upstream = upstream_at("http://127.0.0.1:1");
      CHECK(why_not(continued_request(form, cut_answer(upstream, one.dialect, body, "some text"))) == one.why);
    }
  }
}

TEST_CASE("a body that is no conversation has no seam") {
  const auto why = [](Dialect dialect, std::string_view body) {
    return why_no_seam(Form::Prefix, dialect, body).value_or("");
  };
  CHECK(why(Dialect::OpenaiChat, R"({"model":"m","prompt":"Once"})") == "legacy-completions");
  CHECK(why(Dialect::AnthropicMessages, R"({"model":"m","prompt":"Once"})") == "legacy-completions");
  CHECK(why(Dialect::OpenaiChat, "{}") == "no-messages");
  CHECK(why(Dialect::OpenaiChat, R"({"messages":"hi"})") == "no-messages");
  CHECK(why(Dialect::Gemini, R"({"contents":"hi"})") == "no-messages");
  for (const std::string_view body : {"", "[]", "null", "x", R"({"messages":[]}x)", "\x1f\x8b\x08"}) {
    CAPTURE(body);
    CHECK(why(Dialect::OpenaiChat, body) == "not-json");
  }
}

TEST_CASE("a resume needs what the provider keeps, and nothing else") {
  const auto why = [](Dialect dialect, std::string_view body) {
    return why_no_seam(Form::Reattach, dialect, body).value_or("");
  };
  CHECK(why(Dialect::OpenaiResponses, R"({"background":true,"store":true})").empty());
  CHECK(why(Dialect::OpenaiResponses, R"({"background":true})").empty());
  CHECK(why(Dialect::OpenaiResponses,
            R"({"background":true,"store":true,"text":{"format":{"type":"json_object"}},"tool_choice":"required"})")
            .empty());
  CHECK(why(Dialect::OpenaiResponses, R"({"background":true,"store":false})") == "not-resumable");
  CHECK(why(Dialect::OpenaiResponses, R"({"store":true})") == "not-resumable");
  CHECK(why(Dialect::OpenaiResponses, R"({"background":"true","store":true})") == "not-resumable");
  CHECK(why(Dialect::OpenaiChat, R"({"background":true,"store":true})") == "not-resumable");
  CHECK(why(Dialect::OpenaiResponses, "x") == "not-json");
  CHECK(why(Dialect::SeqDelta, "anything").empty());
}

TEST_CASE("a thinking mode keeps a prefix off where the provider says so") {
  struct Thinking {
    const char* base_url;
    Dialect dialect;
    const char* body;
    bool prefix;
  };
  const Thinking cases[] = {
      {"https://api.anthropic.com", Dialect::AnthropicMessages,
       R"({"model":"claude-sonnet-4-5","thinking":{"type":"enabled","budget_tokens":1024},"messages":[]})", false},
      {"https://api.anthropic.com", Dialect::AnthropicMessages,
       R"({"model":"claude-sonnet-4-5","thinking":{"type":"adaptive"},"messages":[]})", false},
      {"https://api.anthropic.com", Dialect::AnthropicMessages,
       R"({"model":"claude-sonnet-4-5","thinking":{"type":"disabled"},"messages":[]})", true},
      {"https://openrouter.ai/api", Dialect::OpenaiChat,
       R"({"model":"anthropic/claude-sonnet-4.5","reasoning":{"effort":"low"},"messages":[]})", false},
      {"https://openrouter.ai/api", Dialect::OpenaiChat,
       R"({"model":"anthropic/claude-sonnet-4.5","reasoning":{"effort":"none"},"messages":[]})", true},
      {"https://openrouter.ai/api", Dialect::OpenaiChat,
       R"({"model":"anthropic/claude-sonnet-4.5","reasoning":{"max_tokens":2000},"messages":[]})", false},
      {"https://openrouter.ai/api", Dialect::OpenaiChat,
       R"({"model":"anthropic/claude-3.7-sonnet:Thinking","messages":[]})", false},
      {"https://dashscope.aliyuncs.com/compatible-mode", Dialect::OpenaiChat,
       R"({"model":"qwen-plus","enable_thinking":true,"messages":[]})", false},
      {"https://dashscope.aliyuncs.com/compatible-mode", Dialect::OpenaiChat,
       R"({"model":"qwen-plus","enable_thinking":false,"messages":[]})", true},
      {"https://dashscope.aliyuncs.com/compatible-mode", Dialect::OpenaiChat, R"({"model":"qwq-plus","messages":[]})",
       false},
      {"https://api.moonshot.ai", Dialect::OpenaiChat, R"({"model":"kimi-k2-thinking","messages":[]})", false},
      {"https://api.moonshot.ai", Dialect::OpenaiChat,
       R"({"model":"kimi-k2.5","thinking":{"type":"disabled"},"messages":[]})", true},
      {"http://127.0.0.1:8080", Dialect::OpenaiChat,
       R"({"model":"m","chat_template_kwargs":{"enable_thinking":true},"messages":[]})", false},
      {"http://127.0.0.1:8080", Dialect::OpenaiChat, R"({"model":"m","reasoning_effort":"low","messages":[]})", true},
      {"https://api.deepseek.com", Dialect::OpenaiChat,
       R"({"model":"deepseek-reasoner","thinking":{"type":"enabled"},"messages":[]})", true},
  };
  for (const Thinking& one : cases) {
    CAPTURE(one.base_url, one.body);
    const config::Upstream upstream = upstream_at(one.base_url);
    const CutAnswer cut = cut_answer(upstream, one.dialect, one.body, "some text");
    CHECK(why_not(continued_request(Form::Prefix, cut)) == (one.prefix ? "" : "thinking"));
    CHECK(why_not(continued_request(Form::ContinueTurn, cut)).empty());
  }
}

TEST_CASE("an answer that began with reasoning tells of a thinking mode, too") {
  struct Reasoned {
    const char* base_url;
    Dialect dialect;
    const char* model;
    bool prefix;
  };
  for (const Reasoned& one : {
           Reasoned{"https://api.moonshot.ai", Dialect::OpenaiChat, "kimi-k2.5", false},
           Reasoned{"https://dashscope.aliyuncs.com/compatible-mode", Dialect::OpenaiChat, "qwen3-32b", false},
           Reasoned{"https://api.anthropic.com", Dialect::AnthropicMessages, "claude-sonnet-4-5", false},
           Reasoned{"https://api.deepseek.com", Dialect::OpenaiChat, "deepseek-reasoner", true},
           Reasoned{"http://127.0.0.1:8080", Dialect::OpenaiChat, "m", true},
       }) {
    CAPTURE(one.base_url);
    const config::Upstream upstream = upstream_at(one.base_url);
    const std::string body = std::string(R"({"model":")") + one.model + R"(","messages":[]})";
    CutAnswer cut = cut_answer(upstream, one.dialect, body, "some text");
    CHECK(continued_request(Form::Prefix, cut).ok());
    cut.reasoned = true;
    CHECK(continued_request(Form::Prefix, cut).ok() == one.prefix);
  }
}

}  // namespace
}  // namespace tidemark::continuation
