// What each kind of evidence needs before it counts.
#include "core/seam/evidence.hpp"

#include <algorithm>
#include <array>

#include "core/base/utf8.hpp"
#include "core/seam/lead_in.hpp"
#include "core/seam/letters.hpp"

namespace tidemark::seam {
namespace {

// Letters said again from the answer's beginning, weighed: so many are no chance in the middle of a word, where nothing
// begins; so many in the middle of a sentence; so many anywhere.
constexpr std::uint32_t kRestartInWord = 24;
constexpr std::uint32_t kRestartInSentence = 48;
constexpr std::uint32_t kRestart = 64;

// Of a continuation's first 4, 8, 12 and 16 different words, so many must stand in the opening before it passes for the
// same answer in other words: in the middle of a word of prose; and elsewhere, where more has to speak for it.
using Quota = std::array<std::uint32_t, 4>;
constexpr Quota kInWord{1, 2, 4, 7};
constexpr Quota kElsewhere{2, 5, 7, 9};
constexpr std::uint32_t kQuotaStep = 4;
constexpr std::size_t kWordsWithin = 320;  // bytes

constexpr std::size_t kMarks = 32;  // bytes; after more without a letter nothing is expected any more

bool begins_without_letters(std::string_view text) {
  return text.size() > kMarks && !Letters(text.substr(0, kMarks + 1)).next();
}

constexpr std::string_view kAfterWord = ".,:;!?*";

// Words that begin a sentence and are no part of a longer one.
constexpr std::array<std::string_view, 18> kBeginners{
    "The ",   "This ",    "These ",    "There ",   "When ", "What ", "Here ", "Here's ", "How ",
    "While ", "Because ", "Although ", "Whether ", "Your ", "Die ",  "Les ",  "A ",      "An "};

Evidence::Finding begins_sentence(std::string_view text) {
  Evidence::Finding finding = Evidence::Finding::Nothing;
  for (const std::string_view word : kBeginners) {
    if (text.substr(0, word.size()) == word) return Evidence::Finding::Against;
    if (word.substr(0, text.size()) == text) finding = Evidence::Finding::Open;
  }
  return finding;
}

// Whether a line stops behind a comma that a space would follow, as it does behind the others: no list without spaces.
bool ends_in_comma(std::string_view line) {
  if (line.empty() || (line.back() != ',' && line.back() != ';')) return false;
  line.remove_suffix(1);
  for (std::size_t at = line.find_first_of(",;"); at != std::string_view::npos; at = line.find_first_of(",;", at + 1)) {
    if (line.substr(at + 1, 1) != " ") return false;
  }
  return true;
}

// Whether the text, from an upper-case letter on, is a word of more letters, all others in lower case, and another
// word.
Evidence::Finding capitalized_word(std::string_view text) {
  std::size_t length = 0, letters = 0, at = 0;
  for (; at < text.size(); at += length, ++letters) {
    const char32_t point = decode_at(text, at, length);
    if (letters > 0 && is_upper(point)) return Evidence::Finding::Nothing;
    if (!is_letter(point) && point != '\'' && point != 0x2019) break;
  }
  at = std::min(text.find_first_not_of(kAfterWord, at), text.size());
  if (at == text.size()) return Evidence::Finding::Open;
  if (letters < 2 || !is_white(decode_at(text, at, length))) return Evidence::Finding::Nothing;
  return Evidence::Finding::Against;
}

}  // namespace

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::None:
      return "none";
    case Refusal::Restart:
      return "restart";
    case Refusal::LeadIn:
      return "lead-in";
    case Refusal::Different:
      return "different";
    case Refusal::Divergence:
      return "divergence";
  }
  return {};
}

Evidence::Evidence(std::string_view delivered)
    : delivered_(delivered), place_(place_of(delivered)), opening_(delivered) {}

std::optional<Refusal> Evidence::judge(std::string_view continuation, Overlap overlap, bool complete) {
  if (continuation.size() >= kMostBytes) {
    continuation = continuation.substr(0, kMostBytes);
    complete = true;
  }
  const Beginning beginning = beginning_of(continuation);
  const Finding restarts = restart(continuation, beginning, complete);
  if (restarts == Finding::Against) return Refusal::Restart;
  if (overlap == Overlap::Trimmed) {
    if (restarts == Finding::Open && !complete) return std::nullopt;
    return Refusal::None;
  }
  const LeadIn lead_in = lead_in_of(continuation, overlap == Overlap::Light ? Place::Fresh : place_);
  if (lead_in == LeadIn::Talk) return Refusal::LeadIn;
  if (lead_in == LeadIn::Another) return Refusal::Different;
  const Finding words = other_words(continuation, beginning, overlap, complete);
  if (words == Finding::Against) return Refusal::Restart;
  const Finding joint = overlap == Overlap::Light ? Finding::Nothing : impossible_joint(continuation, beginning);
  const bool open =
      restarts == Finding::Open || lead_in == LeadIn::Open || words == Finding::Open || joint == Finding::Open;
  if (open && !complete) return std::nullopt;  // after an impossible joint, too: it may yet be told what it is
  return joint == Finding::Against ? Refusal::Different : Refusal::None;
}

