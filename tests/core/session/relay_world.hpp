// A relay in virtual time, its owner played by the test: every action is carried out, and what must always hold is
// checked with each of them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/relay.hpp"
#include "tests/catch.hpp"

namespace tidemark::test {

using session::EndReason;
using session::EndState;
using session::Relay;
using session::RelayAction;
using session::RelayOptions;
using session::RelayState;

class RelayWorld {
 public:
  explicit RelayWorld(RelayOptions options) : epoch_(options.epoch), relay(std::move(options)) {}

  struct Appended {
    seam::Seq seq = 0;
    TimeMs at = 0;
    unsigned attempt = 0;
    std::string bytes;
    dialect::Kind meaning = dialect::Kind::Silence;
  };

  // What the upstream of each attempt speaks, where the test says so.
  std::vector<std::optional<dialect::Dialect>> speaks;

  // How each attempt that is to continue the answer does so; with `unaskable` its form can't be asked for.
  seam::JoinOptions join{.continuer = seam::Continuer::Model};
  std::vector<seam::Form> unaskable;

  // What the owner has seen.
  std::vector<std::optional<seam::Form>> forms;  // of each attempt
  std::vector<seam::Form> form_verdicts;
  std::vector<TimeMs> sent;  // when each attempt went out
  std::vector<unsigned> cut;
  std::map<unsigned, retry::Outcome> outcomes;
  std::map<unsigned, std::string> key_verdicts;  // by attempt: the body so far
  std::optional<TimeMs> committed_at;
  unsigned commit_head = 0;
  std::vector<Appended> events;
  std::optional<std::string> passed;
  bool passed_whole = false;
  unsigned passed_attempt = 0;
  bool refused = false;
  std::optional<EndState> end;
  std::optional<EndReason> reason;
  TimeMs now = 1000;

 private:
  std::string epoch_;

 public:
  Relay relay;

  // Inputs about the attempt that was sent last.
  RelayWorld& start() {
    return after([&] { relay.start(now); });
  }
  RelayWorld& head(int status = 200, std::string_view content_type = "text/event-stream",
                   std::string_view retry_after = {}, bool challenge = false) {
    session::UpstreamHead facts;
    facts.status = status;
    facts.content_type = content_type;
    facts.retry_after = retry_after;
    facts.challenge_header = challenge;
    return after([&] { relay.handle_head(now, attempt(), facts); });
  }
  /// The head of an attempt that went out with one of the upstream's keys.
  RelayWorld& head_to_key(int status, std::string_view content_type, bool another_key,
                          std::string_view retry_after = {}) {
    session::UpstreamHead facts;
    facts.status = status;
    facts.content_type = content_type;
    facts.retry_after = retry_after;
    facts.own_key = true;
    facts.another_key = another_key;
    return after([&] { relay.handle_head(now, attempt(), facts); });
  }
  RelayWorld& bytes(std::string_view chunk) {
    return after([&] { relay.handle_bytes(now, attempt(), chunk); });
  }
  RelayWorld& data(std::string_view json) { return bytes("data: " + std::string(json) + "\n\n"); }
  RelayWorld& named(std::string_view name, std::string_view json) {
    return bytes("event: " + std::string(name) + "\ndata: " + std::string(json) + "\n\n");
  }
  RelayWorld& eof() {
    return after([&] { relay.handle_eof(now, attempt()); });
  }
  RelayWorld& reset() {
    return after([&] { relay.handle_failure(now, attempt(), session::AttemptFailure::Broken, "reset by peer"); });
  }
  RelayWorld& unreachable() {
    return after(
        [&] { relay.handle_failure(now, attempt(), session::AttemptFailure::Unreachable, "connection refused"); });
  }
  RelayWorld& paused(TimeMs ms) {
    return after([&] { relay.handle_paused(now, attempt(), ms); });
  }
  RelayWorld& stop() {
    return after([&] { relay.stop(now); });
  }
  RelayWorld& abandon() {
    return after([&] { relay.abandon(now); });
  }
  RelayWorld& shutdown() {
    return after([&] { relay.shutdown(now); });
  }

  /// Time goes on; every deadline on the way is met exactly.
  RelayWorld& wait(TimeMs ms) {
    const TimeMs until = now + ms;
    while (relay.next_deadline() <= until) {
      now = std::max(now, relay.next_deadline());
      after([&] { relay.handle_timeout(now); });
    }
    now = until;
    return *this;
  }

