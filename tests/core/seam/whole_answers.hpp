// Answers of each dialect made for these tests: several blocks and items, tool calls after text, escapes, usage.
#pragma once

#include <string>
#include <vector>

#include "tests/core/seam/answers.hpp"

namespace tidemark::seam::test {

struct WholeAnswer {
  std::string name;
  dialect::Dialect dialect = dialect::Dialect::Opaque;
  Events events;
};

inline Events named_events(const std::vector<std::string>& lines) {
  Events events;
  for (const std::string& line : lines) events.push_back({Json::parse(line).at("type").get<std::string>(), line});
  return events;
}

// Numbered from 0.
inline Events numbered_events(const std::vector<std::string>& lines) {
  Events events = named_events(lines);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].data.insert(events[i].data.size() - 1, ",\"sequence_number\":" + std::to_string(i));
  }
  return events;
}

inline WholeAnswer chat_with_tool_call() {
  const auto chunk = [](const std::string& delta, const std::string& finish = "null") {
    return dialect::OwnEvent{
        "",
        R"({"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m1","system_fingerprint":"fp1",)"
        R"("choices":[{"index":0,"delta":)" +
            delta + R"(,"logprobs":null,"finish_reason":)" + finish + "}]}"};
  };
  Events events{chunk(R"({"role":"assistant","content":""})"), chunk(R"({"reasoning_content":"Hm."})")};
  for (const char* text :
       {"Let me", " look: \\\"", "\u5929\u6c14\\u597d", "", " caf\\u00e9 \\ud83d\\ude00\\n", "ha ha ha"}) {
    events.push_back(chunk(std::string(R"({"content":")") + text + "\"}"));
  }
  events.push_back(chunk(
      R"({"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"weather","arguments":""}}]})"));
  events.push_back(chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]})"));
  events.push_back(chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}}]})"));
  events.push_back(chunk("{}", "\"tool_calls\""));
  events.push_back({"", R"({"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m1","choices":[],)"
                        R"("usage":{"prompt_tokens":12,"completion_tokens":40,"total_tokens":52}})"});
  events.push_back({"", "[DONE]"});
  return {"chat with a tool call", dialect::Dialect::OpenaiChat, events};
}

inline WholeAnswer chat_with_running_usage() {
  Events events;
  int tokens = 0;
  const auto add = [&](const std::string& choices) {
    events.push_back({"", R"({"id":"c2","created":5,"model":"m2","choices":[)" + choices +
                              R"(],"usage":{"prompt_tokens":9,"total_tokens":)" + std::to_string(9 + tokens) +
                              R"(,"completion_tokens":)" + std::to_string(tokens) + "}}"});
  };
  add(R"({"index":0,"delta":{"role":"assistant"}})");
  for (const char* text : {"One", " two", " three", " four"}) {
    ++tokens;
    add(R"({"index":0,"delta":{"content":")" + std::string(text) + R"("},"finish_reason":null})");
  }
  add(R"({"index":0,"delta":{"content":""},"finish_reason":"length"})");
  events.push_back({"", "[DONE]"});
  return {"chat with usage in every chunk", dialect::Dialect::OpenaiChat, events};
}

inline WholeAnswer anthropic_with_blocks() {
  return {
      "anthropic with many blocks", dialect::Dialect::AnthropicMessages,
      named_events({
          R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m1","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":30,"cache_creation_input_tokens":0,"cache_read_input_tokens":7,"output_tokens":1}}})",
          R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
          R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}})",
          R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}})",
          R"({"type":"content_block_stop","index":0})",
          R"({"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})",
          R"({"type":"ping"})",
          R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"First \"quoted\""}})",
          R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" \u5929\u6c14 ok"}})",
          R"({"type":"content_block_stop","index":1})",
          R"({"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}})",
          R"({"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"cited_text":"x","url":"u"}}})",
          R"({"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Second"}})",
          R"({"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":" block."}})",
          R"({"type":"content_block_stop","index":2})",
          R"({"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{}}})",
          R"({"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}})",
          R"({"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"1}"}})",
          R"({"type":"content_block_stop","index":3})",
          R"({"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":30,"cache_read_input_tokens":7,"output_tokens":44}})",
          R"({"type":"message_stop"})",
      })};
}

