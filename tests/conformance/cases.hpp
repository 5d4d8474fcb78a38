// What the native runners of the cases share: reading a file, bytes written as README.md says, keys that are known.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tidemark::test {

using Json = nlohmann::json;

inline std::string from_hex(const std::string& hex) {
  REQUIRE(hex.size() % 2 == 0);
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

inline std::string bytes(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("hex")) return from_hex(value.at("hex").get<std::string>());
  std::string out;
  if (value.is_object()) {
    const std::string part = bytes(value.at("repeat"));
    for (auto left = value.at("times").get<std::size_t>(); left > 0; --left) out += part;
    return out;
  }
  REQUIRE(value.is_array());
  for (const Json& part : value) out += bytes(part);
  return out;
}

// An unknown key is a typing mistake that would otherwise leave something unchecked.
inline void require_keys(const Json& object, const std::vector<std::string>& allowed) {
  for (const auto& [key, value] : object.items()) {
    INFO("key " << key);
    REQUIRE(std::find(allowed.begin(), allowed.end(), key) != allowed.end());
  }
}

/// Runs each case of a file under its name; the names must differ, and the cases be no fewer than `least`.
template <class Check>
void for_every_case(const std::string& file, std::size_t least, const std::vector<std::string>& keys, Check check) {
  INFO(file);
  std::ifstream in("tests/conformance/" + file);
  REQUIRE(in.is_open());
  const Json cases = Json::parse(in).at("cases");
  REQUIRE(cases.size() >= least);
  std::set<std::string> names;
  for (const Json& item : cases) {
    const auto name = item.at("name").get<std::string>();
    INFO(name);
    CHECK(names.insert(name).second);
    require_keys(item, keys);
    check(item);
  }
}

}  // namespace tidemark::test
