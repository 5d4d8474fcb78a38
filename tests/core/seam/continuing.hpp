// A whole stream cut at an event, and the attempt that another request for the rest would have brought: with a preamble
// and ids of its own, everything numbered from 0, some of the text again, reasoning first, usage as a provider counts
// it.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/seam/splicer.hpp"
#include "tests/core/seam/answers.hpp"

namespace tidemark::seam::test {

using dialect::Answer;
using dialect::Dialect;
using dialect::Interpreter;
using dialect::Kind;

inline sse::Event event_of(const dialect::OwnEvent& own) {
  sse::Event event;
  event.name = own.name;
  event.data = own.data;
  return event;
}

/// What the client has at the cut.
struct Delivered {
  Answer answer;
  std::string text;
  std::uint64_t text_events = 0;
};

inline Delivered delivered(Dialect dialect, const Events& events, std::size_t cut) {
  Interpreter reader(dialect);
  Delivered out;
  for (std::size_t i = 0; i < cut; ++i) {
    const std::size_t before = out.text.size();
    out.text += reader.interpret(event_of(events[i])).text;
    if (out.text.size() > before) ++out.text_events;
  }
  out.answer = reader.answer();
  return out;
}

/// Whether the relay would continue here.
inline bool may_continue(const Answer& answer) {
  return answer.text && !answer.tool_open && !answer.refusal && !answer.terminal &&
         answer.finish == dialect::Finish::None && answer.open_kind != Kind::Reasoning &&
         answer.open_kind != Kind::ToolFragment;
}

struct How {
  std::size_t overlap = 0;  // code points
  bool reasoning = false;
  int number = 1;                 // of the attempt: makes its ids
  std::mt19937* split = nullptr;  // text events are split anew
};

/// Where the last `count` code points of `text` begin.
inline std::size_t start_of_last(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  while (count > 0 && at > 0) {
    do --at;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u);
    --count;
  }
  return at;
}

class Continuing {
 public:
  Continuing(Dialect dialect, const Events& events, std::size_t cut, const How& how)
      : dialect_(dialect), events_(events), cut_(cut), how_(how), at_cut_(delivered(dialect, events, cut)) {
    again_ = at_cut_.text.substr(start_of_last(at_cut_.text, how.overlap));
    tokens_ = std::min(at_cut_.text_events, output_tokens());
    switch (dialect_) {
      case Dialect::OpenaiChat:
        make_chat();
        break;
      case Dialect::OpenaiResponses:
        make_responses();
        break;
      case Dialect::AnthropicMessages:
        make_anthropic();
        break;
      default:
        make_gemini();
        break;
    }
  }

  const Events& attempt() const { return attempt_; }

  /// What the client reads, from the first attempt's beginning to the second's end.
  Events spliced() const {
    Events out(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(cut_));
    Splicer splicer(dialect_, at_cut_.answer, at_cut_.text, tokens_);
    Interpreter reader(dialect_);
    std::size_t trim = again_.size();
    for (const auto& own : attempt_) {
      const sse::Event event = event_of(own);
      const dialect::Meaning meaning = reader.interpret(event);
      const std::size_t gone = std::min(trim, meaning.text.size());
      trim -= gone;
      splicer.splice(event, meaning, gone, out);
    }
    return out;
  }

 private:
  std::string fresh(const std::string& id) const { return "new" + std::to_string(how_.number) + "_" + id; }

  void say(const Json& data, const std::string& name = {}) {
    Json copy = data;
    if (copy.contains("sequence_number") || dialect_ == Dialect::OpenaiResponses)
      copy["sequence_number"] = attempt_.size();
    attempt_.push_back({name.empty() && data.contains("type") ? data["type"].get<std::string>() : name, copy.dump()});
  }

