// A recorded or rendered answer, cut in its text and made a whole response again.
#include "native/simulate/rest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/utf8.hpp"

namespace tidemark::simulate {
namespace {

using dialect::Dialect;
using Json = nlohmann::ordered_json;

// The first event that is told, and so many bytes of its text that are not.
struct Cut {
  std::size_t event = 0;
  std::size_t bytes = 0;
};

Cut find_cut(const Script& script, std::size_t from) {
  std::size_t said = 0;
  std::size_t after_last = 0;
  bool reached = false;
  for (std::size_t i = 0; i < script.events.size() && !reached; ++i) {
    const std::size_t bytes = script.events[i].text.size();
    if (bytes == 0) continue;
    if (said < from && from < said + bytes) return {i, from - said};
    if (from == 0) return {i, 0};
    said += bytes;
    after_last = i + 1;
    reached = said == from;
  }
  // An event that has told all of its text may still have to tell the finish.
  const ScriptEvent& last = script.events[after_last - 1];
  return last.finishes ? Cut{after_last - 1, last.text.size()} : Cut{after_last, 0};
}

// What is open where the answer is cut: a block, or an item and its part.
struct Open {
  int index = -1;
  int part = -1;
  std::size_t part_text = 0;     // bytes of the answer's text before the part
  Json opening = Json::array();  // the events that opened it
};

int number(const Json& event, const char* key, int otherwise = -1) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number_integer() ? found->get<int>() : otherwise;
}

std::string string_of(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

// The place of an event's text.
Json* text_in(Json& event) {
  if (event.contains("delta") && event["delta"].is_string()) return &event["delta"];
  for (const char* holder : {"delta", "content_block"}) {
    if (event.contains(holder) && event[holder].contains("text")) return &event[holder]["text"];
  }
  if (!event.contains("choices")) return nullptr;
  for (Json& choice : event["choices"]) {
    if (choice.contains("text")) return &choice["text"];
    if (!choice.contains("delta")) continue;
    for (const char* key : {"content", "refusal"}) {
      const auto found = choice["delta"].find(key);
      if (found != choice["delta"].end() && found->is_string() && !found->get_ref<const std::string&>().empty()) {
        return &*found;
      }
    }
  }
  return nullptr;
}

void mark_ids(Json& value, const std::string& mark) {
  if (!value.is_structured()) return;
  for (auto& [key, inner] : value.items()) {
    const bool id = key == "id" || key == "item_id" || key == "call_id" || key == "tool_use_id" || key == "response_id";
    if (id && inner.is_string() && !inner.get_ref<const std::string&>().empty()) {
      inner = inner.get<std::string>() + mark;
    } else {
      mark_ids(inner, mark);
    }
  }
}

class Teller {
 public:
  Teller(const Script& whole, const Telling& telling)
      : whole_(whole), telling_(telling), cut_(find_cut(whole, telling.from)) {
    std::size_t said = 0;
    for (std::size_t i = 0; i < whole.events.size(); ++i) {
      // Before the cut, a delta of text is neither told nor opens anything.
      const bool needed = i == 0 || i + 1 >= cut_.event || whole.events[i].text.empty() ||
                          whole.events[i].name == "content_block_start";
      events_.push_back(needed ? Json::parse(whole.events[i].data, nullptr, false) : Json());
      if (i < cut_.event) note(events_[i], said);
      said += whole.events[i].text.size();
      if (said <= telling.from && !whole.events[i].text.empty()) ++untold_;
    }
  }

  Script tell(Rest kind) {
    if (kind == Rest::Fresh) begin();
    const bool has_more = !telling_.lead.empty() || open_has_more();
    if (has_more) {
      for (Json& event : open_.opening) told_.push_back(std::move(event));
    }
    lead();
    bool skipping = !has_more && open_.index >= 0;
    for (std::size_t i = cut_.event; i < events_.size(); ++i) {
      if (skipping && index_of(events_[i]) == open_.index) {
        skipping = !closes_open(events_[i]);
        continue;
      }
      Json event = events_[i];
      if (i == cut_.event && cut_.bytes > 0) *text_in(event) = whole_.events[i].text.substr(cut_.bytes);
      told_.push_back(std::move(event));
    }
    if (kind == Rest::Fresh) make_fresh(has_more);
    return script();
  }

 private:
  static int index_of(const Json& event) { return number(event, "output_index", number(event, "index")); }

  static bool closes(const Json& event) {
    const std::string type = string_of(event, "type");
    return type == "content_block_stop" || type == "response.output_item.done";
  }
  bool closes_open(const Json& event) const { return index_of(event) == open_.index && closes(event); }

  // Keeps what is open, and how the response began.
  void note(const Json& event, std::size_t said) {
    const std::string type = string_of(event, "type");
    if (type == "message_start" || type == "response.created") {
      beginning_ = Json::array({event});
    } else if (type == "response.in_progress") {
      beginning_.push_back(event);
    } else if (type == "content_block_start" || type == "response.output_item.added") {
      open_ = {index_of(event), -1, said, Json::array({event})};
    } else if (type == "response.content_part.added") {
      open_.part = number(event, "content_index");
      open_.part_text = said;
      open_.opening.push_back(event);
    } else if (type == "response.content_part.done" && open_.opening.size() > 1) {
      open_.opening.erase(open_.opening.size() - 1);
    } else if (closes_open(event)) {
      open_ = {};
    }
  }

  void begin() {
    told_ = std::move(beginning_);
    if (whole_.dialect != Dialect::OpenaiChat) return;
    for (std::size_t i = 0; i < whole_.preamble; ++i) told_.push_back(events_[i]);
    if (whole_.preamble > 0) return;
    Json first = events_[0];
    first.erase("usage");
    for (Json& choice : first["choices"]) {
      choice["delta"] = {{"role", "assistant"}, {"content", ""}};
      choice["finish_reason"] = nullptr;
    }
    told_.push_back(std::move(first));
  }

  bool open_has_more() const {
    for (std::size_t i = cut_.event; i < events_.size(); ++i) {
      if (index_of(events_[i]) != open_.index) continue;
      if (closes(events_[i])) return false;
      if (events_[i].contains("delta")) return true;
    }
    return false;
  }

  void lead() {
    if (telling_.lead.empty()) return;
    std::size_t like = cut_.bytes > 0 || cut_.event == 0 ? cut_.event : cut_.event - 1;
    while (whole_.events[like].text.empty()) ++like;
    Json event = events_[like];
    *text_in(event) = telling_.lead;
    event.erase("usage");
    if (event.contains("choices")) {
      for (Json& choice : event["choices"]) choice["finish_reason"] = nullptr;
    }
    told_.push_back(std::move(event));
  }

  void make_fresh(bool has_more) {
    first_index_ = open_.index;
    if (!has_more) {
      const auto found =
          std::find_if(told_.begin(), told_.end(), [](const Json& event) { return index_of(event) >= 0; });
      first_index_ = found == told_.end() ? open_.index + 1 : index_of(*found);
    }
    int sequence = 0;
    for (Json& event : told_) {
      if (!event.is_object()) continue;
      if (has_more) repeat_rest(event);
      for (const char* key : {"output_index", "index"}) {
        if (event.contains(key)) event[key] = number(event, key) - first_index_;
      }
      if (event.contains("sequence_number")) event["sequence_number"] = sequence++;
      if (event.contains("response")) {
        const auto output = event["response"].find("output");
        if (output != event["response"].end()) erase_first(*output, first_index_);
      }
      if (telling_.shown > 0) count(event, string_of(event, "type") == "message_start");
      mark_ids(event, telling_.mark);
    }
  }

  // What `done` events say again of the part that is cut.
  void repeat_rest(Json& event) const {
    if (open_.part < 0) return;
    if (event.contains("response") && event["response"].contains("output")) {
      Json& output = event["response"]["output"];
      if (open_.index < static_cast<int>(output.size())) cut_item(output[static_cast<std::size_t>(open_.index)]);
    }
    if (index_of(event) != open_.index) return;
    if (event.contains("item")) cut_item(event["item"]);
    if (number(event, "content_index") < open_.part) return;
    if (number(event, "content_index") == open_.part) {
      cut_texts(event);
      if (event.contains("part")) cut_part(event["part"]);
      if (event.contains("annotation")) move_annotation(event["annotation"]);
    }
    event["content_index"] = number(event, "content_index") - open_.part;
  }

  void cut_item(Json& item) const {
    const auto content = item.find("content");
    if (content == item.end() || !content->is_array()) return;
    erase_first(*content, open_.part);
    if (!content->empty()) cut_part(content->front());
  }

  void cut_part(Json& part) const {
    cut_texts(part);
    const auto annotations = part.find("annotations");
    if (annotations == part.end() || !annotations->is_array()) return;
    Json kept = Json::array();
    for (Json& annotation : *annotations) {
      if (move_annotation(annotation)) kept.push_back(std::move(annotation));
    }
    *annotations = std::move(kept);
  }

  void cut_texts(Json& holder) const {
    for (const char* key : {"text", "refusal"}) {
      const auto text = holder.find(key);
      if (text == holder.end() || !text->is_string() || text->get_ref<const std::string&>().empty()) continue;
      const std::string said = text->get<std::string>();
      *text = telling_.lead + said.substr(std::min(untold_of_part(), said.size()));
    }
  }

  // Whether any of what it is about is left.
  bool move_annotation(Json& annotation) const {
    if (number(annotation, "start_index") < 0) return true;
    const std::string text = whole_.text();
    const auto untold = code_points(std::string_view(text).substr(open_.part_text, untold_of_part()));
    const int moved = static_cast<int>(code_points(telling_.lead)) - static_cast<int>(untold);
    const int end = number(annotation, "end_index") + moved;
    annotation["start_index"] = std::max(0, number(annotation, "start_index") + moved);
    annotation["end_index"] = std::max(0, end);
    return end > 0;
  }

  std::size_t untold_of_part() const { return telling_.from - std::min(telling_.from, open_.part_text); }

  static void erase_first(Json& list, int count) {
    for (int i = 0; i < count && !list.empty(); ++i) list.erase(std::size_t{0});
  }

  // Every usage in the event: what was shown was paid for as input, and what is not told is not output. `begins`: there
  // is no output yet.
  void count(Json& value, bool begins) const {
    if (!value.is_structured()) return;
    for (auto& [key, inner] : value.items()) {
      if (key != "usage" || !inner.is_object()) {
        count(inner, begins);
        continue;
      }
      const auto shown = static_cast<std::int64_t>(telling_.shown);
      const auto less = static_cast<std::int64_t>(untold_) - static_cast<std::int64_t>(telling_.leading);
      for (const char* name : {"prompt_tokens", "input_tokens", "total_tokens"}) add(inner, name, shown);
      if (begins) continue;
      for (const char* name : {"completion_tokens", "output_tokens", "total_tokens"}) add(inner, name, -less);
    }
  }

  static void add(Json& usage, const char* name, std::int64_t tokens) {
    const auto found = usage.find(name);
    if (found == usage.end() || !found->is_number_integer()) return;
    *found = std::max<std::int64_t>(0, found->get<std::int64_t>() + tokens);
  }

  Script script() const {
    Script rest;
    rest.dialect = whole_.dialect;
    const bool names = whole_.dialect == Dialect::OpenaiResponses || whole_.dialect == Dialect::AnthropicMessages;
    for (const Json& event : told_) {
      rest.events.push_back(event.is_object()
                                ? ScriptEvent{names ? string_of(event, "type") : std::string(), event.dump()}
                                : ScriptEvent{"", "[DONE]"});
    }
    rest.measure();
    return rest;
  }

  const Script& whole_;
  const Telling& telling_;
  Cut cut_;
  std::vector<Json> events_;  // a discarded value: [DONE]
  std::size_t untold_ = 0;    // text events that are not told at all
  Json beginning_ = Json::array();
  Open open_;
  int first_index_ = 0;
  Json told_ = Json::array();
};

}  // namespace

Script rest_of(const Script& whole, Rest kind, const Telling& telling) { return Teller(whole, telling).tell(kind); }

Script marked(const Script& script, const std::string& mark) {
  Script fresh = script;
  for (ScriptEvent& event : fresh.events) {
    Json json = Json::parse(event.data, nullptr, false);
    if (!json.is_object()) continue;
    mark_ids(json, mark);
    event.data = json.dump();
  }
  return fresh;
}

std::size_t tokens_in(const Script& script, std::size_t bytes) {
  std::size_t tokens = 0;
  std::size_t said = 0;
  for (const ScriptEvent& event : script.events) {
    if (!event.text.empty() && said < bytes) ++tokens;
    said += event.text.size();
  }
  return tokens;
}

}  // namespace tidemark::simulate
