// Reading of one JSON object.
#include "native/config/object_reader.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark::config {
namespace {

constexpr std::size_t kShownBytes = 60;
constexpr const char* kHidden = "(not shown)";

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string plain(double number) {
  return std::floor(number) == number ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number);
}

}  // namespace

std::string without_userinfo(std::string url) {
  const std::size_t begin = url.find("://");
  const std::size_t at = url.rfind('@');
  // A password with a slash in it ends the host for a parser, not for who wrote it.
  if (begin != std::string::npos && at != std::string::npos && at > begin)
    url.replace(begin + 3, at - begin - 3, "***");
  return url;
}

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
  return text;
}

ObjectReader::ObjectReader(const nlohmann::json& value, std::string path, Problems& problems)
    : path_(std::move(path)), problems_(problems) {
  if (value.is_object()) {
    object_ = &value;
  } else {
    problems_.add(path_.empty() ? "configuration" : path_, shown(value), "must be an object");
  }
}

std::string ObjectReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

const nlohmann::json* ObjectReader::raw(const char* key) {
  known_.emplace_back(key);
  if (object_ == nullptr) return nullptr;
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

std::optional<std::int64_t> ObjectReader::whole_number(const char* key, std::int64_t least, std::int64_t most) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) return std::nullopt;
  const bool too_large = value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (!value->is_number_integer() || too_large || value->get<std::int64_t>() < least) {
    problems_.add(path_of(key), shown(*value),
                  "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

void ObjectReader::number(const char* key, double& out, double least, double most) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) return;
  if (!value->is_number() || value->get<double>() < least || value->get<double>() > most) {
    problems_.add(path_of(key), shown(*value), "must be a number from " + plain(least) + " to " + plain(most));
    return;
  }
  out = value->get<double>();
}

void ObjectReader::boolean(const char* key, bool& out) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return problems_.add(path_of(key), shown(*value), "must be true or false");
  out = value->get<bool>();
}

std::optional<std::string> ObjectReader::text(const char* key, const char* allowed) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    problems_.add(path_of(key), shown(*value), allowed);
    return std::nullopt;
  }
  return value->get<std::string>();
}

std::optional<std::size_t> ObjectReader::choice(const char* key, const std::vector<std::string>& names) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const auto found = std::find(names.begin(), names.end(), value->get_ref<const std::string&>());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  problems_.add(path_of(key), shown(*value), "must be one of " + joined(names));
  return std::nullopt;
}

std::optional<std::vector<std::string>> ObjectReader::texts(const char* key, const char* allowed) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) return std::nullopt;
  const bool right = value->is_array() && std::all_of(value->begin(), value->end(), [](const nlohmann::json& item) {
                       return item.is_string() && !item.get_ref<const std::string&>().empty();
                     });
  if (!right) {
    problems_.add(path_of(key), shown(*value), allowed);
    return std::nullopt;
  }
  return value->get<std::vector<std::string>>();
}

std::optional<std::vector<std::string>> ObjectReader::secrets(const char* key, const Environment& environment) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    problems_.add(path_of(key), kHidden, "must be a list of strings, each a secret or \"env:NAME\"");
    return std::nullopt;
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < value->size(); ++i) {
    const nlohmann::json& item = (*value)[i];
    const std::string where = path_of(key) + "[" + std::to_string(i) + "]";
    std::string secret = item.is_string() ? item.get<std::string>() : std::string();
    if (secret.rfind("env:", 0) == 0) {
      const auto found = environment(secret.substr(4));
      if (!found || found->empty()) {
        problems_.add(where, shown(item), "the environment variable must be set and not empty");
        return std::nullopt;
      }
      secret = *found;
    }
    const bool visible = std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (secret.empty() || !visible) {
      problems_.add(where, kHidden, "must be visible ASCII without spaces, or \"env:NAME\"");
      return std::nullopt;
    }
    out.push_back(std::move(secret));
  }
  return out;
}

void ObjectReader::finish() {
  if (object_ == nullptr) return;
  for (const auto& [key, value] : object_->items()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      problems_.add(path_of(key), "unknown key", "allowed here: " + joined(known_));
    }
  }
}

}  // namespace tidemark::config
