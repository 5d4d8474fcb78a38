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

// From which size on the beginnings of `body` are a challenge, and that all longer ones are.
template <class Is>
std::size_t known_from(std::string_view body, Is is_challenge) {
  std::size_t from = body.size() + 1;
  for (std::size_t size = body.size() + 1; size-- > 0;) {
    if (!is_challenge(body.substr(0, size))) break;
    from = size;
  }
  for (std::size_t size = 0; size < from && size <= body.size(); ++size) {
    INFO(size);
    CHECK_FALSE(is_challenge(body.substr(0, size)));
  }
  return from;
}

bool begins_challenge(std::string_view body) { return is_challenge_body(200, "application/json", body); }
bool is_challenge_at_end(std::string_view body) {
  return begins_challenge(body) || is_cut_challenge_body("application/json", body, BodyEnd::Proper);
}

TEST_CASE("the JSON frame, cut anywhere after what gives it away") {
  const std::string second = R"({"ret":["SUCCESS","RGV587_ERROR::SM::\"busy\""],"v":1})";
  const std::string single = R"({ "ret" : "FAIL_SYS_USER_VALIDATE::x" })";
  for (const std::string& start : {std::string(), std::string("data: "), std::string("\xEF\xBB\xBF \r\n")}) {
    for (const std::string& frame : {std::string(kFrame), second, single}) {
      const std::string body = start + frame;
      INFO(body);
      const bool rgv = frame == second;
      const std::size_t sign = body.find(rgv ? "RGV587" : "FAIL_SYS_USER_VALIDATE");
      // While more may come the whole sign is wanted, at the end as much of it as nothing else begins with.
      CHECK(known_from(body, begins_challenge) == sign + (rgv ? 6 : 22));
      CHECK(known_from(body, is_challenge_at_end) == sign + (rgv ? 4 : 13));
    }
  }
  for (const std::string_view event : {R"({"ret":["FAIL_SYS_USER_VALI)", R"({"v":1,"ret":["RGV58)"}) {
    INFO(event);
    CHECK(challenge_in(event).present);
  }
}

TEST_CASE("the bare words, cut: a body's only") {
  CHECK(known_from("RGV587_ERROR::SM", is_challenge_at_end) == 4);
  CHECK(known_from("FAIL_SYS_USER_VALIDATE", is_challenge_at_end) == 13);
  CHECK_FALSE(challenge_in("FAIL_SYS_USER_VALI").present);
  CHECK_FALSE(challenge_in("RGV5").present);
}

TEST_CASE("what is cut before it gives anything away, or says something else, is no challenge") {
  for (const std::string_view none :
       {R"({"ret":["F)", R"({"ret":["FAIL_SYS_)", R"({"ret":["FAIL_SYS_UNAUTHORIZED)", R"({"ret":["FAIL_SYS_USE)",
        R"({"ret":["RGV)", R"({"ret":[")", R"({"ret":["the word FAIL_SYS_USER_VALI)", R"({"ret":["FAIL_SYS_USER_DATA)",
        R"({"ret":["FAIL_SYS_USER"]})", R"({"ret":["FAIL_SYS_USER",)", R"({"data":{"ret":["FAIL_SYS_USER_VALI)",
        R"({"text":"FAIL_SYS_USER_VALI)", R"({"ret":["RGV5"]})",
        R"({"choices":[{"text":"{\"ret\":[\"FAIL_SYS_USER_VALI)", "RGV", "RGV588", "FAIL_SYS_USE", "a FAIL_SYS_USER"}) {
    INFO(none);
    CHECK_FALSE(is_challenge_at_end(none));
    CHECK_FALSE(challenge_in(none).present);
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

TEST_CASE("captcha pages cut inside of what gives them away") {
  struct Case {
    std::string_view sign;
    std::size_t enough;
  };
  for (const Case& c :
       {Case{"/punish?", 7}, Case{"_____tmd_____", 8}, Case{"x5secdata", 5}, Case{"cf_chl_", 6},
        Case{"/orchestrate/chl_page/", 13}, Case{"/orchestrate/jsch/", 13}, Case{"/orchestrate/captcha/", 13},
        Case{"cf-challenge-running", 12}, Case{"AwsWafIntegration", 6}, Case{"awsWafCookieDomainList", 6},
        Case{".awswaf.com/", 7}, Case{"gokuProps", 5}}) {
    INFO(c.sign);
    const std::string before = "<html><script>x=1;";
    const auto at_end = [](std::string_view body) {
      return is_challenge_body(200, "text/html", body) || is_cut_challenge_body("text/html", body, BodyEnd::Proper);
    };
    const std::string page = before + std::string(c.sign);
    CHECK(known_from(page, at_end) == before.size() + c.enough);
    const std::string cut = page.substr(0, page.size() - 1);
    CHECK_FALSE(is_challenge_body(200, "text/html", cut + " "));
    CHECK_FALSE(is_cut_challenge_body("text/html", cut + " ", BodyEnd::Lost));
    CHECK_FALSE(is_cut_challenge_body("application/json", cut.substr(6), BodyEnd::Lost));
  }
  for (const std::string_view title : {"<title>Just a moment...</title>", "<title>Captcha Interception</title>"}) {
    const std::string page = "<!DOCTYPE html><html><head>" + std::string(title) + "<meta";
    CHECK(is_cut_challenge_body("text/html", page, BodyEnd::Lost));
    CHECK_FALSE(is_cut_challenge_body("text/html", page, BodyEnd::Proper));
    CHECK_FALSE(is_challenge_body(200, "text/html", page));
    CHECK(is_challenge_body(403, "text/html", page));
  }
}

TEST_CASE("ordinary pages, and other bodies that speak of challenges, are none") {
  CHECK_FALSE(is_challenge_body(502, "text/html", kOrdinary));
  for (std::size_t size = 0; size <= kOrdinary.size(); ++size) {
    INFO(size);
    CHECK_FALSE(is_cut_challenge_body("text/html", kOrdinary.substr(0, size), BodyEnd::Lost));
  }
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
