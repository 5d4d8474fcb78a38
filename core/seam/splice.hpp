// What a dialect does at a seam: one source file each, chosen among by the splicer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/ending.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/dialect/json_edits.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::seam {

using OwnEvents = std::vector<dialect::OwnEvent>;

class Splice {
 public:
  virtual ~Splice() = default;
  /// As Splicer::splice(). Precondition: the event's data is a JSON object, checked to its end; trim_bytes is at most
  /// meaning.text.size().
  virtual void splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes,
                      OwnEvents& out) = 0;

 protected:
  Splice() = default;
  Splice(const Splice&) = default;
  Splice& operator=(const Splice&) = default;
};

std::unique_ptr<Splice> splice_openai_chat(const dialect::Answer& so_far, std::uint64_t tokens);
std::unique_ptr<Splice> splice_openai_responses(const dialect::Answer& so_far, std::string_view text,
                                                std::uint64_t tokens);
std::unique_ptr<Splice> splice_anthropic_messages(const dialect::Answer& so_far, std::uint64_t tokens);
std::unique_ptr<Splice> splice_gemini(const dialect::Answer& so_far, std::uint64_t tokens);

/// `text` as a JSON string; empty where there is none.
std::string quoted(std::string_view text);

/// Takes `trim_bytes` bytes of text off the front of an event's strings of text.
class TextTrim {
 public:
  explicit TextTrim(std::size_t trim_bytes) : left_(trim_bytes) {}
  /// The next piece of the event's text, in the order in which they make it up.
  void piece(const dialect::JsonString& string, dialect::JsonEdits& edits);

 private:
  std::size_t left_;
};

}  // namespace tidemark::seam
