// The bodies of answers that are not streamed.
#include "native/simulate/whole_answer.hpp"

#include <nlohmann/json.hpp>

namespace tidemark::simulate {

using dialect::Dialect;
using Json = nlohmann::ordered_json;

std::string whole_answer(Dialect spoken, const WholeAnswer& answer) {
  const Json usage = {{"input_tokens", answer.prompt_tokens}, {"output_tokens", answer.tokens}};
  const std::size_t total = answer.prompt_tokens + answer.tokens;
  if (spoken == Dialect::AnthropicMessages) {
    return Json{{"id", "msg_simulated" + answer.mark},
                {"type", "message"},
                {"role", "assistant"},
                {"model", "simulated-1"},
                {"content", Json::array({{{"type", "text"}, {"text", answer.text}}})},
                {"stop_reason", "end_turn"},
                {"stop_sequence", nullptr},
                {"usage", usage}}
        .dump();
  }
  if (spoken == Dialect::OpenaiResponses) {
    Json body = {
        {"id", "resp_simulated" + answer.mark},
        {"object", "response"},
        {"status", "completed"},
        {"model", "simulated-1"},
        {"output", Json::array({{{"id", "msg_simulated" + answer.mark},
                                 {"type", "message"},
                                 {"role", "assistant"},
                                 {"status", "completed"},
                                 {"content", Json::array({{{"type", "output_text"}, {"text", answer.text}}})}}})},
        {"usage", usage}};
    body["usage"]["total_tokens"] = total;
    return body.dump();
  }
  const Json message = {{"role", "assistant"}, {"content", answer.text}};
  return Json{
      {"id", "chatcmpl-simulated" + answer.mark},
      {"object", "chat.completion"},
      {"created", 1760000000},
      {"model", "simulated-1"},
      {"choices", Json::array({{{"index", 0}, {"message", message}, {"finish_reason", "stop"}}})},
      {"usage",
       {{"prompt_tokens", answer.prompt_tokens}, {"completion_tokens", answer.tokens}, {"total_tokens", total}}}}
      .dump();
}

}  // namespace tidemark::simulate
