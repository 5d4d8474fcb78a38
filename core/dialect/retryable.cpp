// The words that providers use in error codes and types.
#include "core/dialect/retryable.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/dialect/interpreter.hpp"

namespace tidemark::dialect {
namespace {

enum class Judgement { Unknown, Retryable, Final };

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

template <std::size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(text, word); });
}

// Nothing but paying helps against these.
constexpr std::array<std::string_view, 5> kMoney = {"quota", "billing", "credit", "spend_limit", "payment"};

constexpr std::array<std::string_view, 19> kFinal = {
    "invalid",        "auth",           "permission",  "forbidden",    "denied",
    "not_found",      "notfound",       "too_large",   "too_long",     "context_length",
    "context_window", "unsupported",    "bad_request", "badrequest",   "failed_precondition",
    "policy",         "content_filter", "safety",      "unprocessable"};

constexpr std::array<std::string_view, 19> kRetryable = {
    "server",     "overload",  "timeout",  "timed_out",   "timed out", "rate_limit", "ratelimit",
    "rate limit", "too_many",  "throttl",  "unavailable", "internal",  "api_error",  "network",
    "capacity",   "exhausted", "deadline", "try_again",   "upstream"};

bool is_retryable_status(int status) { return status == 408 || status == 409 || status == 429 || status >= 500; }

Judgement judge(std::string_view text) {
  int status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  if (error == std::errc() && end == text.data() + text.size() && status >= 400 && status <= 599) {
    return is_retryable_status(status) ? Judgement::Retryable : Judgement::Final;
  }
  if (contains_any(text, kFinal)) return Judgement::Final;
  if (contains_any(text, kRetryable)) return Judgement::Retryable;
  return Judgement::Unknown;
}

}  // namespace

bool is_retryable(std::string_view code, std::string_view type, int status) {
  if (contains_any(code, kMoney) || contains_any(type, kMoney)) return false;
  for (const std::string_view text : {code, type}) {
    const Judgement judgement = judge(text);
    if (judgement != Judgement::Unknown) return judgement == Judgement::Retryable;
  }
  return is_retryable_status(status);
}

bool ErrorInfo::retryable() const { return is_retryable(code, type, status); }

}  // namespace tidemark::dialect
