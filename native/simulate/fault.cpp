// Fault specifications and their order.
#include "native/simulate/fault.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace tidemark::simulate {
namespace {

struct Plain {
  std::string_view name;
  FaultKind kind;
};
constexpr std::array kPlain = {
    Plain{"none", FaultKind::None},
    Plain{"connect-reset", FaultKind::ConnectReset},
    Plain{"empty", FaultKind::Empty},
    Plain{"preamble-only", FaultKind::PreambleOnly},
    Plain{"reasoning-only", FaultKind::ReasoningOnly},
    Plain{"error-event", FaultKind::ErrorEvent},
    Plain{"challenge-json", FaultKind::ChallengeJson},
    Plain{"challenge-html", FaultKind::ChallengeHtml},
    Plain{"challenge-html-cut", FaultKind::ChallengeHtmlCut},
    Plain{"silence", FaultKind::Silence},
    Plain{"pings-only", FaultKind::PingsOnly},
    Plain{"crlf", FaultKind::Crlf},
    Plain{"split", FaultKind::Split},
};

struct Counted {
  std::string_view name;
  FaultKind kind;
};
constexpr std::array kCounted = {
    Counted{"reset-after", FaultKind::ResetAfter},
    Counted{"eof-after", FaultKind::EofAfter},
    Counted{"stall-after", FaultKind::StallAfter},
};

struct Seam {
  std::string_view name;
  SeamFault seam;
};
constexpr std::array kSeams = {
    Seam{"echo", SeamFault::Echo},           Seam{"restart", SeamFault::Restart},
    Seam{"lead-in", SeamFault::LeadIn},      Seam{"restart-paraphrased", SeamFault::RestartParaphrased},
    Seam{"different", SeamFault::Different}, Seam{"refuse-prefix", SeamFault::RefusePrefix},
};

constexpr int kMostEvents = 1'000'000;
constexpr int kMostOverlap = 1'000'000;
constexpr int kMostSeconds = 1'000'000;

constexpr std::string_view kAllowed =
    "status=CODE (400-599; with a Retry-After: status=CODE+retry-after=SECONDS, 0-1000000), reset-after=N, "
    "eof-after=N, stall-after=N (N: events, 0-1000000), connect-reset, empty, "
    "preamble-only, reasoning-only, error-event, challenge-json, challenge-html, challenge-html-cut, silence, "
    "pings-only, crlf, split, none; for a continuation: overlap=N (N: characters, 0-1000000), echo, restart, "
    "restart-paraphrased, lead-in, different, refuse-prefix; one of each kind may be joined by a plus";

FaultError not_a_fault(std::string_view spec) {
  return "fault '" + std::string(spec) + "': allowed: " + std::string(kAllowed);
}

std::optional<int> parse_int(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

// The value behind `name=`, where the part is of that form.
std::optional<int> value_of(std::string_view part, std::string_view name, int least, int most) {
  if (part.size() <= name.size() || part[name.size()] != '=' || part.substr(0, name.size()) != name)
    return std::nullopt;
  return parse_int(part.substr(name.size() + 1), least, most);
}

bool parse_seam(std::string_view part, Fault& fault) {
  for (const Seam& seam : kSeams) {
    if (part != seam.name) continue;
    fault.seam = seam.seam;
    return true;
  }
  const auto overlap = value_of(part, "overlap", 0, kMostOverlap);
  if (!overlap) return false;
  fault.seam = SeamFault::Overlap;
  fault.overlap = static_cast<std::size_t>(*overlap);
  return true;
}

bool parse_end(std::string_view part, Fault& fault) {
  for (const Plain& plain : kPlain) {
    if (part != plain.name) continue;
    fault.kind = plain.kind;
    return true;
  }
  if (const auto status = value_of(part, "status", 400, 599)) {
    fault.kind = FaultKind::Status;
    fault.status = *status;
    return true;
  }
  for (const Counted& counted : kCounted) {
    const auto events = value_of(part, counted.name, 0, kMostEvents);
    if (!events) continue;
    fault.kind = counted.kind;
    fault.events = static_cast<std::size_t>(*events);
    return true;
  }
  return false;
}

bool parse_wait(std::string_view part, Fault& fault) {
  const auto seconds = value_of(part, "retry-after", 0, kMostSeconds);
  if (seconds) fault.retry_after_s = seconds;
  return seconds.has_value();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view allowed_faults() { return kAllowed; }

Result<Fault, FaultError> parse_fault(std::string_view spec) {
  Fault fault;
  bool has_end = false;
  bool has_seam = false;
  bool has_wait = false;
  for (std::string_view rest = spec;;) {
    const std::size_t plus = rest.find('+');
    const std::string_view part = rest.substr(0, plus);
    bool* const has = parse_seam(part, fault)   ? &has_seam
                      : parse_wait(part, fault) ? &has_wait
                      : parse_end(part, fault)  ? &has_end
                                                : nullptr;
    if (has == nullptr || std::exchange(*has, true)) return not_a_fault(spec);
    if (plus == std::string_view::npos) break;
    rest.remove_prefix(plus + 1);
  }
  if (has_wait && fault.kind != FaultKind::Status) return not_a_fault(spec);
  return fault;
}

Result<std::vector<Fault>, FaultError> parse_faults(std::string_view list) {
  std::vector<Fault> faults;
  while (true) {
    const std::size_t comma = list.find(',');
    auto fault = parse_fault(trimmed(list.substr(0, comma)));
    if (!fault) return fault.error();
    faults.push_back(fault.value());
    if (comma == std::string_view::npos) return faults;
    list.remove_prefix(comma + 1);
  }
}

FaultSchedule::FaultSchedule(std::vector<Fault> program) : program_(std::move(program)) {}

Fault FaultSchedule::next() { return program_taken_ < program_.size() ? program_[program_taken_++] : Fault{}; }

std::optional<std::string> FaultSchedule::latest(std::string_view subject) const {
  const auto found = std::find_if(turns_.begin(), turns_.end(), [subject](const Turn& turn) {
    return turn.identity.compare(0, subject.size(), subject) == 0;
  });
  if (found == turns_.end()) return std::nullopt;
  return found->identity;
}

Fault FaultSchedule::next(const std::string& identity, const std::vector<Fault>& own) {
  auto known = by_identity_.find(identity);
  if (known == by_identity_.end()) {
    turns_.push_front(Turn{identity, 0});
    known = by_identity_.emplace(identity, turns_.begin()).first;
    if (turns_.size() > kMaxIdentities) {
      by_identity_.erase(turns_.back().identity);
      turns_.pop_back();
    }
  } else {
    turns_.splice(turns_.begin(), turns_, known->second);
  }
  Turn& turn = turns_.front();
  if (turn.taken < own.size()) return own[turn.taken++];
  turns_.pop_front();
  by_identity_.erase(known);
  return Fault{};
}

}  // namespace tidemark::simulate
