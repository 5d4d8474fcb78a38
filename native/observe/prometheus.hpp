// Metrics as Prometheus reads them: the text exposition format, version 0.0.4.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::observe {

struct Label {
  std::string_view name;
  std::string_view value;
};

/// Usage: family(), then its samples, then the next family.
class PrometheusText {
 public:
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  enum class Type : std::uint8_t { Counter, Gauge };
  /// `help` must be one line without a backslash.
  void family(std::string_view name, Type type, std::string_view help);
  void sample(std::uint64_t value, std::initializer_list<Label> labels = {});

  std::string take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

}  // namespace tidemark::observe
