// Log lines: one JSON object each, whatever is in them.
#include "native/observe/logger.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"

using namespace tidemark::observe;

TEST_CASE("a line is one JSON object, whatever the text holds") {
  std::ostringstream out;
  Logger logger(Level::Info, out);
  const std::string nasty = "q\" b\\ n\n r\r t\t nul" + std::string(1, '\0') + " % {} \x7f \xc3\xa9 \xff";
  logger.write(Level::Info, Line("request ended").text("path", nasty).number("status", -7).boolean("resumed", true));
  const std::string text = out.str();
  REQUIRE_FALSE(text.empty());
  CHECK(text.find('\n') == text.size() - 1);
  const auto line = nlohmann::json::parse(text);
  CHECK(line.at("message") == "request ended");
  CHECK(line.at("level") == "info");
  CHECK(line.at("status") == -7);
  CHECK(line.at("resumed") == true);
  CHECK(line.at("path") == nasty.substr(0, nasty.size() - 1) + "\xef\xbf\xbd");
  const auto time = line.at("time").get<std::string>();
  REQUIRE(time.size() == 24);
  CHECK(time[10] == 'T');
  CHECK(time.back() == 'Z');
}

TEST_CASE("lines below the level are not written") {
  for (const Level threshold : {Level::Debug, Level::Info, Level::Warning, Level::Error, Level::Off}) {
    std::ostringstream out;
    Logger logger(threshold, out);
    for (const Level level : {Level::Debug, Level::Info, Level::Warning, Level::Error}) logger.write(level, Line("x"));
    const std::string text = out.str();
    CHECK(std::count(text.begin(), text.end(), '\n') == 4 - static_cast<int>(threshold));
  }
}

TEST_CASE("levels have names") {
  for (const Level level : {Level::Debug, Level::Info, Level::Warning, Level::Error, Level::Off}) {
    CHECK(level_from_name(name(level)) == level);
  }
  CHECK_FALSE(level_from_name("verbose"));
  CHECK_FALSE(level_from_name(""));
}
