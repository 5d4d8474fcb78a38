// The JSON reader compared with nlohmann/json, by tests and fuzzer alike.
//
// Where the two differ on purpose the text is first made such that they need not: ill-formed UTF-8 and lone surrogates,
// which nlohmann refuses, become U+FFFD by a slow way of their own; NUL, which nlohmann takes for the end, becomes
// another control character. What can't be compared is said to be so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialect/json_reader.hpp"
#include "core/dialect/json_text.hpp"

namespace tidemark::dialect::test {

using Json = nlohmann::json;

/// Encoding Standard § 4.10's decoder, byte by byte.
inline std::string repaired_utf8(std::string_view bytes) {
  std::string out;
  std::string pending;
  int needed = 0;
  unsigned lower = 0x80;
  unsigned upper = 0xBF;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (needed == 0) {
      lower = 0x80;
      upper = 0xBF;
      if (byte < 0x80) {
        out += bytes[i];
      } else if (byte >= 0xC2 && byte <= 0xF4) {
        needed = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
        if (byte == 0xE0) lower = 0xA0;
        if (byte == 0xED) upper = 0x9F;
        if (byte == 0xF0) lower = 0x90;
        if (byte == 0xF4) upper = 0x8F;
        pending = bytes[i];
      } else {
        out += "\xEF\xBF\xBD";
      }
    } else if (byte < lower || byte > upper) {
      needed = 0;
      out += "\xEF\xBF\xBD";
      --i;  // the byte is looked at again
    } else {
      lower = 0x80;
      upper = 0xBF;
      pending += bytes[i];
      if (--needed == 0) out += pending;
    }
  }
  if (needed != 0) out += "\xEF\xBF\xBD";
  return out;
}

/// `text` with each \uXXXX of a lone surrogate replaced by \ufffd.
inline std::string without_lone_surrogates(std::string_view text) {
  const auto unit_at = [&](std::size_t at) -> std::optional<unsigned> {
    if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
    unsigned unit = 0;
    for (std::size_t i = at + 2; i < at + 6; ++i) {
      if (std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return std::nullopt;
      unit = unit * 16 + static_cast<unsigned>(std::stoi(std::string(1, text[i]), nullptr, 16));
    }
    return unit;
  };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto unit = unit_at(at);
    if (unit && *unit >= 0xD800 && *unit <= 0xDFFF) {
      const auto low = unit_at(at + 6);
      if (*unit < 0xDC00 && low && *low >= 0xDC00 && *low <= 0xDFFF) {
        out += text.substr(at, 12);
        at += 12;
      } else {
        out += "\\ufffd";
        at += 6;
      }
      continue;
    }
    const std::size_t size = text[at] == '\\' && at + 1 < text.size() ? 2 : 1;
    out += text.substr(at, size);
    at += size;
  }
  return out;
}

/// Accepts what nlohmann accepts, numbers of any size too, and measures how deep it goes.
class DepthMeter : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    overflow = error.id == kNumberOverflow;
    return false;
  }

  std::size_t deepest = 0;
  bool overflow = false;

 private:
  bool enter() {
    deepest = std::max(deepest, ++depth_);
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }
  std::size_t depth_ = 0;
};

/// The value that comes next, as the reader sees it.
inline Json rebuild(JsonReader& reader) {
  switch (reader.type()) {
    case JsonType::Object: {
      Json out = Json::object();
      reader.object([&](std::string_view key) {
        std::string name;
        const bool is_raw = key.size() > JsonReader::kMaxKey && key.find('\\') != std::string_view::npos;
        append_decoded(name, {key, true, is_raw});
        out[name] = rebuild(reader);
      });
      return out;
    }
    case JsonType::Array: {
      Json out = Json::array();
      reader.array([&] { out.push_back(rebuild(reader)); });
      return out;
    }
    case JsonType::String: {
      std::string text;
      append_decoded(text, reader.string());
      return text;
    }
    case JsonType::Number:
    case JsonType::Literal:
    case JsonType::Broken:
      return Json::parse(reader.raw(), nullptr, false);
  }
  return {};
}

/// What is wrong with the reader's view of `text`, if anything; nullopt where the two agree or can't be compared.
inline std::optional<std::string> disagreement(std::string_view text) {
  std::string bytes(text);
  for (char& c : bytes) {
    if (c == '\0') c = '\x01';
  }
  const std::string given = without_lone_surrogates(repaired_utf8(bytes));
  const bool has_mark =
      given.compare(0, 3, "\xEF\xBB\xBF") == 0;  // which nlohmann passes over, and JSON.parse does not
  DepthMeter meter;
  const bool accepted = Json::sax_parse(given, &meter) && !has_mark && meter.deepest <= JsonReader::kMaxDepth;
  if (meter.overflow) return std::nullopt;

  JsonReader skipper(bytes);
  skipper.skip();
  if (skipper.at_end() != accepted) return accepted ? "skip() refuses good JSON" : "skip() accepts bad JSON";
  JsonReader reader(bytes);
  const Json rebuilt = rebuild(reader);
  if (reader.at_end() != accepted) return accepted ? "reading refuses good JSON" : "reading accepts bad JSON";
  if (!accepted) return std::nullopt;
  const Json expected = Json::parse(given);
  if (rebuilt != expected) return "read " + rebuilt.dump() + " for " + expected.dump();
  return std::nullopt;
}

}  // namespace tidemark::dialect::test
