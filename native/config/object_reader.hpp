// Reads one JSON object of a configuration: typed, with ranges, every unknown key an error.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "native/config/config.hpp"

namespace tidemark::config {

/// The first problem of a whole read; later ones are ignored.
class Problems {
 public:
  void add(std::string field, std::string value, std::string allowed) {
    if (!first_) first_ = Problem{std::move(field), std::move(value), std::move(allowed)};
  }
  const std::optional<Problem>& first() const { return first_; }

 private:
  std::optional<Problem> first_;
};

/// A value as a message shows it: compact JSON, at most 60 bytes.
std::string shown(const nlohmann::json& value);

/// A URL as a message shows it: a credential in front of its host is masked.
std::string without_userinfo(std::string url);

class ObjectReader {
 public:
  /// `path` is "" for the whole file. A value that is not an object is a problem, and every read then does nothing.
  ObjectReader(const nlohmann::json& value, std::string path, Problems& problems);

  template <class Int>
  void integer(const char* key, Int& out, std::int64_t least, std::int64_t most) {
    if (const auto value = whole_number(key, least, most)) out = static_cast<Int>(*value);
  }
  void number(const char* key, double& out, double least, double most);
  void boolean(const char* key, bool& out);
  /// A string; `allowed` says what is, for the message where it is something else.
  std::optional<std::string> text(const char* key, const char* allowed);
  /// A string out of a list; nullopt where absent or wrong.
  std::optional<std::size_t> choice(const char* key, const std::vector<std::string>& names);
  /// A list of strings.
  std::optional<std::vector<std::string>> texts(const char* key, const char* allowed);
  /// A list of secrets, each possibly `env:NAME`.
  std::optional<std::vector<std::string>> secrets(const char* key, const Environment& environment);
  const nlohmann::json* raw(const char* key);

  /// Reports keys that nobody asked for.
  void finish();

  std::string path_of(std::string_view key) const;

 private:
  std::optional<std::int64_t> whole_number(const char* key, std::int64_t least, std::int64_t most);

  const nlohmann::json* object_ = nullptr;
  std::string path_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace tidemark::config