  template <class Input>
  RelayWorld& after(Input input) {
    input();
    for (const RelayAction& action : relay.actions()) apply(action);
    while (refuse_unaskable()) {
      for (const RelayAction& action : relay.actions()) apply(action);
    }
    if (over()) CHECK(relay.next_deadline() == kNever);
    return *this;
  }

  unsigned attempt() const { return static_cast<unsigned>(sent.size()); }
  bool over() const { return refused || passed || end; }
  bool committed() const { return committed_at.has_value(); }
  /// All that the client has, ids left out.
  std::string body() const {
    std::string all;
    for (const Appended& event : events) all += without_id(event.bytes);
    return all;
  }
  static std::string without_id(const std::string& bytes) {
    std::size_t end = bytes.find_first_of("\r\n");
    end += bytes.compare(end, 2, "\r\n") == 0 ? 2u : 1u;
    return bytes.substr(end);
  }
  bool ended(EndState state, EndReason why) const { return end == state && reason == why; }

 private:
  // The attempt just sent can't be asked for: it has not gone out.
  bool refuse_unaskable() {
    if (over() || forms.empty() || relay.state() != RelayState::Asking || !forms.back()) return false;
    if (std::find(unaskable.begin(), unaskable.end(), *forms.back()) == unaskable.end()) return false;
    const unsigned unsent = attempt();
    sent.pop_back();
    forms.pop_back();
    relay.handle_form_refused(now, unsent, "unaskable");
    return true;
  }

  void apply(const RelayAction& action) {
    REQUIRE(!over());  // nothing follows the final action
    switch (action.kind) {
      case RelayAction::Kind::SendAttempt:
        CHECK(action.attempt == sent.size() + 1);
        sent.push_back(now);
        forms.push_back(action.form);
        if (sent.size() <= speaks.size()) relay.set_dialect(speaks[sent.size() - 1]);
        if (action.form) relay.set_continuation(join);
        break;
      case RelayAction::Kind::CutAttempt:
        CHECK(action.attempt == sent.size());
        cut.push_back(action.attempt);
        break;
      case RelayAction::Kind::KeyVerdict:
        CHECK(key_verdicts.emplace(action.attempt, relay.bytes(action)).second);
        break;
      case RelayAction::Kind::FormVerdict:
        form_verdicts.push_back(*action.form);
        break;
      case RelayAction::Kind::Outcome:
        CHECK(outcomes.emplace(action.attempt, action.outcome).second);
        break;
      case RelayAction::Kind::Commit:
        CHECK(!committed());
        committed_at = now;
        commit_head = action.attempt;
        break;
      case RelayAction::Kind::Append: {
        CHECK(committed());
        CHECK(action.seq == static_cast<seam::Seq>(events.size()));
        const std::string text(relay.bytes(action));
        const std::string id = "id: " + epoch_ + "-" + std::to_string(action.seq);
        CHECK(text.compare(0, id.size(), id) == 0);
        CHECK(text.find_first_of("\r\n") == id.size());
        events.push_back({action.seq, now, attempt(), text, action.meaning});
        break;
      }
      case RelayAction::Kind::PassThrough:
        CHECK(!committed());
        passed = std::string(relay.bytes(action));
        passed_whole = action.whole;
        passed_attempt = action.attempt;
        break;
      case RelayAction::Kind::Refuse:
        CHECK(!committed());
        CHECK(relay.error().status >= 400);
        refused = true;
        break;
      case RelayAction::Kind::End:
        CHECK(committed());
        end = action.state;
        reason = action.reason;
        break;
    }
  }
};

/// Refused with this, and with words of some kind.
inline void check_error(const RelayWorld& world, int status, const std::string& type, const std::string& code,
                        int retry_after) {
  REQUIRE(world.refused);
  const session::RelayError& error = world.relay.error();
  CHECK(error.status == status);
  CHECK(error.type == type);
  CHECK(error.code == code);
  CHECK(error.retry_after_s.value_or(0) == retry_after);
  CHECK_FALSE(error.message.empty());
}

inline RelayOptions relay_options(std::optional<dialect::Dialect> dialect) {
  RelayOptions options;
  options.dialect = dialect;
  options.epoch = "e5";
  options.seed = 7;
  return options;
}

}  // namespace tidemark::test
