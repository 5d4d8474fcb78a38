// openai-responses at a seam: numbered events of items and their parts, of which the client may have one open, and a
// last event that tells all of it again.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dialect/dialects.hpp"
#include "core/dialect/json_text.hpp"
#include "core/seam/splice.hpp"
#include "core/seam/usage_sum.hpp"

namespace tidemark::seam {
namespace {

using dialect::Answer;
using dialect::Interpreter;
using dialect::JsonReader;
using dialect::JsonString;
using dialect::Kind;
using dialect::OwnEvent;

constexpr UsageNames kUsage{{"input_tokens"}, "output_tokens", "input_tokens_details", "total_tokens"};

bool is_text(Kind kind) { return kind == Kind::Text || kind == Kind::Refusal; }

// What an event holds; views into its data, empty where it doesn't.
struct Fields {
  JsonString type;
  std::string_view sequence;
  std::string_view output_index;
  std::uint64_t output_index_value = 0;
  std::string_view content_index;
  std::uint64_t content_index_value = 0;
  std::string_view item_id;
  JsonString delta;
  std::string_view text;  // of an event that tells it whole; a refusal too
  std::string_view logprobs;
  std::string_view part;
  std::string_view item;
  std::string_view response;
};

Fields read(std::string_view data) {
  Fields fields;
  JsonReader json(data);
  const auto number = [&](std::string_view& token, std::uint64_t& value) {
    JsonReader before = json;
    token = json.raw();
    value = before.count();
  };
  json.object([&](std::string_view key) {
    if (key == "type") {
      fields.type = json.string();
    } else if (key == "sequence_number") {
      fields.sequence = json.raw();
    } else if (key == "output_index") {
      number(fields.output_index, fields.output_index_value);
    } else if (key == "content_index") {
      number(fields.content_index, fields.content_index_value);
    } else if (key == "item_id") {
      fields.item_id = json.raw();
    } else if (key == "delta") {
      fields.delta = json.string();
    } else if (key == "text" || key == "refusal") {
      fields.text = json.raw();
    } else if (key == "logprobs") {
      fields.logprobs = json.raw();
    } else if (key == "part") {
      fields.part = json.raw();
    } else if (key == "item") {
      fields.item = json.raw();
    } else if (key == "response") {
      fields.response = json.raw();
    } else {
      json.skip();
    }
  });
  return fields;
}

std::string_view type_of(std::string_view object) {
  JsonString type;
  JsonReader json(object);
  json.object([&](std::string_view key) { key == "type" ? json.string(type) : json.skip(); });
  return type.raw;
}

class ResponsesSplice final : public Splice {
 public:
  ResponsesSplice(const Answer& so_far, std::string_view text, std::uint64_t tokens)
      : client_(dialect::Dialect::OpenaiResponses, so_far),
        text_(text),
        id_(quoted(so_far.id)),
        model_(quoted(so_far.model)),
        created_(so_far.created == 0 ? std::string() : std::to_string(so_far.created)),
        usage_(kUsage, so_far.usage_json, tokens) {}

  void splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes,
              OwnEvents& out) override {
    const Fields fields = read(event.data);
    const std::string_view type = fields.type ? fields.type.raw : event.name;
    if (type == "response.created" || type == "response.queued" || type == "response.in_progress") return;
    edits_.begin(event.data);
    if (!fields.response.empty()) return finish(event, fields, meaning.terminal, out);
    if (fields.output_index.empty()) return deliver(event, fields, nullptr, out);
    if (type == "response.output_item.added") return add_item(event, fields, out);

    Item* const item = item_of(fields, meaning.kind, out);
    if (item == nullptr) return;
    if (type == "response.output_item.done") {
      finish_item(event, fields, *item, out);
    } else if (type == "response.content_part.added") {
      add_part(event, fields, *item, out);
    } else if (type == "response.content_part.done") {
      finish_part(event, fields, *item, out);
    } else if (is_text(meaning.kind)) {
      add_text(event, fields, meaning.text.size() > trim_bytes, trim_bytes, *item, out);
    } else if (item->is_at_client()) {
      if (!fields.text.empty()) put_text(*item, fields.text, fields.logprobs);
      deliver(event, fields, item, out);
    }
  }

 private:
  const Answer& answer() const { return client_.answer(); }

  // An item of the attempt, from its beginning to its end.
  struct Item {
    std::uint64_t from = 0;
    int to = -1;
    bool swallowed = false;
    bool joined = false;   // to the client's open item
    bool altered = false;  // what the attempt repeats of it is not what the client has
    bool decided = true;   // false: whether to join is decided by its first part
    int part_shift = 0;    // of its parts' indices
    OwnEvent held;         // its beginning, where nothing of it has gone out yet
    OwnEvent held_part;    // its part's beginning, likewise

    bool is_held() const { return !held.data.empty() || !held_part.data.empty(); }
    bool is_at_client() const { return to >= 0 && !is_held(); }
  };
  static constexpr std::size_t kMaxItems = 128;  // at a time

