// anthropic-messages at a seam: blocks, of which the client may have one open.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/dialect/json_text.hpp"
#include "core/seam/splice.hpp"
#include "core/seam/usage_sum.hpp"

namespace tidemark::seam {
namespace {

using dialect::JsonReader;
using dialect::JsonString;
using dialect::JsonType;
using dialect::JsonWriter;

constexpr UsageNames kUsage{
    {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}, "output_tokens", {}, {}};

struct Fields {
  JsonString type;
  std::string_view index_token;
  std::uint64_t index = 0;
  JsonString block_type;
  JsonString block_text;
  JsonString delta_type;
  JsonString delta_text;
};

class AnthropicSplice final : public Splice {
 public:
  AnthropicSplice(const dialect::Answer& so_far, std::uint64_t tokens)
      : open_(so_far.open_index),
        joinable_(so_far.open_index >= 0 && so_far.open_kind == dialect::Kind::Text),
        last_index_(so_far.last_index),
        usage_(kUsage, so_far.usage_json, tokens) {}

  void splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes,
              OwnEvents& out) override {
    edits_.begin(event.data);
    const Fields fields = read(event.data);
    const std::string_view type = fields.type ? fields.type.raw : event.name;
    if (type == "message_start") return;
    if (type == "content_block_start") {
      TextTrim(trim_bytes).piece(fields.block_text, edits_);
      return start_block(event, fields, meaning.text.substr(trim_bytes), out);
    }
    if (type == "message_delta" || type == "message_stop") close_open(out);
    Block* const block = fields.index_token.empty() ? nullptr : block_of(fields);
    if (block == nullptr) return pass(event, out);
    if (type == "content_block_stop") return stop_block(event, fields, *block, out);
    const bool is_text = fields.delta_type.raw == "text_delta";
    const bool is_left = meaning.text.size() > trim_bytes;
    if (block->swallowed || (is_text && !is_left && (trim_bytes > 0 || block->is_held()))) return;
    if (block->is_held()) open_held(*block, out);
    TextTrim(trim_bytes).piece(fields.delta_text, edits_);
    edits_.replace(fields.index_token, std::to_string(block->to));
    pass(event, out);
  }

 private:
  // A block of the attempt, from its start to its stop.
  struct Block {
    std::uint64_t from = 0;
    int to = -1;
    bool swallowed = false;
    dialect::OwnEvent held;  // its start, of a block that has nothing for the client yet

    bool is_held() const { return !held.data.empty(); }
  };
  static constexpr std::size_t kMaxBlocks = 64;  // at a time; the API has one

  Fields read(std::string_view data) {
    Fields fields;
    JsonReader json(data);
    json.object([&](std::string_view key) {
      if (key == "type") {
        fields.type = json.string();
      } else if (key == "index") {
        JsonReader number = json;
        fields.index_token = json.raw();
        fields.index = number.count();
      } else if (key == "delta") {
        read_part(json, fields.delta_type, fields.delta_text);
      } else if (key == "content_block") {
        read_part(json, fields.block_type, fields.block_text);
      } else if (key == "message" && json.type() == JsonType::Object) {
        json.object([&](std::string_view inner) { inner == "usage" ? usage_.note(json) : json.skip(); });
      } else if (key == "usage" && json.type() == JsonType::Object) {
        usage_.edit(json, edits_);
      } else {
        json.skip();
      }
    });
    return fields;
  }

  static void read_part(JsonReader& json, JsonString& type, JsonString& text) {
    json.object([&](std::string_view key) {
      if (key == "type") {
        type = json.string();
      } else if (key == "text") {
        text = json.string();
      } else {
        json.skip();
      }
    });
  }

  void pass(const sse::Event& event, OwnEvents& out) {
    out.push_back({std::string(event.name), edits_.empty() ? std::string(event.data) : edits_.apply()});
  }

