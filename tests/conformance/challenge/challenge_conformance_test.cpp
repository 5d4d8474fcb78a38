// Runs the cases of bodies that are challenges, or are not (format: tests/conformance/README.md), against the core.
#include <string>

#include "core/dialect/challenge.hpp"
#include "tests/conformance/cases.hpp"

namespace tidemark::dialect {
namespace {

TEST_CASE("the cases of challenge bodies") {
  const auto check = [](const test::Json& item) {
    const auto body = item.at("body").get<std::string>();
    const std::string type = item.value("content_type", "application/json");
    const bool open = is_challenge_body(item.value("status", 200), type, body);
    test::Json told = test::Json::array();
    if (open) told.push_back("open");
    if (open || is_cut_challenge_body(type, body, BodyEnd::Proper)) told.push_back("ended");
    if (open || is_cut_challenge_body(type, body, BodyEnd::Lost)) told.push_back("lost");
    CHECK(told == item.at("challenge"));
  };
  test::for_every_case("challenge/bodies.json", 40, {"name", "status", "content_type", "body", "challenge"}, check);
}

}  // namespace
}  // namespace tidemark::dialect
