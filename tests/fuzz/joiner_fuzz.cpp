// The joiner on any text, in any pieces: what it drops and trims was delivered, between code points; it holds no more
// than it may; and where overlap has no say, the pieces make no difference.
//
// Input: four bytes of settings, then texts separated by FF: what was delivered, and the continuation's events. FE
// stands for everything delivered, FD for its first half.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/utf8.hpp"
#include "core/seam/joiner.hpp"

namespace {

namespace seam = tidemark::seam;
using seam::Joiner;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

std::vector<std::string> texts_of(std::string_view input) {
  std::vector<std::string> texts(1);
  for (const char c : input) {
    const bool quotes = texts.size() > 1 && texts.back().size() < 4096;
    if (c == '\xFF') {
      texts.emplace_back();
    } else if (c == '\xFE' && quotes) {
      texts.back() += texts.front();
    } else if (c == '\xFD' && quotes) {
      texts.back() += texts.front().substr(0, texts.front().size() / 2);
    } else {
      texts.back() += c;
    }
  }
  return texts;
}

struct Outcome {
  bool refused = false;
  std::size_t trimmed = 0;  // of all that was offered, from its front
};

Outcome run(const std::string& delivered, const seam::JoinOptions& options, const std::vector<std::string>& events) {
  Joiner joiner(delivered, options);
  std::string all, held;
  Outcome outcome;
  std::size_t held_events = 0;
  const auto take = [&](const Joiner::Decision& decision) {
    outcome.refused = decision.step == Joiner::Step::Refuse;
    expect(outcome.refused == (decision.why != seam::Refusal::None),
           "refused without a reason, or the other way round");
    if (decision.step == Joiner::Step::Drop) {
      outcome.trimmed += held.size();
    } else if (decision.step == Joiner::Step::Join) {
      expect(decision.trim_bytes <= held.size(), "trimmed more than was held");
      outcome.trimmed += decision.trim_bytes;
    }
    if (decision.step == Joiner::Step::Drop || decision.step == Joiner::Step::Join) held.clear();
  };
  for (const std::string& event : events) {
    const bool decided = joiner.decided();
    all += event;
    held += event;
    const Joiner::Decision decision = joiner.offer(event);
    expect(!decided || decision.step == Joiner::Step::Refuse || decision.trim_bytes == 0, "trimmed after the decision");
    take(decision);
    if (outcome.refused) return outcome;
    held_events += decision.step == Joiner::Step::Hold && !event.empty() ? 1 : 0;
    expect(joiner.decided() || held.size() <= seam::OverlapTrimmer::kWindowBytes + event.size(), "held too much");
    // 256 events of an overlap, or bytes of evidence (each may be an event), or an echo too light to be one.
    expect(held_events <= 256 + seam::Evidence::kMostBytes, "held too long");
  }
  if (!joiner.decided()) take(joiner.finish());
  expect(joiner.decided(), "not decided in the end");
  expect(joiner.finish().step != Joiner::Step::Hold, "undecided after the end");
  if (outcome.refused) return outcome;
  expect(outcome.trimmed <= all.size(), "trimmed more than was offered");
  const std::string_view gone = std::string_view(all).substr(0, outcome.trimmed);
  expect(gone.size() <= delivered.size() && delivered.find(gone) != std::string::npos,
         "trimmed what was not delivered");
  return outcome;
}

bool whole_code_points(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
      if (tidemark::decode_at(text, at, length) == 0xFFFD && length == 1) return false;
    }
  }
  return true;
}

// Evidence alone: whether a continuation is refused does not depend on how much of it comes at once.
void check_evidence(const std::string& delivered, const std::string& continuation) {
  using Overlap = seam::Evidence::Overlap;
  for (const Overlap overlap : {Overlap::None, Overlap::Light, Overlap::Trimmed}) {
    const auto at_once = seam::Evidence(delivered).judge(continuation, overlap, false);
    seam::Evidence evidence(delivered);
    std::optional<seam::Refusal> verdict;
    for (std::size_t at = 1; at <= continuation.size() && !verdict; ++at) {
      if (at < continuation.size() && tidemark::is_continuation(continuation[at])) continue;
      verdict = evidence.judge(std::string_view(continuation).substr(0, at), overlap, false);
    }
    expect(at_once.has_value() == verdict.has_value(), "decided at once, or only in pieces");
    if (verdict) {
      expect((*at_once == seam::Refusal::None) == (*verdict == seam::Refusal::None), "another verdict in pieces");
    }
    if (continuation.size() >= seam::Evidence::kMostBytes) expect(at_once.has_value(), "undecided at a kilobyte");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 4 || size > 4096) return 0;
  const std::vector<std::string> texts = texts_of(std::string_view(reinterpret_cast<const char*>(bytes) + 4, size - 4));
  const std::vector<std::string> events(texts.begin() + 1, texts.end());
  const std::string& delivered = texts[0];
  const std::size_t shown = delivered.find_last_not_of(" \n") + 1;
  const seam::JoinOptions options{static_cast<seam::Continuer>(bytes[0] % 3), bytes[1],
                                  std::min<std::size_t>(bytes[2], delivered.size() - shown)};
  const Outcome outcome = run(delivered, options, events);
  if (!whole_code_points(texts)) return 0;

  std::string joined;
  for (const std::string& event : events) joined += event;
  const bool between = outcome.trimmed == joined.size() || !tidemark::is_continuation(joined[outcome.trimmed]);
  expect(between, "trimmed inside a code point");
  if (!joined.empty() && joined.size() <= 1500) check_evidence(delivered, joined);
  return 0;
}
