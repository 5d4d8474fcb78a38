// The events of an attempt that goes on with a cut answer: judged by their text, then made events of the client's
// stream (contract § 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/ending.hpp"
#include "core/dialect/interpreter.hpp"
#include "core/seam/joiner.hpp"
#include "core/seam/splicer.hpp"
#include "core/sse/parser.hpp"

namespace tidemark::session {

/// What the client has of an answer that was cut.
struct CutAnswer {
  const dialect::Answer& answer;  // ids, indices and numbers as the client knows them
  std::string_view text;          // all of the answer's text
  std::uint64_t tokens = 0;       // that it took, estimated
};

class Continuation {
 public:
  /// `so_far.text` outlives the decision: until take() says something else than Hold.
  Continuation(dialect::Dialect dialect, const CutAnswer& so_far, seam::JoinOptions options);

  /// What the event means by itself. Views as Interpreter's.
  dialect::Meaning interpret(const sse::Event& event) { return reader_.interpret(event); }

  enum class Step : std::uint8_t { Hold, Deliver, Refuse };
  /// The event just interpreted; neither an error nor a challenge. Deliver: take_ready() has what the client gets now.
  /// What is held while the seam is undecided is bounded by kMaxHeldBytes; more is refused. An attempt that is cut
  /// before it is decided has brought nothing that is known to go on with the answer.
  Step take(const sse::Event& event, const dialect::Meaning& meaning);
  std::vector<dialect::OwnEvent> take_ready();

  /// The attempt has brought text, or a piece of a tool call.
  bool offered() const { return offered_; }
  /// Code points of the continuation that the client had already.
  std::size_t trimmed() const { return trimmed_; }
  seam::Refusal refusal() const { return refusal_; }
  /// What the attempt has said by itself: the provider's own ids and numbers.
  const dialect::Answer& answer() const { return reader_.answer(); }

  static constexpr std::size_t kMaxHeldBytes = 256u << 10;

 private:
  // An event whose text is not judged yet, or that came after one.
  struct Held {
    dialect::OwnEvent event;
    dialect::Meaning meaning;
    std::string text;
  };

  Step bounded(Step step);
  Step act(const seam::Joiner::Decision& decision);
  void splice_held(std::size_t trim_bytes);
  void splice(const sse::Event& event, const dialect::Meaning& meaning, std::size_t trim_bytes);

  dialect::Interpreter reader_;
  seam::Joiner joiner_;
  seam::Splicer splicer_;
  std::vector<Held> held_;
  std::size_t held_bytes_ = 0;
  std::vector<dialect::OwnEvent> ready_;
  std::size_t waiting_bytes_ = 0;  // of ready_, before the decision
  std::size_t trimmed_ = 0;
  seam::Refusal refusal_ = seam::Refusal::None;
  bool offered_ = false;
  bool joined_ = false;
};

}  // namespace tidemark::session
