// Small answers in each dialect, in pieces, framed as the providers frame them.
#pragma once

#include <string>
#include <vector>

#include "core/dialect/dialect.hpp"

namespace tidemark::test {

using dialect::Dialect;

struct RelaySample {
  Dialect dialect = Dialect::OpenaiChat;
  std::string message;    // progress: the beginning of the answer as a whole
  std::string preamble;   // all of the progress: after `message` what opens a block or an item
  std::string text;       // content
  std::string more_text;  // content
  std::string end;        // what finishes an answer, up to the terminal marker
  std::string failing;    // an error event that may pass
  std::string final;      // an error event that never will
  bool brackets = false;  // text lies in blocks or items that `end` closes

  std::string whole() const { return preamble + text + more_text + end; }
};

inline std::string event(const std::string& type, const std::string& rest) {
  return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + rest + "}\n\n";
}
inline std::string data_event(const std::string& json) { return "data: " + json + "\n\n"; }

inline RelaySample chat_sample(const std::string& id = "chatcmpl-1") {
  const std::string head =
      R"({"id":")" + id + R"(","object":"chat.completion.chunk","created":1,"model":"m","choices":)";
  RelaySample s;
  s.dialect = Dialect::OpenaiChat;
  s.preamble = data_event(head + R"([{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})");
  s.message = s.preamble;
  s.text = data_event(head + R"([{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]})");
  s.more_text = data_event(head + R"([{"index":0,"delta":{"content":" world"},"finish_reason":null}]})");
  s.end = data_event(head + R"([{"index":0,"delta":{},"finish_reason":"stop"}]})") + data_event("[DONE]");
  s.failing = data_event(R"({"error":{"message":"try later","type":"server_error","code":null}})");
  s.final = data_event(R"({"error":{"message":"no money","type":"insufficient_quota","code":"insufficient_quota"}})");
  return s;
}

inline RelaySample responses_sample(const std::string& id = "1") {
  const std::string response =
      R"(,"response":{"id":"resp_)" + id + R"(","status":"in_progress","model":"m","output":[]})";
  RelaySample s;
  s.dialect = Dialect::OpenaiResponses;
  s.brackets = true;
  s.message = event("response.created", R"(,"sequence_number":0)" + response) +
              event("response.in_progress", R"(,"sequence_number":1)" + response);
  s.preamble = s.message +
               event("response.output_item.added",
                     R"(,"sequence_number":2,"output_index":0,"item":{"id":"msg_)" + id +
                         R"(","type":"message","status":"in_progress","role":"assistant","content":[]})") +
               event("response.content_part.added",
                     R"(,"sequence_number":3,"item_id":"msg_)" + id +
                         R"(","output_index":0,"content_index":0,"part":{"type":"output_text","text":""})");
  const auto delta = [&](const std::string& seq, const std::string& text) {
    return event("response.output_text.delta", R"(,"sequence_number":)" + seq + R"(,"item_id":"msg_)" + id +
                                                   R"(","output_index":0,"content_index":0,"delta":")" + text + "\"");
  };
  s.text = delta("4", "Hello");
  s.more_text = delta("5", " world");
  s.end = event("response.output_text.done", R"(,"sequence_number":6,"item_id":"msg_)" + id +
                                                 R"(","output_index":0,"content_index":0,"text":"Hello world")") +
          event("response.content_part.done",
                R"(,"sequence_number":7,"item_id":"msg_)" + id +
                    R"(","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hello world"})") +
          event("response.output_item.done",
                R"(,"sequence_number":8,"output_index":0,"item":{"id":"msg_)" + id +
                    R"(","type":"message","status":"completed","role":"assistant","content":[]})") +
          event("response.completed", R"(,"sequence_number":9,"response":{"id":"resp_)" + id +
                                          R"(","status":"completed","model":"m","output":[],"usage":null})");
  s.failing = event("error", R"(,"sequence_number":4,"code":"server_error","message":"try later","param":null)");
  s.final = event("error", R"(,"sequence_number":4,"code":"invalid_prompt","message":"no money","param":null)");
  return s;
}

inline RelaySample anthropic_sample(const std::string& id = "msg_1") {
  RelaySample s;
  s.dialect = Dialect::AnthropicMessages;
  s.brackets = true;
  s.message = event("message_start", R"(,"message":{"id":")" + id +
                                         R"(","type":"message","role":"assistant","model":"m","content":[],)"
                                         R"("stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}})");
  s.preamble = s.message + event("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})");
  s.text = event("content_block_delta", R"(,"index":0,"delta":{"type":"text_delta","text":"Hello"})");
  s.more_text = event("content_block_delta", R"(,"index":0,"delta":{"type":"text_delta","text":" world"})");
  s.end = event("content_block_stop", R"(,"index":0)") +
          event("message_delta",
                R"(,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2})") +
          event("message_stop", "");
  s.failing = event("error", R"(,"error":{"type":"overloaded_error","message":"try later"})");
  s.final = event("error", R"(,"error":{"type":"invalid_request_error","message":"no money"})");
  return s;
}

inline RelaySample ai_sdk_sample() {
  RelaySample s;
  s.dialect = Dialect::AiSdkUi;
  s.brackets = true;
  s.message = data_event(R"({"type":"start","messageId":"m1"})") + data_event(R"({"type":"start-step"})");
  s.preamble = s.message + data_event(R"({"type":"text-start","id":"t1"})");
  s.text = data_event(R"({"type":"text-delta","id":"t1","delta":"Hello"})");
  s.more_text = data_event(R"({"type":"text-delta","id":"t1","delta":" world"})");
  s.end = data_event(R"({"type":"text-end","id":"t1"})") + data_event(R"({"type":"finish-step"})") +
          data_event(R"({"type":"finish"})") + data_event("[DONE]");
  return s;
}

/// The dialects whose error events tell passing from final.
inline std::vector<RelaySample> model_samples() { return {chat_sample(), responses_sample(), anthropic_sample()}; }

inline std::vector<RelaySample> samples() {
  std::vector<RelaySample> all = model_samples();
  all.push_back(ai_sdk_sample());
  return all;
}

}  // namespace tidemark::test
