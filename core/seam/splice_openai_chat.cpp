// openai-chat at a seam: chunks are alike, so that most need the client's id and no more.
#include <string>

#include "core/seam/splice.hpp"
#include "core/seam/usage_sum.hpp"

namespace tidemark::seam {
namespace {

using dialect::Finish;
using dialect::JsonReader;
using dialect::JsonString;
using dialect::JsonType;

constexpr UsageNames kUsage{{"prompt_tokens"}, "completion_tokens", "prompt_tokens_details", "total_tokens"};

bool is_reasoning(std::string_view key) {
  return key == "reasoning_content" || key == "reasoning" || key == "reasoning_details";
}

class OpenaiChatSplice final : public Splice {
 public:
  OpenaiChatSplice(const dialect::Answer& so_far, std::uint64_t tokens)
      : id_(quoted(so_far.id)),
        model_(quoted(so_far.model)),
        created_(so_far.created == 0 ? std::string() : std::to_string(so_far.created)),
        fingerprint_(so_far.system_fingerprint.empty() ? "null" : quoted(so_far.system_fingerprint)),
        usage_(kUsage, so_far.usage_json, tokens) {}

  void splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes,
              OwnEvents& out) override {
    edits_.begin(event.data);
    chunk_ = {};
    content_.clear();
    JsonReader json(event.data);
    json.object([&](std::string_view key) { read_member(json, key); });

    const bool says_more = chunk_.tool || chunk_.usage || meaning.finish != Finish::None;
    const bool swallowed = meaning.text.size() == trim_bytes && !says_more && (!begun_ || trim_bytes > 0);
    begun_ = begun_ || !meaning.text.empty() || chunk_.tool || meaning.finish != Finish::None;
    if (swallowed) return;
    if (trim_bytes > 0) trim(trim_bytes);
    out.push_back({std::string(event.name), edits_.apply()});
  }

 private:
  // What has been found in one chunk.
  struct Chunk {
    JsonString text;
    JsonString refusal;
    std::string_view logprobs;
    bool tool = false;
    bool usage = false;
  };

  void read_member(JsonReader& json, std::string_view key) {
    if (key == "choices") {
      json.array([&] { read_choice(json); });
    } else if (key == "id") {
      put(json.raw(), id_);
    } else if (key == "created") {
      put(json.raw(), created_);
    } else if (key == "model") {
      put(json.raw(), model_);
    } else if (key == "system_fingerprint") {
      put(json.raw(), fingerprint_);
    } else if (key == "usage") {
      if (json.type() != JsonType::Object) return json.skip();
      chunk_.usage = true;
      usage_.edit(json, edits_);
    } else {
      json.skip();
    }
  }

  void put(std::string_view token, std::string_view known) {
    if (!known.empty()) edits_.replace(token, known);
  }

  void read_choice(JsonReader& json) {
    json.object([&](std::string_view key) {
      if (key == "delta") {
        dialect::edit_object(json, edits_, [&](std::string_view inner) { return read_delta(json, inner); });
      } else if (key == "text") {
        chunk_.text = json.string();
      } else if (key == "logprobs") {
        chunk_.logprobs = json.raw();
      } else {
        json.skip();
      }
    });
  }

  // The role has been told, and some clients add up all strings of a delta.
  dialect::Keep read_delta(JsonReader& json, std::string_view key) {
    if (key == "content") {
      json.type() == JsonType::Array ? read_parts(json) : content_.push_back(json.string());
      return dialect::Keep::Yes;
    }
    if (key == "refusal") {
      chunk_.refusal = json.string();
      return dialect::Keep::Yes;
    }
    if (key == "tool_calls" || key == "function_call") {
      const std::string_view value = json.raw();
      if (value != "null" && value != "[]") chunk_.tool = true;
      return dialect::Keep::Yes;
    }
    json.skip();
    return key == "role" || (!begun_ && is_reasoning(key)) ? dialect::Keep::No : dialect::Keep::Yes;
  }

  // Mistral's: [{"type":"thinking",…},{"type":"text","text":…}]
  void read_parts(JsonReader& json) {
    dialect::edit_array(json, edits_, [&] {
      bool thinking = false;
      json.object([&](std::string_view key) {
        if (key == "text") {
          content_.push_back(json.string());
        } else {
          thinking = thinking || key == "thinking";
          json.skip();
        }
      });
      return thinking && !begun_ ? dialect::Keep::No : dialect::Keep::Yes;
    });
  }

  void trim(std::size_t trim_bytes) {
    TextTrim trim(trim_bytes);
    for (const JsonString& piece : content_) trim.piece(piece, edits_);
    trim.piece(chunk_.text, edits_);
    trim.piece(chunk_.refusal, edits_);
    if (!chunk_.logprobs.empty()) edits_.replace(chunk_.logprobs, "null");
  }

  // As the client knows them, ready to be put in; empty where it doesn't.
  std::string id_, model_, created_, fingerprint_;
  UsageSum usage_;
  bool begun_ = false;  // the attempt has brought more than a preamble and reasoning
  Chunk chunk_;
  std::vector<JsonString> content_;  // the chunk's
  dialect::JsonEdits edits_;
};

}  // namespace

std::unique_ptr<Splice> splice_openai_chat(const dialect::Answer& so_far, std::uint64_t tokens) {
  return std::make_unique<OpenaiChatSplice>(so_far, tokens);
}

}  // namespace tidemark::seam
