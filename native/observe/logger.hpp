// Structured logs: one JSON object a line.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::observe {

enum class Level : std::uint8_t { Debug, Info, Warning, Error, Off };
std::string_view name(Level level);
std::optional<Level> level_from_name(std::string_view name);

/// The fields of one line, in the order given. Credentials have no place here: what is logged of a request is its
/// method, its path without the query, and names that this program made.
class Line {
 public:
  explicit Line(std::string_view message);
  Line& text(std::string_view key, std::string_view value);
  Line& number(std::string_view key, std::int64_t value);
  Line& boolean(std::string_view key, bool value);
  const std::string& fields() const { return fields_; }

 private:
  void key(std::string_view key);
  std::string fields_;
};

/// Thread-safe. `time` (UTC, milliseconds) and `level` come first in each line.
class Logger {
 public:
  /// To standard error.
  explicit Logger(Level threshold);
  Logger(Level threshold, std::ostream& out);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  bool wants(Level level) const { return level >= threshold_ && level != Level::Off; }
  void write(Level level, const Line& line);

 private:
  struct Sink;
  Level threshold_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace tidemark::observe