  // nullptr where the attempt never began one of that index, and none can be joined.
  Block* block_of(const Fields& fields) {
    const auto found =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.from == fields.index; });
    if (found != blocks_.end()) return &*found;
    if (!joinable_ || fields.delta_type.raw != "text_delta") return nullptr;
    return &join(fields.index);
  }

  Block& add_block(std::uint64_t from) {
    std::erase_if(blocks_, [&](const Block& block) { return block.from == from; });
    if (blocks_.size() == kMaxBlocks) blocks_.erase(blocks_.begin());
    blocks_.emplace_back().from = from;
    return blocks_.back();
  }

  // The attempt's block is the one that the client has open.
  Block& join(std::uint64_t from) {
    Block& block = add_block(from);
    block.to = open_;
    joinable_ = false;
    begun_ = true;
    return block;
  }

  // `text`: what is left of the block's own, which mostly has none.
  void start_block(const sse::Event& event, const Fields& fields, std::string_view text, OwnEvents& out) {
    const std::string_view type = fields.block_type.raw;
    if (!begun_ && (type == "thinking" || type == "redacted_thinking")) {
      add_block(fields.index).swallowed = true;
      return;
    }
    const bool first_text = !begun_ && type == "text";
    if (first_text && joinable_) {
      const Block& block = join(fields.index);
      if (!text.empty()) say_text(block.to, text, out);
      return;
    }
    begun_ = true;
    Block& block = add_block(fields.index);
    block.held = {std::string(event.name), edits_.apply()};
    if (!first_text || !text.empty()) open_held(block, out);
  }

  void open_held(Block& block, OwnEvents& out) {
    close_open(out);
    block.to = open_ = ++last_index_;
    dialect::JsonEdits edits;
    edits.begin(block.held.data);
    JsonReader json(block.held.data);
    json.object([&](std::string_view key) {
      const std::string_view value = json.raw();
      if (key == "index") edits.replace(value, std::to_string(block.to));
    });
    out.push_back({std::move(block.held.name), edits.apply()});
    block.held = {};
  }

  void stop_block(const sse::Event& event, const Fields& fields, const Block& block, OwnEvents& out) {
    if (!block.swallowed && !block.is_held()) {
      edits_.replace(fields.index_token, std::to_string(block.to));
      pass(event, out);
      if (open_ == block.to) open_ = -1;
    }
    add_block(fields.index);
    blocks_.pop_back();
  }

  // Whatever the client has open is stopped; what the attempt still says of it goes nowhere.
  void close_open(OwnEvents& out) {
    joinable_ = false;
    if (open_ < 0) return;
    std::string data;
    JsonWriter(data)
        .begin_object()
        .field("type", "content_block_stop")
        .number_field("index", static_cast<std::uint64_t>(open_))
        .end_object();
    out.push_back({"content_block_stop", std::move(data)});
    for (Block& block : blocks_) {
      if (!block.is_held() && block.to == open_) block.swallowed = true;
    }
    open_ = -1;
  }

  static void say_text(int index, std::string_view text, OwnEvents& out) {
    std::string data;
    JsonWriter(data)
        .begin_object()
        .field("type", "content_block_delta")
        .number_field("index", static_cast<std::uint64_t>(index))
        .key("delta")
        .begin_object()
        .field("type", "text_delta")
        .field("text", text)
        .end_object()
        .end_object();
    out.push_back({"content_block_delta", std::move(data)});
  }

  int open_;            // the block that is open at the client; -1: none
  bool joinable_;       // it is text, and nothing of the attempt has gone elsewhere
  int last_index_;      // the client's
  bool begun_ = false;  // the attempt has begun a block that is no reasoning
  std::vector<Block> blocks_;
  UsageSum usage_;
  dialect::JsonEdits edits_;
};

}  // namespace

std::unique_ptr<Splice> splice_anthropic_messages(const dialect::Answer& so_far, std::uint64_t tokens) {
  return std::make_unique<AnthropicSplice>(so_far, tokens);
}

}  // namespace tidemark::seam
