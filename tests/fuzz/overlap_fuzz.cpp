// Overlap against trying every length; the trimmer against one that looks at everything again at every event; the tail
// in pieces against the whole text; weights; numbers, ids and times from any text.
//
// Input: four bytes of settings, then texts separated by FF: what was delivered, and the continuation's events. FE
// stands for everything delivered so far, so that texts meet.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/retry/retry_after.hpp"
#include "core/seam/overlap_trimmer.hpp"
#include "core/seam/tail_fingerprint.hpp"
#include "core/seam/watermark.hpp"
#include "tests/core/seam/slow_overlap.hpp"

namespace {

namespace seam = tidemark::seam;
using seam::test::begins_code_point;
using seam::test::slow_overlap;
using seam::test::SlowTrimmer;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

std::vector<std::string> texts_of(std::string_view input) {
  std::vector<std::string> texts(1);
  for (const char c : input) {
    if (c == '\xFF') {
      texts.emplace_back();
    } else if (c == '\xFE' && texts.size() > 1 && texts.back().size() < 4096) {
      texts.back() += texts.front();
    } else {
      texts.back() += c;
    }
  }
  return texts;
}

void check_trimmer(const SlowTrimmer& slow, const std::vector<std::string>& events) {
  seam::OverlapTrimmer trimmer(slow.delivered, slow.continuer, slow.overlap_min);
  std::string offered;
  int with_text = 0;
  bool whole_code_points = true;
  seam::OverlapTrimmer::Decision decision;
  for (const std::string& text : events) {
    whole_code_points = whole_code_points && (text.empty() || with_text == 0 || begins_code_point(text[0]));
    if (decision.decided) {
      expect(trimmer.offer(text).trim_bytes == 0, "trimmed after the decision");
      continue;
    }
    offered += text;
    with_text += text.empty() ? 0 : 1;
    decision = trimmer.offer(text);
    expect(decision.decided == (with_text > 0 && (with_text == 3 || !slow.may_trim_more(offered))),
           "decided too early or too late");
  }
  if (!decision.decided) decision = trimmer.finish();
  expect(trimmer.decided(), "not decided in the end");
  expect(decision.trim_bytes == slow.trim({offered}), "another trim than that of what was offered");
  if (whole_code_points) expect(decision.trim_bytes == slow.trim(events), "another trim than that of three events");
}

void check_tail(const std::vector<std::string>& pieces) {
  seam::Tail tail;
  std::string whole;
  std::uint64_t units = 0;
  std::size_t run = 0, longest_run = 0;
  for (const std::string& piece : pieces) {
    tail.append(piece);
    whole += piece;
  }
  for (const char c : whole) {
    run = begins_code_point(c) ? 0 : run + 1;
    longest_run = run > longest_run ? run : longest_run;
    if (begins_code_point(c)) units += static_cast<unsigned char>(c) >= 0xF0 ? 2 : 1;
  }
  expect(tail.utf16_length() == units, "another length");
  expect(tail.text().size() <= 4 * seam::kTailCodePoints, "the tail is too long");
  if (longest_run <= 3) expect(tail.fingerprint() == seam::tail_fingerprint(whole), "another fingerprint");
}

void check_headers(const std::string& text, const std::string& other) {
  const auto wait = tidemark::retry::parse_retry_after(text, other, 1796014800000);
  if (wait) expect(*wait >= 0 && *wait <= std::int64_t{1} << 52, "a wait out of bounds");
  const auto watermark = seam::parse_watermark(text);
  if (watermark) expect(std::to_string(*watermark) == text, "a watermark is written in two ways");
  const auto id = seam::parse_event_id(text);
  if (id) expect(std::string(id->epoch) + "-" + std::to_string(id->seq) == text, "an event id is written in two ways");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 4) return 0;
  const std::vector<std::string> texts = texts_of(std::string_view(reinterpret_cast<const char*>(bytes) + 4, size - 4));
  const std::vector<std::string> events(texts.begin() + 1, texts.end());
  if (texts[0].size() > seam::OverlapTrimmer::kWindowBytes) return 0;
  const auto continuer = bytes[0] % 2 == 0 ? seam::Continuer::SameGeneration : seam::Continuer::Model;

  std::string joined;
  for (const std::string& text : events) joined += text;
  expect(seam::overlap_bytes(texts[0], joined) == slow_overlap(texts[0], joined), "another overlap");
  expect(seam::weight(joined) <= 3 * joined.size(), "too heavy");
  check_trimmer({texts[0], continuer, bytes[1]}, events);
  check_tail(texts);
  check_headers(texts[0], joined);
  return 0;
}
