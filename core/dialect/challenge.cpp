// What gives a challenge away.
#include "core/dialect/challenge.hpp"

#include <algorithm>
#include <array>

#include "core/dialect/words.hpp"

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

// What gives a challenge away, and from how many of its characters on it does where the body ends inside of it.
struct Sign {
  std::string_view whole;
  std::size_t enough;
};

constexpr std::array<Sign, 2> kFrameSigns = {{{"FAIL_SYS_USER_VALIDATE", 13}, {"RGV587", 4}}};

bool names_challenge(std::string_view text) {
  return std::any_of(kFrameSigns.begin(), kFrameSigns.end(),
                     [&](const Sign& sign) { return text.substr(0, sign.whole.size()) == sign.whole; });
}

bool is_cut_name(std::string_view text) {
  return std::any_of(kFrameSigns.begin(), kFrameSigns.end(), [&](const Sign& sign) {
    return text.size() >= sign.enough && text == sign.whole.substr(0, text.size());
  });
}

bool ends_inside(std::string_view body, const Sign& sign) {
  for (std::size_t size = sign.enough; size < sign.whole.size() && size <= body.size(); ++size) {
    if (body.substr(body.size() - size) == sign.whole.substr(0, size)) return true;
  }
  return false;
}

// The pages' own scripts. Cloudflare puts /cdn-cgi/challenge-platform/ into ordinary pages too: not a sign.
constexpr std::array<Sign, 12> kPageSigns = {{
    {"/punish?", 7},  // Aliyun x5sec
    {"_____tmd_____", 8},
    {"x5secdata", 5},
    {"cf_chl_", 6},  // Cloudflare
    {"/orchestrate/chl_page/", 13},
    {"/orchestrate/jsch/", 13},
    {"/orchestrate/captcha/", 13},
    {"cf-challenge-running", 12},
    {"AwsWafIntegration", 6},  // AWS WAF
    {"awsWafCookieDomainList", 6},
    {".awswaf.com/", 7},
    {"gokuProps", 5},
}};

// A title is a sign where the status says that this is not the page which was asked for, or where the page is cut.
constexpr std::array<std::string_view, 4> kTitles = {
    "<title>just a moment...</title>", "<title>attention required! | cloudflare</title>",
    "<title>human verification</title>", "<title>captcha interception</title>"};

bool has_title(std::string_view body) {
  return std::any_of(kTitles.begin(), kTitles.end(),
                     [&](std::string_view title) { return contains_ignoring_case(body, title); });
}

bool is_html(std::string_view content_type, std::string_view body) {
  if (contains_ignoring_case(content_type, "html")) return true;
  return contains_ignoring_case(body.substr(0, 14), "<!doctype html") ||
         contains_ignoring_case(body.substr(0, 5), "<html");
}

// A body's first data line, or the body.
std::string_view said_in(std::string_view body) {
  if (!starts_with(body, "data:")) return body;
  body.remove_prefix(5);
  return body.substr(0, body.find_first_of("\r\n"));
}

// Whether a sign that the text's end cuts off counts.
enum class CutSign : bool { Ignored, Counts };

// The value of `ret`: its first element that names a challenge.
JsonString named_in_ret(JsonReader& json, CutSign cut_sign) {
  JsonString found;
  const auto look_at = [&] {
    const std::string_view rest = without_leading_space(json.rest());
    const JsonString text = json.string();
    if (found) return;
    if (text) {
      if (names_challenge(text.raw)) found = text;
    } else if (starts_with(rest, "\"")) {
      // The string has no end.
      const std::string_view begun = rest.substr(1);
      if (names_challenge(begun) || (cut_sign == CutSign::Counts && is_cut_name(begun))) found = {begun, true, false};
    }
  };
  if (json.type() == JsonType::Array) {
    json.array(look_at);
  } else {
    look_at();
  }
  return found;
}

JsonString named_in(std::string_view data, CutSign cut_sign) {
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
    if (!found && word_of(key) == Word::Ret) {
      found = named_in_ret(json, cut_sign);
    } else {
      json.skip();
    }
  });
  return found;
}

}  // namespace

JsonString challenge_in_ret(JsonReader& json) { return named_in_ret(json, CutSign::Ignored); }

JsonString challenge_in(std::string_view data) { return named_in(data, CutSign::Counts); }

bool is_challenge_body(int status, std::string_view content_type, std::string_view body_prefix) {
  const std::string_view body = without_leading_space(body_prefix.substr(0, kMaxChallengeBytes));
  if (is_html(content_type, body)) {
    const auto has = [&](const Sign& sign) { return contains(body, sign.whole); };
    if (std::any_of(kPageSigns.begin(), kPageSigns.end(), has)) return true;
    const bool refused = status == 403 || status == 405 || status == 429 || status == 503;
    if (refused && has_title(body)) return true;
  }
  return named_in(said_in(body), CutSign::Ignored).present;
}

bool is_cut_challenge_body(std::string_view content_type, std::string_view body, BodyEnd end) {
  body = without_leading_space(body);
  if (is_html(content_type, body)) {
    const auto cut_in = [&](const Sign& sign) { return ends_inside(body, sign); };
    if (std::any_of(kPageSigns.begin(), kPageSigns.end(), cut_in)) return true;
    if (end == BodyEnd::Lost && has_title(body)) return true;
  }
  const std::string_view said = without_leading_space(said_in(body));
  return is_cut_name(said) || named_in(said, CutSign::Counts).present;
}

bool is_challenge_header(std::string_view name, std::string_view value) {
  if (equals_ignoring_case(name, "cf-mitigated")) return contains_ignoring_case(value, "challenge");
  if (equals_ignoring_case(name, "x-amzn-waf-action")) {
    return contains_ignoring_case(value, "challenge") || contains_ignoring_case(value, "captcha");
  }
  return false;
}

}  // namespace tidemark::dialect
