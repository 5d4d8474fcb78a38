// Making the events of a continuing attempt those of the stream that the client has been reading (contract § 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/dialect/ending.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::seam {

class Splice;

/// One seam, for openai-chat, openai-responses, anthropic-messages and gemini; in other dialects events pass as they
/// are. What the client reads is what an uncut answer could have been: its first attempt's ids, creation time, model
/// and fingerprint, one preamble, its open block, item and part gone on with or closed, what comes new numbered on from
/// its last index, `sequence_number` rising by one, and at the end all of the text, all of the output and the usage of
/// the whole answer.
///
/// Swallowed are the attempt's own preamble, reasoning before its first text, text that is trimmed, and a first block
/// or item of text of which nothing is left. What is not changed is kept byte for byte; but logprobs of an event that
/// is trimmed, or that repeats joined text, are left out, since they would be those of the attempt's own text; and
/// annotations stay as the attempt tells them, those from before the seam are not told again at the end.
///
/// Not for n > 1, nor for error events. Precondition of the seam: no open tool call, no open reasoning, no refusal.
///
/// Memory: the text of the open part for openai-responses, and of its finished items at most Answer::kMaxOutput bytes
/// beside items with joined text; where there are more, those that go beyond are left out of the last event. Time is
/// linear in the event, and in the open part's text where an event repeats it.
class Splicer {
 public:
  /// `so_far`: the answer as the client has it, after earlier seams too. `text`: all of its text. `tokens`: how many
  /// tokens of it have been generated, estimated.
  Splicer(dialect::Dialect dialect, const dialect::Answer& so_far, std::string_view text, std::uint64_t tokens);
  ~Splicer();
  Splicer(Splicer&&) noexcept;
  Splicer& operator=(Splicer&&) noexcept;

  /// One event of the continuing attempt, with what it means by itself. `trim_bytes`: as many bytes of meaning.text,
  /// from its front, are not delivered; between code points. Appends what the client gets: nothing, the event, or what
  /// must come before it as well.
  void splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes,
              std::vector<dialect::OwnEvent>& out);

 private:
  std::unique_ptr<Splice> splice_;
};

}  // namespace tidemark::seam
