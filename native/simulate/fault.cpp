// Fault specifications and their order.
#include "native/simulate/fault.hpp"

#include <array>
#include <charconv>
#include <optional>

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

constexpr std::string_view kAllowed =
    "status=CODE (400-599), reset-after=N, eof-after=N, stall-after=N (N: events, 0-1000000), connect-reset, empty, "
    "preamble-only, reasoning-only, error-event, challenge-json, challenge-html, challenge-html-cut, silence, "
    "pings-only, "
    "crlf, split, none";

FaultError not_a_fault(std::string_view spec) {
  return "fault '" + std::string(spec) + "': allowed: " + std::string(kAllowed);
}

std::optional<int> parse_int(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<Fault, FaultError> parse_fault(std::string_view spec) {
  for (const Plain& plain : kPlain) {
    if (spec == plain.name) return Fault{plain.kind, 0, 0};
  }
  const std::size_t equals = spec.find('=');
  if (equals == std::string_view::npos) return not_a_fault(spec);
  const std::string_view name = spec.substr(0, equals);
  const std::string_view value = spec.substr(equals + 1);
  if (name == "status") {
    const auto status = parse_int(value, 400, 599);
    if (!status) return not_a_fault(spec);
    return Fault{FaultKind::Status, 0, *status};
  }
  for (const Counted& counted : kCounted) {
    if (name != counted.name) continue;
    const auto events = parse_int(value, 0, 1'000'000);
    if (!events) return not_a_fault(spec);
    return Fault{counted.kind, static_cast<std::size_t>(*events), 0};
  }
  return not_a_fault(spec);
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