  /// `text` in pieces.
  std::vector<std::string> pieces(const std::string& text) const {
    if (how_.split == nullptr || text.empty()) return {text};
    std::vector<std::string> out{""};
    for (const char c : text) {
      const bool begins = (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
      if (begins && !out.back().empty() && (*how_.split)() % 4 == 0) out.emplace_back();
      out.back() += c;
    }
    return out;
  }

  // Of the whole answer, as its last usage tells it; plenty where none does.
  std::uint64_t output_tokens() const {
    std::uint64_t tokens = 1000000;
    constexpr std::size_t kLast = 4;
    for (std::size_t i = events_.size() - std::min(kLast, events_.size()); i < events_.size(); ++i) {
      const Json event = Json::parse(events_[i].data, nullptr, false);
      for (const char* key : {"usage", "usageMetadata"}) {
        const Json* usage = event.is_object() && event.contains(key) ? &event[key] : nullptr;
        if (event.is_object() && event.contains("response") && event["response"].contains(key))
          usage = &event["response"][key];
        for (const char* name : {"completion_tokens", "output_tokens", "candidatesTokenCount"}) {
          if (usage != nullptr && usage->is_object() && usage->contains(name)) tokens = (*usage)[name];
        }
      }
    }
    return tokens;
  }

  void count(Json& usage, const char* input, const char* output) const {
    if (!usage.is_object()) return;
    if (usage.contains(input)) usage[input] = usage[input].get<std::uint64_t>() + tokens_;
    if (usage.contains(output)) {
      const auto all = usage[output].get<std::uint64_t>();
      usage[output] = all - std::min(all, tokens_);
    }
  }

  // --- openai-chat

  void name_chunk(Json& chunk) const {
    chunk["id"] = fresh("id");
    chunk["created"] = 1 + how_.number;
    chunk["model"] = fresh("model");
    if (chunk.contains("system_fingerprint")) chunk["system_fingerprint"] = fresh("fp");
    if (chunk.contains("usage")) count(chunk["usage"], "prompt_tokens", "completion_tokens");
  }

  static Json chunk_of(const Json& delta) {
    return {{"object", "chat.completion.chunk"},
            {"choices", {{{"index", 0}, {"delta", delta}, {"logprobs", nullptr}, {"finish_reason", nullptr}}}}};
  }

  void say_chunk(Json chunk) {
    name_chunk(chunk);
    say(chunk);
  }

  void make_chat() {
    say_chunk(chunk_of({{"role", "assistant"}, {"content", ""}}));
    if (how_.reasoning) say_chunk(chunk_of({{"content", nullptr}, {"reasoning_content", "Where was I?"}}));
    for (const std::string& piece : pieces(again_)) {
      if (!piece.empty()) say_chunk(chunk_of({{"role", "assistant"}, {"content", piece}}));
    }
    for (std::size_t i = cut_; i < events_.size(); ++i) {
      if (events_[i].data == "[DONE]") {
        attempt_.push_back(events_[i]);
        continue;
      }
      Json chunk = Json::parse(events_[i].data);
      const bool has_text = !chunk["choices"].empty() && chunk["choices"][0]["delta"].contains("content") &&
                            chunk["choices"][0]["delta"]["content"].is_string();
      if (!has_text) {
        say_chunk(chunk);
        continue;
      }
      std::vector<std::string> texts = pieces(chunk["choices"][0]["delta"]["content"]);
      const std::string last = texts.back();
      texts.pop_back();
      for (const std::string& text : texts) say_chunk(chunk_of({{"content", text}}));
      chunk["choices"][0]["delta"]["content"] = last;
      say_chunk(chunk);
    }
  }

  // --- gemini

  void say_response(Json chunk) {
    chunk["responseId"] = fresh("id");
    chunk["modelVersion"] = fresh("model");
    if (chunk.contains("usageMetadata")) count(chunk["usageMetadata"], "promptTokenCount", "candidatesTokenCount");
    say(chunk);
  }

  void make_gemini() {
    const auto response_of = [&](const Json& part) -> Json {
      Json response = {{"candidates", {{{"content", {{"parts", {part}}, {"role", "model"}}}, {"index", 0}}}}};
      const Json usage = Json::parse(events_.front().data).value("usageMetadata", Json());
      if (usage.is_object()) response["usageMetadata"] = usage;
      return response;
    };
    if (how_.reasoning) say_response(response_of({{"text", "Where was I?"}, {"thought", true}}));
    for (const std::string& piece : pieces(again_)) {
      if (!piece.empty()) say_response(response_of({{"text", piece}}));
    }
    for (std::size_t i = cut_; i < events_.size(); ++i) say_response(Json::parse(events_[i].data));
  }

  // --- anthropic-messages

  void say_block_text(int index, const std::string& text) {
    for (const std::string& piece : pieces(text)) {
      say({{"type", "content_block_delta"}, {"index", index}, {"delta", {{"type", "text_delta"}, {"text", piece}}}});
    }
  }

  void make_anthropic() {
    Json start = Json::parse(events_.front().data);
    start["message"]["id"] = fresh("id");
    start["message"]["model"] = fresh("model");
    count(start["message"]["usage"], "input_tokens", "");
    say(start);
    int next = 0;
    if (how_.reasoning) {
      say({{"type", "content_block_start"}, {"index", 0}, {"content_block", {{"type", "thinking"}, {"thinking", ""}}}});
      say({{"type", "content_block_delta"},
           {"index", 0},
           {"delta", {{"type", "thinking_delta"}, {"thinking", "Where was I?"}}}});
      say({{"type", "content_block_stop"}, {"index", 0}});
      next = 1;
    }
    std::map<int, int> index;
    const int open = at_cut_.answer.open_kind == Kind::Text ? at_cut_.answer.open_index : -1;
    if (open >= 0 || !again_.empty()) {
      say({{"type", "content_block_start"}, {"index", next}, {"content_block", {{"type", "text"}, {"text", ""}}}});
      if (!again_.empty()) say_block_text(next, again_);
      if (open < 0) say({{"type", "content_block_stop"}, {"index", next}});
      if (open >= 0) index[open] = next;
      ++next;
    }
    for (std::size_t i = cut_; i < events_.size(); ++i) {
      Json event = Json::parse(events_[i].data);
      if (event.contains("index")) {
        const int old = event["index"];
        if (event["type"] == "content_block_start") index[old] = next++;
        if (index.count(old) == 0) continue;  // of a block that the client has open and that is no text
        event["index"] = index[old];
      }
      if (event.contains("usage")) count(event["usage"], "input_tokens", "output_tokens");
      if (event["type"] == "content_block_delta" && event["delta"]["type"] == "text_delta") {
        say_block_text(event["index"], event["delta"]["text"]);
      } else {
        say(event);
      }
    }
  }

  // --- openai-responses

  struct Place {
    int index = 0;
    std::string id;
    std::string text;  // of the attempt, in its open part
    Json parts = Json::array();
  };

  void say_text(Place& place, int content_index, const std::string& text) {
    place.text += text;
    for (const std::string& piece : pieces(text)) {
      say({{"type", "response.output_text.delta"},
           {"item_id", place.id},
           {"output_index", place.index},
           {"content_index", content_index},
           {"delta", piece}});
    }
  }

  void begin_message(const Place& place) {
    say({{"type", "response.output_item.added"},
         {"output_index", place.index},
         {"item",
          {{"id", place.id},
           {"type", "message"},
           {"status", "in_progress"},
           {"content", Json::array()},
           {"role", "assistant"}}}});
  }
  void begin_part(const Place& place) {
    say({{"type", "response.content_part.added"},
         {"item_id", place.id},
         {"output_index", place.index},
         {"content_index", 0},
         {"part", {{"type", "output_text"}, {"annotations", Json::array()}, {"text", ""}}}});
  }

  // A whole item of what the client has already.
  void say_message_again(Place place) {
    begin_message(place);
    begin_part(place);
    if (!again_.empty()) say_text(place, 0, again_);
    const Json part = {{"type", "output_text"}, {"annotations", Json::array()}, {"text", again_}};
    const auto in_part = [&](Json event) {
      event["item_id"] = place.id;
      event["output_index"] = place.index;
      event["content_index"] = 0;
      say(event);
    };
    in_part({{"type", "response.output_text.done"}, {"text", again_}});
    in_part({{"type", "response.content_part.done"}, {"part", part}});
    const Json item = {
        {"id", place.id}, {"type", "message"}, {"status", "completed"}, {"content", {part}}, {"role", "assistant"}};
    say({{"type", "response.output_item.done"}, {"output_index", place.index}, {"item", item}});
    output_.push_back(item);
  }

  void make_responses() {
    for (std::size_t i = 0; i < events_.size() && events_[i].name != "response.output_item.added"; ++i) {
      Json event = Json::parse(events_[i].data);
      if (event.contains("response")) name_response(event["response"]);
      say(event);
    }
    int next = 0;
    if (how_.reasoning) {
      const Json item = {{"id", "rs"}, {"type", "reasoning"}, {"summary", Json::array()}};
      say({{"type", "response.output_item.added"}, {"output_index", 0}, {"item", item}});
      say({{"type", "response.reasoning_summary_text.delta"},
           {"item_id", "rs"},
           {"output_index", 0},
           {"summary_index", 0},
           {"delta", "Where was I?"}});
      say({{"type", "response.output_item.done"}, {"output_index", 0}, {"item", item}});
      output_.push_back(item);
      next = 1;
    }
    const Answer& client = at_cut_.answer;
    const bool text_open = client.open_index >= 0 && client.open_kind == Kind::Text;
    const bool part_open = text_open && client.open_content_index >= 0 && !client.open_text_done;
    const bool no_part = text_open && client.open_content_index < 0 && client.open_parts_json.empty() &&
                         client.text_bytes == client.open_text_from;
    std::map<int, Place> places;
    if (part_open || no_part) {
      Place& place = places[client.open_index] = {next++, fresh(client.open_id), {}, Json::array()};
      begin_message(place);
      begin_part(place);
      if (!again_.empty()) say_text(place, 0, again_);
    } else if (!again_.empty() || text_open) {
      say_message_again({next++, "m", {}, Json::array()});
    }
    for (std::size_t i = cut_; i < events_.size(); ++i) say_on(Json::parse(events_[i].data), places, next, client);
  }

  void name_response(Json& response) const {
    response["id"] = fresh("id");
    response["model"] = fresh("model");
    response["created_at"] = 1 + how_.number;
    if (response.contains("usage")) count(response["usage"], "input_tokens", "output_tokens");
  }

  void say_on(Json event, std::map<int, Place>& places, int& next, const Answer& client) {
    const auto type = event["type"].get<std::string>();
    if (event.contains("response")) {
      name_response(event["response"]);
      event["response"]["output"] = output_;
    }
    if (!event.contains("output_index")) return say(event);
    const int old = event["output_index"];
    if (type == "response.output_item.added") {
      places[old] = {next++, fresh(event["item"].value("id", "")), {}, Json::array()};
    } else if (places.count(old) == 0) {
      return;  // of an item that the client has open and that can't be gone on with
    }
    Place& place = places[old];
    event["output_index"] = place.index;
    if (event.contains("item_id")) event["item_id"] = place.id;
    const bool joined = old == client.open_index;
    if (joined && event.contains("content_index") && client.open_content_index > 0)
      event["content_index"] = event["content_index"].get<int>() - client.open_content_index;
    const bool begun = joined && client.open_content_index < 0 && place.parts.empty();
    if (begun && type == "response.content_part.added") return;
    if (type == "response.output_text.delta") return say_text(place, event["content_index"], event["delta"]);
    if (type == "response.output_text.done") event["text"] = place.text;
    if (type == "response.content_part.done") {
      if (event["part"].contains("text")) event["part"]["text"] = place.text;
      place.text.clear();
      place.parts.push_back(event["part"]);
    }
    if (event.contains("item")) event["item"]["id"] = place.id;
    if (type == "response.output_item.done") {
      if (event["item"]["type"] == "message") event["item"]["content"] = place.parts;
      output_.push_back(event["item"]);
    }
    say(event);
  }

  Dialect dialect_;
  const Events& events_;
  std::size_t cut_;
  How how_;
  Delivered at_cut_;
  std::string again_;  // the text that the attempt repeats
  std::uint64_t tokens_ = 0;
  Events attempt_;
  Json output_ = Json::array();  // the attempt's
};

}  // namespace tidemark::seam::test