  Item& new_item(std::uint64_t from) {
    forget(from);
    if (items_.size() == kMaxItems) items_.erase(items_.begin());
    items_.emplace_back().from = from;
    return items_.back();
  }
  void forget(std::uint64_t from) {
    std::erase_if(items_, [&](const Item& item) { return item.from == from; });
  }

  // nullptr where the event goes nowhere.
  Item* item_of(const Fields& fields, Kind kind, OwnEvents& out) {
    const auto found = std::find_if(items_.begin(), items_.end(),
                                    [&](const Item& item) { return item.from == fields.output_index_value; });
    if (found != items_.end()) return found->swallowed ? nullptr : &*found;
    // It was never begun, as some servers have it.
    if (kind == Kind::Reasoning && !begun_) return nullptr;
    Item& item = new_item(fields.output_index_value);
    if (is_text(kind) && !begun_) {
      item.decided = false;
    } else {
      close_open(out);
      item.to = answer().last_index + 1;
    }
    begun_ = true;
    return &item;
  }

  void add_item(const sse::Event& event, const Fields& fields, OwnEvents& out) {
    const std::string_view type = type_of(fields.item);
    Item& item = new_item(fields.output_index_value);
    if (type == "reasoning" && !begun_) {
      item.swallowed = true;
      return;
    }
    if (type == "message" && !begun_) {
      begun_ = true;
      item.decided = false;
      item.held = {std::string(event.name), std::string(event.data)};
      return;
    }
    begun_ = true;
    close_open(out);
    item.to = answer().last_index + 1;
    deliver(event, fields, &item, out);
  }

  // The attempt's first text goes on in the part that the client has open, or in a new part of an item that has none
  // yet; else in an item of its own.
  void decide(Item& item, std::string_view part_type, std::uint64_t content_index) {
    item.decided = true;
    const Answer& so_far = answer();
    if (so_far.open_index < 0 || so_far.open_kind != Kind::Text) return;
    const bool has_part = so_far.open_content_index >= 0;
    const bool is_empty = !has_part && so_far.open_parts_json.empty() && so_far.text_bytes == so_far.open_text_from;
    if (has_part ? so_far.open_text_done || part_type != "output_text" : !is_empty) return;
    item.joined = true;
    item.to = so_far.open_index;
    item.held = {};
    open_id_ = quoted(so_far.open_id);
    if (has_part) item.part_shift = so_far.open_content_index - static_cast<int>(content_index);
  }

  void add_part(const sse::Event& event, const Fields& fields, Item& item, OwnEvents& out) {
    const bool first = !item.decided;
    if (first) decide(item, type_of(fields.part), fields.content_index_value);
    if (first && item.joined && answer().open_content_index >= 0) return;
    if (!first && !item.is_held()) return deliver(event, fields, &item, out);
    item.held_part = {std::string(event.name), std::string(event.data)};
  }

  void add_text(const sse::Event& event, const Fields& fields, bool is_left, std::size_t trim_bytes, Item& item,
                OwnEvents& out) {
    if (!item.decided) decide(item, "output_text", fields.content_index_value);
    if (trim_bytes > 0) item.altered = true;
    if (!is_left) return;
    if (item.is_held()) open_held(item, out);
    if (item.to < 0) {  // never begun, and not joined
      close_open(out);
      item.to = answer().last_index + 1;
    }
    if (trim_bytes > 0) {
      TextTrim(trim_bytes).piece(fields.delta, edits_);
      if (!fields.logprobs.empty()) edits_.replace(fields.logprobs, "[]");
    }
    deliver(event, fields, &item, out);
  }

  void open_held(Item& item, OwnEvents& out) {
    if (!item.joined) {
      close_open(out);
      item.to = answer().last_index + 1;
    }
    dialect::JsonEdits edits;
    std::swap(edits, edits_);
    for (OwnEvent* const held : {&item.held, &item.held_part}) {
      const OwnEvent own = std::exchange(*held, {});
      if (own.data.empty()) continue;
      sse::Event event;
      event.name = own.name;
      event.data = own.data;
      edits_.begin(event.data);
      deliver(event, read(event.data), &item, out);
    }
    std::swap(edits, edits_);
  }

  void finish_part(const sse::Event& event, const Fields& fields, Item& item, OwnEvents& out) {
    if (!item.is_at_client()) {  // nothing of it is left
      if (std::exchange(item.held_part, {}).data.empty()) return;
      item.altered = true;
      --item.part_shift;
      return;
    }
    std::string_view text;
    std::string_view logprobs;
    JsonReader json(fields.part);
    json.object([&](std::string_view key) {
      const std::string_view value = json.raw();
      if (key == "text" || key == "refusal") text = value;
      if (key == "logprobs") logprobs = value;
    });
    if (!text.empty()) put_text(item, text, logprobs);
    deliver(event, fields, &item, out);
  }

