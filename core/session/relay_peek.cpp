// Bodies that are no event stream: told from a challenge, then handed on, or taken for a failed attempt.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/dialect/challenge.hpp"
#include "core/dialect/json_reader.hpp"
#include "core/retry/key_ring.hpp"
#include "core/session/media_type.hpp"
#include "core/session/relay.hpp"

namespace tidemark::session {
namespace {

constexpr bool is_success(int status) { return status >= 200 && status < 300; }

// Contract § 2.1, `retry`.
constexpr bool may_pass(int status) {
  constexpr std::array kStatuses{408, 409, 429, 500, 502, 503, 504, 529};
  for (const int known : kStatuses) {
    if (known == status) return true;
  }
  return false;
}

// The upstream does not go on with an answer when it is asked like that.
constexpr bool refuses_form(int status) {
  return status == 400 || status == 404 || status == 405 || status == 410 || status == 415 || status == 422 ||
         status == 501;
}

// As far as both go.
bool agree(std::string_view a, std::string_view b) {
  const std::size_t common = a.size() < b.size() ? a.size() : b.size();
  return a.substr(0, common) == b.substr(0, common);
}

std::string_view without_leading_space(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first == std::string_view::npos ? std::string_view() : body.substr(first);
}

// A field of an event stream, or a comment.
constexpr std::array<std::string_view, 5> kEventStreamBeginnings{"data:", "event:", "id:", "retry:", ":"};

bool begins_as_event_stream(std::string_view body) {
  return std::any_of(kEventStreamBeginnings.begin(), kEventStreamBeginnings.end(),
                     [&](std::string_view field) { return body.starts_with(field); });
}

// Nothing, or what may still turn out to be nothing or an event stream.
bool is_undecided(std::string_view body) {
  return body.empty() || agree(body, "null") ||
         std::any_of(kEventStreamBeginnings.begin(), kEventStreamBeginnings.end(),
                     [&](std::string_view field) { return agree(body, field); });
}

// White space, null, or an object without members.
bool says_nothing(std::string_view body) {
  dialect::JsonReader json(body);
  if (json.type() != dialect::JsonType::Object) return json.raw() == "null" ? json.at_end() : body.empty();
  std::size_t members = 0;
  json.object([&](std::string_view) {
    ++members;
    json.skip();
  });
  return members == 0 && json.at_end();
}

// {"code":200,"message":"success",…}: nobody's error.
bool names_success(std::string_view code) {
  return code == "0" || (code.size() == 3 && code[0] == '2' && code.find_first_not_of("0123456789") == code.npos);
}

// By the first bytes: a JSON object, a page, a data line or the frame's bare words. Anything else, be it JSON (Gemini
// streams an array) or text that is streamed, need not wait.
bool may_become_challenge(std::string_view body) {
  body = without_leading_space(body);
  if (body.empty()) return true;
  return body[0] == '{' || body[0] == '<' || agree(body, "data:") || agree(body, "FAIL_SYS_") || agree(body, "RGV587");
}

}  // namespace

void Relay::take_other_head(TimeMs now) {
  move(RelaySignal::OtherBody);
  if (challenge_header_) return challenged();
  beat(now);
  if (!is_worth_a_look()) judge_body(now, false);
}

void Relay::peek(TimeMs now, std::string_view chunk, std::string_view readable) {
  peeked_.append(chunk);
  if (coding_ != BodyCoding::None) readable_.append(readable);
  beat(now);
  if (begins_stream_unnamed()) {
    if (foreign_) return refuse_to_join();
    const std::string body = std::exchange(peeked_, {});
    move(RelaySignal::Stream);
    return parse(now, body);
  }
  if (!is_worth_a_look()) return judge_body(now, false);
  if (std::max(peeked_.size(), readable_.size()) >= dialect::kMaxChallengeBytes) return judge_body(now, false);
  // Looked at again when it has doubled, so that the work stays linear.
  if (body_text().size() < next_look_) return;
  next_look_ = 2 * body_text().size();
  if (is_challenge()) challenged();
}

// The head of a success that announces something else than the event stream that was asked for.
bool Relay::misses_stream() const { return options_.expects_stream && is_success(status_) && !stream_head_; }

// An event stream under another name, or none: clients take it for one all the same.
bool Relay::begins_stream_unnamed() const {
  return misses_stream() && coding_ == BodyCoding::None && media_type(content_type_) != MediaType::Html &&
         begins_as_event_stream(without_leading_space(body_text()));
}

bool Relay::is_worth_a_look() const {
  if (coding_ == BodyCoding::Unreadable) return false;
  if (misses_stream() && is_undecided(without_leading_space(body_text()))) return true;
  switch (media_type(content_type_)) {
    case MediaType::Other:
      return false;
    case MediaType::Html:
      return true;
    case MediaType::None:
    case MediaType::EventStream:
    case MediaType::Json:
    case MediaType::PlainText:
      break;
  }
  return !is_success(status_) || may_become_challenge(body_text());
}

bool Relay::is_challenge() const {
  return challenge_header_ || dialect::is_challenge_body(status_, content_type_, body_text()) ||
         matches_pattern(body_text());
}

// `challenge_patterns` of the configuration.
bool Relay::matches_pattern(std::string_view text) const {
  if (options_.challenge_patterns == nullptr) return false;
  for (const std::string& pattern : *options_.challenge_patterns) {
    if (text.find(pattern) != std::string_view::npos) return true;
  }
  return false;
}

bool Relay::is_no_event_stream(std::string_view beginning) {
  return beginning[0] == '{' || beginning[0] == '<' || agree(beginning, "FAIL_SYS_") || agree(beginning, "RGV587");
}

void Relay::judge_body(TimeMs now, bool whole) {
  if (is_challenge()) return challenged();
  // Beyond, it is the look that is cut, not the body.
  const bool is_all = body_text().size() < dialect::kMaxChallengeBytes;
  if (is_all && dialect::is_cut_challenge_body(content_type_, body_text(), dialect::BodyEnd::Proper))
    return challenged();
  if (whole && is_all && (misses_stream() || stream_head_) && take_no_answer(now)) return;
  if (stream_head_) {
    if (!repeat(now, Loss::Empty)) fail(Loss::Empty, upstream_said().message);
    return;
  }
  if (try_another_key(now)) return;
  if (may_pass(status_) && repeat(now, Loss::Status)) return;
  if (form_ && refuses_form(status_)) {
    note(Loss::Status);
    push_peeked(RelayAction::Kind::FormVerdict).form = form_;
    leave_attempt(retry::Outcome::Neutral);
    return try_next_form(now, "form-refused");
  }
  pass_through(whole);
}

// A whole body under a success that has nothing in it, or an error: no client is to take that for an answer. False: it
// is neither.
bool Relay::take_no_answer(TimeMs now) {
  const std::string_view body = without_leading_space(body_text());
  if (says_nothing(body)) {
    if (!repeat(now, Loss::Empty)) fail(Loss::Empty, kNoAnswer);
    return true;
  }
  sse::Event event;
  event.data = body;
  dialect::Interpreter reader = error_reader();
  const dialect::Meaning meaning = reader.interpret(event);
  if (meaning.kind != dialect::Kind::Error || names_success(meaning.error.code)) return false;
  if (!repeat_after_error(now, meaning.error)) fail_with(meaning.error);
  return true;
}

// Nothing has come for too long.
void Relay::judge_silence(TimeMs now) {
  if (!misses_stream() || !without_leading_space(body_text()).empty()) return judge_body(now, false);
  if (!repeat(now, Loss::Silent)) fail(Loss::Silent, kSilent);
}

// The connection was lost in the middle of the body.
void Relay::lose_body(TimeMs now, std::string_view message) {
  if (is_challenge()) return challenged();
  if (dialect::is_cut_challenge_body(content_type_, body_text(), dialect::BodyEnd::Lost)) return challenged();
  if (try_another_key(now)) return;
  const Loss loss = stream_head_ ? Loss::Empty : may_pass(status_) ? Loss::Status : Loss::Unreachable;
  if (repeat(now, loss)) return;
  fail(loss == Loss::Status ? Loss::Unreachable : loss, message);
}

// After a refusal that is no challenge: what it says of the key, and the next one's turn. True: it goes out.
bool Relay::try_another_key(TimeMs now) {
  if (!own_key_ || !retry::is_key_status(status_)) return false;
  push_peeked(RelayAction::Kind::KeyVerdict).retry_after = retry_after_;
  return another_key_ && repeat(now, Loss::Key);
}

void Relay::pass_through(bool whole) {
  if (!is_success(status_)) note(Loss::Status);
  if (committed()) {
    leave_attempt(retry::Outcome::Neutral);
    return give_up(upstream_said(), {EndState::Failed, EndReason::UpstreamError});
  }
  report(is_success(status_) ? retry::Outcome::Answer : retry::Outcome::Neutral);
  move(RelaySignal::HandOn);
  attempt_running_ = false;  // the rest of it is the owner's
  deadlines_.clear_all();
  push_peeked(RelayAction::Kind::PassThrough).whole = whole;
  std::string().swap(peeked_);
  std::string().swap(readable_);
}

RelayAction& Relay::push_peeked(RelayAction::Kind kind) {
  RelayAction& action = push(kind);
  action.at = arena_.size();
  action.size = peeked_.size();
  arena_.append(peeked_);
  return action;
}

dialect::Interpreter Relay::error_reader() const {
  const bool known = dialect() != dialect::Dialect::Opaque;
  return dialect::Interpreter(known ? dialect() : dialect::Dialect::OpenaiChat);
}

RelayError Relay::upstream_said() const {
  RelayError error = own_error(502, "upstream_error", "upstream_error", {}, 0);
  sse::Event event;
  event.data = body_text();
  dialect::Interpreter reader = error_reader();
  const dialect::Meaning meaning = reader.interpret(event);
  if (meaning.kind == dialect::Kind::Error && !meaning.error.message.empty()) {
    error.message = meaning.error.message;
    if (!meaning.error.type.empty()) error.type = meaning.error.type;
    if (!meaning.error.code.empty()) error.code = meaning.error.code;
  } else if (is_success(status_)) {
    error.message = "the upstream answered with something else than an event stream";
  } else {
    error.message = "the upstream answered with status " + std::to_string(status_);
  }
  return error;
}

}  // namespace tidemark::session