// The answer's own letters from its beginning, more of them than it says twice itself; or fewer, and then its words.
Evidence::Finding Evidence::restart(std::string_view continuation, const Beginning& beginning, bool complete) {
  const bool in_word = (place_ == Place::Word || place_ == Place::Tight) && beginning.start != Start::Plain;
  const std::uint32_t needed = in_word ? kRestartInWord : place_ == Place::Sentence ? kRestartInSentence : kRestart;
  if (opening_.weight() < kRestartInWord || begins_without_letters(continuation)) return Finding::Nothing;
  const Opening::Agreement agreement = opening_.agree(continuation, kRestartInWord);
  if (agreement.weight >= agreement.repeated + needed) return Finding::Against;
  if (opening_.weight() < agreement.repeated + kRestartInWord) return Finding::Nothing;
  if (!agreement.ended) return Finding::Open;
  if (agreement.weight < agreement.repeated + kRestartInWord) return Finding::Nothing;
  return in_other_words(continuation, complete, false);
}

Evidence::Finding Evidence::in_other_words(std::string_view continuation, bool complete, bool in_word) {
  if (continuation.size() >= kWordsWithin) {
    continuation = continuation.substr(0, kWordsWithin);
    complete = true;
  }
  const Quota& quota = in_word && prose() ? kInWord : kElsewhere;
  for (std::uint32_t step = 0; step < quota.size(); ++step) {
    const Opening::Words words = opening_.words(continuation, (step + 1) * kQuotaStep, complete);
    if (words.known >= quota.back()) return Finding::Against;
    if (!words.enough) return complete ? Finding::Nothing : Finding::Open;
    if (words.known < quota[step]) return Finding::Nothing;
  }
  return Finding::Against;
}

// The opening's words where nothing can begin.
Evidence::Finding Evidence::other_words(std::string_view continuation, const Beginning& beginning, Overlap overlap,
                                        bool complete) {
  if (place_ == Place::Fresh || beginning.start == Start::Plain) return Finding::Nothing;
  if (beginning.start == Start::Open) return Finding::Open;
  return in_other_words(continuation, complete, place_ != Place::Sentence && overlap == Overlap::None);
}

// Punctuation or upper case that can't follow the word in which the answer was cut.
Evidence::Finding Evidence::impossible_joint(std::string_view continuation, const Beginning& beginning) {
  const std::string_view line = last_line(delivered_);
  const bool behind_comma = ends_in_comma(line);
  if ((place_ == Place::Fresh && !behind_comma) || beginning.start == Start::Plain || beginning.start == Start::Open) {
    return Finding::Nothing;  // while it is open, so are its words
  }
  const std::string_view mark = continuation.substr(0, beginning.at);
  const bool adjoins = place_ == Place::Word;
  if (mark.substr(0, 3) == "```") return adjoins ? Finding::Against : Finding::Nothing;
  if (mark.substr(0, 1) == "#") {
    const bool heading = adjoins ? line.size() > 8 : mark.substr(0, 2) == "##";
    return heading && !has_code_signs(line) && !in_code_block() ? Finding::Against : Finding::Nothing;
  }
  if (!(adjoins || behind_comma) || beginning.start == Start::Caseless || line.find('|') != std::string_view::npos) {
    return Finding::Nothing;
  }
  if (mark.empty() && prose()) {
    const Finding finding = begins_sentence(continuation);
    if (finding != Finding::Nothing) return finding;
  }
  const bool opens_bold = mark == "**" && !is_open(line, "**");
  if (!prose() || !(opens_bold || ends_in_plain_word(delivered_))) return Finding::Nothing;
  if (mark == "**" && !opens_bold) return Finding::Nothing;
  return capitalized_word(continuation.substr(beginning.at));
}

bool Evidence::prose() {
  if (!prose_) prose_ = is_prose(delivered_);
  return *prose_;
}

bool Evidence::in_code_block() {
  if (!in_code_block_) in_code_block_ = ends_in_code_block(delivered_);
  return *in_code_block_;
}

}  // namespace tidemark::seam
