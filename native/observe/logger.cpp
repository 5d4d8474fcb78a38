// Structured logs over spdlog.
#include "native/observe/logger.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <utility>

#include "core/dialect/ending.hpp"

namespace tidemark::observe {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::Debug:
      return spdlog::level::debug;
    case Level::Info:
      return spdlog::level::info;
    case Level::Warning:
      return spdlog::level::warn;
    case Level::Error:
      return spdlog::level::err;
    case Level::Off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

}  // namespace

struct Logger::Sink {
  explicit Sink(spdlog::sink_ptr where) : logger("tidemark", std::move(where)) {
    logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})", spdlog::pattern_time_type::utc));
    logger.set_level(spdlog::level::trace);
    logger.flush_on(spdlog::level::trace);
  }
  spdlog::logger logger;
};

std::string_view name(Level level) {
  switch (level) {
    case Level::Debug:
      return "debug";
    case Level::Info:
      return "info";
    case Level::Warning:
      return "warning";
    case Level::Error:
      return "error";
    case Level::Off:
      return "off";
  }
  return "";
}

std::optional<Level> level_from_name(std::string_view text) {
  for (const Level level : {Level::Debug, Level::Info, Level::Warning, Level::Error, Level::Off}) {
    if (name(level) == text) return level;
  }
  return std::nullopt;
}

Line::Line(std::string_view message) { text("message", message); }

void Line::key(std::string_view key) {
  if (!fields_.empty()) fields_ += ',';
  dialect::append_json_string(fields_, key);
  fields_ += ':';
}

Line& Line::text(std::string_view name, std::string_view value) {
  key(name);
  dialect::append_json_string(fields_, value);
  return *this;
}

Line& Line::number(std::string_view name, std::int64_t value) {
  key(name);
  fields_ += std::to_string(value);
  return *this;
}

Line& Line::boolean(std::string_view name, bool value) {
  key(name);
  fields_ += value ? "true" : "false";
  return *this;
}

Logger::Logger(Level threshold)
    : threshold_(threshold), sink_(std::make_unique<Sink>(std::make_shared<spdlog::sinks::stderr_sink_mt>())) {}

Logger::Logger(Level threshold, std::ostream& out)
    : threshold_(threshold), sink_(std::make_unique<Sink>(std::make_shared<spdlog::sinks::ostream_sink_mt>(out))) {}

Logger::~Logger() = default;

void Logger::write(Level level, const Line& line) {
  if (wants(level)) sink_->logger.log(to_spdlog(level), spdlog::string_view_t(line.fields()));
}

}  // namespace tidemark::observe
