// What is found in a JSON text, and that a change leaves every other byte alone.
#include "native/continuation/json_edit.hpp"

#include <string>

#include "tests/catch.hpp"

namespace tidemark::continuation {
namespace {

TEST_CASE("members are found as they stand, the last of a name, null as absent") {
  const std::string text =
      R"( { "a" : 1.50 , "b":"x\u00e9", "a":[ 1, {} ], "n":null, "m":1, "m":null, "\u0063":true } )";
  const auto object = JsonObject::read(text);
  REQUIRE(object);
  CHECK(object->find("a") == "[ 1, {} ]");
  CHECK(object->string("b") == "xé");
  CHECK(object->is("b", "xé"));
  CHECK_FALSE(object->has("n"));
  CHECK_FALSE(object->has("m"));
  CHECK_FALSE(object->has("z"));
  CHECK(object->is_true("c"));
  CHECK_FALSE(object->string("a"));
  CHECK(object->find("z", "b") == R"("x\u00e9")");
}

TEST_CASE("what is not one object is none") {
  for (const char* text : {"", " ", "[]", "1", "null", "\"{}\"", "{", "{}{}", "{} x", R"({"a":1,})", R"({"a"})",
                           R"({a:1})", "{\"a\":\"\n\"}", "\xEF\xBB\xBF{}"}) {
    CAPTURE(text);
    CHECK_FALSE(JsonObject::read(text));
  }
  CHECK(JsonObject::read("{}"));
  const std::string deep = "{\"a\":" + std::string(200, '[') + std::string(200, ']') + "}";
  CHECK_FALSE(JsonObject::read(deep));
  CHECK(JsonObject::of("[1]").empty());
  CHECK(JsonObject::of("").empty());
}

TEST_CASE("changes are made where they belong, whatever the order they were asked for in") {
  const std::string text = R"({ "list": [ {"t":"a"} , 2 ], "none":[ ],"x":1e2, "s":"end\n" })";
  const auto object = JsonObject::read(text);
  REQUIRE(object);
  JsonEdit edit(text);
  edit.set(*object, "new", "true");
  edit.append_text(object->find("s"), "\"q\" \xFF");
  edit.append_element(object->find("none"), "7");
  edit.append_element(object->find("list"), "3");
  edit.append_element(object->find("list"), "4");
  edit.replace(object->find("x"), "5");
  edit.set(*object, "newer", "{}");
  CHECK(edit.apply() == R"({ "list": [ {"t":"a"} , 2,3,4 ], "none":[ 7],"x":5, "s":"end\n\"q\" )"
                        "\xEF\xBF\xBD"
                        R"(","new":true,"newer":{} })");
}

TEST_CASE("a member that is there already is given its new value, null or twice as it may be") {
  const std::string text = R"({"a":null,"b":1,"b":2})";
  const auto object = JsonObject::read(text);
  REQUIRE(object);
  JsonEdit edit(text);
  edit.set(*object, "b", "3");
  edit.set(*object, "a", "0");
  CHECK(edit.apply() == R"({"a":0,"b":1,"b":3})");
}

TEST_CASE("without changes nothing changes") {
  CHECK(JsonEdit("{ }").apply() == "{ }");
  CHECK(JsonEdit("").apply().empty());
}

}  // namespace
}  // namespace tidemark::continuation