inline WholeAnswer responses_with_items() {
  const std::string part = R"({"type":"output_text","annotations":[],"text":"Let me \"look\": \u5929\u6c14 ok"})";
  const std::string reasoning = R"({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]})";
  const std::string message =
      R"({"id":"msg_1","type":"message","status":"completed","content":[)" + part + R"(],"role":"assistant"})";
  const std::string call =
      R"({"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"call_1","name":"f"})";
  return {
      "responses with many items", dialect::Dialect::OpenaiResponses,
      numbered_events({
          R"({"type":"response.created","response":{"id":"resp_1","created_at":7,"status":"in_progress","model":"m1","output":[],"usage":null}})",
          R"({"type":"response.in_progress","response":{"id":"resp_1","created_at":7,"status":"in_progress","model":"m1","output":[],"usage":null}})",
          R"({"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}})",
          R"({"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Hm."})",
          R"({"type":"response.output_item.done","output_index":0,"item":)" + reasoning + "}",
          R"({"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}})",
          R"({"type":"response.content_part.added","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}})",
          R"({"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"Let me \"","logprobs":[]})",
          R"({"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"look\": \u5929","logprobs":[{"token":"x"}]})",
          R"({"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"\u6c14 ok"})",
          R"({"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"Let me \"look\": \u5929\u6c14 ok"})",
          R"({"type":"response.content_part.done","item_id":"msg_1","output_index":1,"content_index":0,"part":)" +
              part + "}",
          R"({"type":"response.output_item.done","output_index":1,"item":)" + message + "}",
          R"({"type":"response.output_item.added","output_index":2,"item":{"id":"msg_2","type":"message","status":"in_progress","content":[],"role":"assistant"}})",
          R"({"type":"response.content_part.added","item_id":"msg_2","output_index":2,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}})",
          R"({"type":"response.output_text.delta","item_id":"msg_2","output_index":2,"content_index":0,"delta":"Now."})",
          R"({"type":"response.output_text.done","item_id":"msg_2","output_index":2,"content_index":0,"text":"Now."})",
          R"({"type":"response.content_part.done","item_id":"msg_2","output_index":2,"content_index":0,"part":{"type":"output_text","annotations":[],"text":"Now."}})",
          R"({"type":"response.output_item.done","output_index":2,"item":{"id":"msg_2","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Now."}],"role":"assistant"}})",
          R"({"type":"response.output_item.added","output_index":3,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"f"}})",
          R"({"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":3,"delta":"{\"a\":1}"})",
          R"({"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":3,"arguments":"{\"a\":1}"})",
          R"({"type":"response.output_item.done","output_index":3,"item":)" + call + "}",
          R"({"type":"response.completed","response":{"id":"resp_1","created_at":7,"status":"completed","model":"m1","output":[)" +
              reasoning + "," + message +
              R"(,{"id":"msg_2","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"Now."}],"role":"assistant"},)" +
              call +
              R"(],"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":0},"output_tokens":50,"total_tokens":62}}})",
      })};
}

inline WholeAnswer gemini_with_call() {
  const auto chunk = [](const std::string& part, int tokens, const std::string& finish = "") {
    return dialect::OwnEvent{"", R"({"candidates":[{"content":{"parts":[)" + part + R"(],"role":"model"},)" +
                                     (finish.empty() ? "" : R"("finishReason":")" + finish + "\",") +
                                     R"("index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":)" +
                                     std::to_string(tokens) + R"(,"totalTokenCount":)" + std::to_string(9 + tokens) +
                                     R"(},"modelVersion":"g1","responseId":"r1"})"};
  };
  return {"gemini with a call",
          dialect::Dialect::Gemini,
          {chunk(R"({"text":"Hm.","thought":true})", 1), chunk(R"({"text":"Let me"})", 2),
           chunk(R"({"text":" \"look\" \u5929"},{"text":"\u6c14"})", 4), chunk(R"({"text":" ok"})", 5),
           chunk(R"({"functionCall":{"name":"f","args":{"a":1}}})", 8),
           chunk(R"({"text":"","thoughtSignature":"abc"})", 9, "STOP")}};
}

inline std::vector<WholeAnswer> whole_answers() {
  return {chat_with_tool_call(), chat_with_running_usage(), anthropic_with_blocks(), responses_with_items(),
          gemini_with_call()};
}

}  // namespace tidemark::seam::test