  // Where the attempt tells a text whole: what the client has of it.
  void put_text(const Item& item, std::string_view text, std::string_view logprobs) {
    if ((!item.joined && !item.altered) || answer().open_index != item.to) return;
    edits_.replace_with_string(text, open_text());
    if (!logprobs.empty()) edits_.replace(logprobs, "[]");
  }

  std::string_view open_text() const {
    return std::string_view(text_).substr(std::min(text_.size(), static_cast<std::size_t>(answer().open_text_from)));
  }

  void finish_item(const sse::Event& event, const Fields& fields, Item& item, OwnEvents& out) {
    if (item.to >= 0 && item.held.data.empty()) {
      item.held_part = {};
      if (item.joined || item.altered) tell_item(fields.item, item);
      deliver(event, fields, &item, out);
    }
    forget(fields.output_index_value);
  }

  // The item with the client's id, and with the parts that the client has.
  void tell_item(std::string_view object, const Item& item) {
    const Answer& so_far = answer();
    JsonReader json(object);
    json.object([&](std::string_view key) {
      const std::string_view value = json.raw();
      if (key == "id" && item.joined && !open_id_.empty()) edits_.replace(value, open_id_);
      if (key != "content" || so_far.open_index != item.to) return;
      if (!so_far.open_parts_json.empty() || open_text().empty()) {
        edits_.replace(value, '[' + so_far.open_parts_json + ']');
      } else {
        edits_.replace(value,
                       R"([{"type":"output_text","annotations":[],"logprobs":[],"text":)" + quoted(open_text()) + "}]");
      }
    });
  }

  // The response that the attempt tells of, as the client's.
  void finish(const sse::Event& event, const Fields& fields, bool terminal, OwnEvents& out) {
    if (terminal) close_open(out, Joined::Too);
    JsonReader json(fields.response);
    std::string_view output;
    std::string status = "completed";
    json.object([&](std::string_view key) {
      if (key == "usage") return usage_.edit(json, edits_);
      const std::string_view value = json.raw();
      if (key == "id") put(value, id_);
      if (key == "model") put(value, model_);
      if (key == "created_at") put(value, created_);
      if (key == "output" && terminal) output = value;
      if (key == "status" && value == R"("incomplete")") status = "incomplete";
    });
    if (!output.empty()) {
      edits_.replace(
          output, '[' + dialect::openai_responses::output_or_text(answer().output_json, answer(), status, text_) + ']');
    }
    deliver(event, fields, nullptr, out);
  }

  void put(std::string_view token, std::string_view known) {
    if (!known.empty()) edits_.replace(token, known);
  }

  enum class Joined : bool { Spared, Too };
  // What the client has open is closed, unless the attempt goes on with it and closes it by itself.
  void close_open(OwnEvents& out, Joined joined = Joined::Spared) {
    if (answer().open_index < 0 || !is_text(answer().open_kind)) return;
    const auto goes_on = [&](const Item& item) { return !item.swallowed && item.to == answer().open_index; };
    if (joined == Joined::Spared && std::any_of(items_.begin(), items_.end(), goes_on)) return;
    Answer closed = answer();
    dialect::openai_responses::close_item(closed, text_, out);
    client_ = Interpreter(dialect::Dialect::OpenaiResponses, std::move(closed));
  }

  // The event goes out, numbered on, in the client's place of its item.
  void deliver(const sse::Event& event, const Fields& fields, const Item* item, OwnEvents& out) {
    if (!fields.sequence.empty() && answer().sequence) {
      edits_.replace(fields.sequence, std::to_string(*answer().sequence + 1));
    }
    if (item != nullptr) {
      edits_.replace(fields.output_index, std::to_string(item->to));
      if (item->joined && !fields.item_id.empty() && !open_id_.empty()) edits_.replace(fields.item_id, open_id_);
      if (item->part_shift != 0 && !fields.content_index.empty()) {
        edits_.replace(fields.content_index,
                       std::to_string(static_cast<std::int64_t>(fields.content_index_value) + item->part_shift));
      }
    }
    out.push_back({std::string(event.name), edits_.empty() ? std::string(event.data) : edits_.apply()});
    sse::Event delivered;
    delivered.name = out.back().name;
    delivered.data = out.back().data;
    text_ += client_.interpret(delivered).text;
  }

  Interpreter client_;  // reads what the client gets
  std::string text_;    // all of the client's
  // As the client knows them, ready to be put in; empty where it doesn't.
  std::string id_, model_, created_;
  std::string open_id_;  // of the item that is joined
  UsageSum usage_;
  bool begun_ = false;  // the attempt has begun an item that is no reasoning
  std::vector<Item> items_;
  dialect::JsonEdits edits_;
};

}  // namespace

std::unique_ptr<Splice> splice_openai_responses(const Answer& so_far, std::string_view text, std::uint64_t tokens) {
  return std::make_unique<ResponsesSplice>(so_far, text, tokens);
}

}  // namespace tidemark::seam
