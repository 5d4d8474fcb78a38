// Challenges, whole and cut, and what must not be taken for one.
#include "core/dialect/challenge.hpp"

#include <string>
#include <string_view>

#include "tests/catch.hpp"

namespace tidemark::dialect {
namespace {

constexpr std::string_view kFrame =
    R"({"api":"mtop.x","v":"1.0","ret":["FAIL_SYS_USER_VALIDATE","RGV587_ERROR::SM::busy"],"data":{"url":"https://x.invalid"}})";

constexpr std::string_view kAliyun =
    "<!DOCTYPE html>\n<html><head><title>Captcha Interception</title></head><body><script>window._config_={"
    "\"action\":\"captcha\",\"url\":\"https://x.invalid:443/v1/_____tmd_____/punish?x5secdata=abc&x5step=1\"};</"
    "script>";

constexpr std::string_view kCloudflare =
    "<!DOCTYPE html><html lang=\"en-US\"><head><title>Just a moment...</title><meta http-equiv=\"refresh\" "
    "content=\"390\">"
    "</head><body><script>(function(){window._cf_chl_opt={cvId:'3',cZone:\"x.invalid\"};"
    "a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=1';}())</script></body></html>";

constexpr std::string_view kAws =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><title></title><script>window.awsWafCookieDomainList = [];"
    "window.gokuProps = {};</script><script src=\"https://x.eu.token.awswaf.com/x/challenge.js\"></script>";

// An ordinary page behind Cloudflare, with the script that it puts into all of them.
constexpr std::string_view kOrdinary =
    "<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1><script>"
    "window.__CF$cv$params={r:'1'};a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';</script></body></html>";

TEST_CASE("the JSON frame") {
  CHECK(is_challenge_body(200, "application/json", kFrame));
  CHECK(is_challenge_body(200, "text/event-stream", "data: " + std::string(kFrame) + "\n\n"));
  CHECK(is_challenge_body(503, "", "\xEF\xBB\xBF \r\n" + std::string(kFrame)));
  CHECK(is_challenge_body(200, "text/plain", "RGV587_ERROR::SM::busy"));
  CHECK(is_challenge_body(200, "application/json", R"({"ret":"FAIL_SYS_USER_VALIDATE::x"})"));
  for (const std::string_view none :
       {R"({"ret":["SUCCESS::ok"]})", R"({"data":{"ret":["FAIL_SYS_USER_VALIDATE"]}})", R"({"message":"RGV587"})",
        R"({"choices":[{"message":{"content":"{\"ret\":[\"FAIL_SYS_USER_VALIDATE\"]}"}}]})",
        R"({"ret":["something with RGV587 in it"]})", R"({"error":{"message":"x"}})", "", "{", "data:", "data: {}"}) {
    INFO(none);
    CHECK_FALSE(is_challenge_body(200, "application/json", none));
  }
}

TEST_CASE("the JSON frame, cut anywhere after what gives it away") {
  const std::size_t known = kFrame.find("FAIL_SYS_USER_VALIDATE\"") + sizeof "FAIL_SYS_USER_VALIDATE";
  for (std::size_t size = 0; size <= kFrame.size(); ++size) {
    INFO(size);
    REQUIRE(is_challenge_body(200, "application/json", kFrame.substr(0, size)) == (size >= known));
  }
}

TEST_CASE("captcha pages, with any status, whole or cut") {
  for (const std::string_view page : {kAliyun, kCloudflare, kAws}) {
    for (const int status : {200, 202, 403, 405, 503})
      CHECK(is_challenge_body(status, "text/html; charset=utf-8", page));
    CHECK(is_challenge_body(200, "", page));
  }
  CHECK(is_challenge_body(200, "text/html", "<script>location='https://x.invalid/punish?x5secdata=1'"));
  CHECK(is_challenge_body(200, "text/html", kAliyun.substr(0, kAliyun.find("_____tmd_____") + 13)));
  CHECK(is_challenge_body(200, "text/html", kCloudflare.substr(0, kCloudflare.find("_cf_chl_opt") + 11)));
  CHECK(is_challenge_body(403, "text/html", kCloudflare.substr(0, kCloudflare.find("<meta"))));
  CHECK(is_challenge_body(202, "text/html", kAws.substr(0, kAws.find(" = []"))));
}

TEST_CASE("ordinary pages, and other bodies that speak of challenges, are none") {
  CHECK_FALSE(is_challenge_body(502, "text/html", kOrdinary));
  CHECK_FALSE(is_challenge_body(200, "text/html", "<html><title>Just a moment...</title><p>my poem</p>"));
  CHECK_FALSE(is_challenge_body(200, "text/html", ""));
  CHECK_FALSE(is_challenge_body(403, "text/html", "<html><title>Forbidden</title>"));
  CHECK_FALSE(is_challenge_body(200, "text/plain", "how does _____tmd_____/punish? work"));
  CHECK_FALSE(is_challenge_body(200, "application/json", R"({"text":"<script>_cf_chl_opt</script>"})"));
}

TEST_CASE("no more is read than is said") {
  const std::string far = "<html>" + std::string(kMaxChallengeBytes, ' ') + "_____tmd_____";
  CHECK_FALSE(is_challenge_body(200, "text/html", far));
  const std::string near = "<html>" + std::string(kMaxChallengeBytes - 20, ' ') + "_____tmd_____";
  CHECK(is_challenge_body(200, "text/html", near));
}

TEST_CASE("headers") {
  CHECK(is_challenge_header("CF-Mitigated", "challenge"));
  CHECK(is_challenge_header("x-amzn-waf-action", "challenge"));
  CHECK(is_challenge_header("X-Amzn-Waf-Action", "captcha"));
  CHECK_FALSE(is_challenge_header("cf-mitigated", ""));
  CHECK_FALSE(is_challenge_header("x-amzn-waf-action", "count"));
  CHECK_FALSE(is_challenge_header("cf-ray", "challenge"));
}

}  // namespace
}  // namespace tidemark::dialect
