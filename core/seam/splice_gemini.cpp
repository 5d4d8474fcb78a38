// gemini at a seam: every event is a response of its own, of which the client adds up the parts.
#include <string>
#include <vector>

#include "core/seam/splice.hpp"
#include "core/seam/usage_sum.hpp"

namespace tidemark::seam {
namespace {

using dialect::Finish;
using dialect::JsonReader;
using dialect::JsonString;

constexpr UsageNames kUsage{{"promptTokenCount"}, "candidatesTokenCount", "promptTokensDetails", "totalTokenCount"};

class GeminiSplice final : public Splice {
 public:
  GeminiSplice(const dialect::Answer& so_far, std::uint64_t tokens)
      : id_(quoted(so_far.id)), model_(quoted(so_far.model)), usage_(kUsage, so_far.usage_json, tokens) {}

  void splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes,
              OwnEvents& out) override {
    edits_.begin(event.data);
    text_.clear();
    other_content_ = false;
    JsonReader json(event.data);
    json.object([&](std::string_view key) { read_member(json, key); });

    // Usage is told in every event: one that says nothing else is not missed.
    const bool says_more = other_content_ || meaning.finish != Finish::None;
    const bool swallowed = meaning.text.size() == trim_bytes && !says_more && (!begun_ || trim_bytes > 0);
    begun_ = begun_ || !meaning.text.empty() || says_more;
    if (swallowed) return;
    TextTrim trim(trim_bytes);
    for (const JsonString& piece : text_) trim.piece(piece, edits_);
    out.push_back({std::string(event.name), edits_.apply()});
  }

 private:
  void read_member(JsonReader& json, std::string_view key) {
    if (key == "candidates") {
      json.array(
          [&] { json.object([&](std::string_view inner) { inner == "content" ? read_content(json) : json.skip(); }); });
    } else if (key == "responseId") {
      put(json.raw(), id_);
    } else if (key == "modelVersion") {
      put(json.raw(), model_);
    } else if (key == "usageMetadata") {
      usage_.edit(json, edits_);
    } else {
      json.skip();
    }
  }

  void put(std::string_view token, std::string_view known) {
    if (!known.empty()) edits_.replace(token, known);
  }

  void read_content(JsonReader& json) {
    json.object([&](std::string_view key) {
      key == "parts" ? dialect::edit_array(json, edits_, [&] { return read_part(json); }) : json.skip();
    });
  }

  dialect::Keep read_part(JsonReader& json) {
    JsonString text;
    bool thought = false;
    json.object([&](std::string_view key) {
      if (key == "text") {
        text = json.string();
      } else if (key == "thought") {
        thought = json.is_true();
      } else {
        if (key != "thoughtSignature") other_content_ = true;
        json.skip();
      }
    });
    if (thought) return begun_ ? dialect::Keep::Yes : dialect::Keep::No;
    text_.push_back(text);
    return dialect::Keep::Yes;
  }

  std::string id_, model_;  // as the client knows them, ready to be put in; empty where it doesn't
  UsageSum usage_;
  bool begun_ = false;            // the attempt has brought more than a preamble and reasoning
  std::vector<JsonString> text_;  // the event's
  bool other_content_ = false;    // the event has a function call, an image, …
  dialect::JsonEdits edits_;
};

}  // namespace

std::unique_ptr<Splice> splice_gemini(const dialect::Answer& so_far, std::uint64_t tokens) {
  return std::make_unique<GeminiSplice>(so_far, tokens);
}

}  // namespace tidemark::seam
