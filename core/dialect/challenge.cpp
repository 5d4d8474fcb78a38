// What gives a challenge away.
#include "core/dialect/challenge.hpp"

#include <algorithm>
#include <array>

namespace tidemark::dialect {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool equals_ignoring_case(std::string_view text, std::string_view lowered) {
  return text.size() == lowered.size() &&
         std::equal(text.begin(), text.end(), lowered.begin(), [](char a, char b) { return lower(a) == b; });
}

bool contains_ignoring_case(std::string_view text, std::string_view lowered) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::search(text.begin(), text.end(), lowered.begin(), lowered.end(), same) != text.end();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view without_leading_space(std::string_view text) {
  if (starts_with(text, "\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

bool names_challenge(std::string_view text) {
  return starts_with(text, "FAIL_SYS_USER_VALIDATE") || starts_with(text, "RGV587");
}

// The pages' own scripts. Cloudflare puts /cdn-cgi/challenge-platform/ into ordinary pages too: not a sign.
constexpr std::array<std::string_view, 13> kPageSigns = {
    "/punish?",    "_____tmd_____",          "x5secdata",                                    // Aliyun x5sec
    "_cf_chl_opt", "/orchestrate/chl_page/", "/orchestrate/jsch/", "/orchestrate/captcha/",  // Cloudflare
    "cf_chl_",     "cf-challenge-running",   "AwsWafIntegration",  "awsWafCookieDomainList", ".awswaf.com/",
    "gokuProps"};  // AWS WAF

// A title is a sign where the status says that this is not the page which was asked for.
constexpr std::array<std::string_view, 3> kTitles = {"<title>just a moment...</title>",
                                                     "<title>attention required! | cloudflare</title>",
                                                     "<title>human verification</title>"};

bool is_html(std::string_view content_type, std::string_view body) {
  if (contains_ignoring_case(content_type, "html")) return true;
  return contains_ignoring_case(body.substr(0, 14), "<!doctype html") ||
         contains_ignoring_case(body.substr(0, 5), "<html");
}

}  // namespace

JsonString challenge_in_ret(JsonReader& json) {
  JsonString found;
  const auto look_at = [&] {
    const JsonString text = json.string();
    if (!found && names_challenge(text.raw)) found = text;
  };
  if (json.type() == JsonType::Array) {
    json.array(look_at);
  } else {
    look_at();
  }
  return found;
}

JsonString challenge_in(std::string_view data) {
  data = without_leading_space(data);
  JsonString found;
  if (names_challenge(data)) {
    found.raw = data.substr(0, data.find_first_of("\r\n"));
    found.present = true;
    return found;
  }
  // What follows the sign may be missing, so it does not matter whether the text goes on as JSON.
  JsonReader json(data);
  json.object([&](std::string_view key) {
    if (!found && is(key, "ret")) {
      found = challenge_in_ret(json);
    } else {
      json.skip();
    }
  });
  return found;
}

bool is_challenge_body(int status, std::string_view content_type, std::string_view body_prefix) {
  std::string_view body = without_leading_space(body_prefix.substr(0, kMaxChallengeBytes));
  if (is_html(content_type, body)) {
    const auto has = [&](std::string_view sign) { return contains(body, sign); };
    if (std::any_of(kPageSigns.begin(), kPageSigns.end(), has)) return true;
    const bool refused = status == 403 || status == 405 || status == 429 || status == 503;
    const auto has_title = [&](std::string_view title) { return contains_ignoring_case(body, title); };
    if (refused && std::any_of(kTitles.begin(), kTitles.end(), has_title)) return true;
  }
  if (starts_with(body, "data:")) {
    body = body.substr(5);
    body = body.substr(0, body.find_first_of("\r\n"));
  }
  return challenge_in(body).present;
}

bool is_challenge_header(std::string_view name, std::string_view value) {
  if (equals_ignoring_case(name, "cf-mitigated")) return contains_ignoring_case(value, "challenge");
  if (equals_ignoring_case(name, "x-amzn-waf-action")) {
    return contains_ignoring_case(value, "challenge") || contains_ignoring_case(value, "captcha");
  }
  return false;
}

}  // namespace tidemark::dialect
