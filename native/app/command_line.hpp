// The command line: which command, with which flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "native/config/config.hpp"
#include "native/observe/logger.hpp"

namespace tidemark::app {

struct Serve {
  std::optional<std::string> config_file;
  config::Flags flags;
  observe::Level log_level = observe::Level::Info;
};

struct Simulate {
  std::string listen = "127.0.0.1:8788";
  std::optional<std::string> recording;
  std::optional<std::string> dialect;
  std::int64_t interval_ms = 20;
  std::vector<std::string> faults;
};

struct Check {
  std::string config_file;
};

/// Text for standard output, and nothing else to do: --help, --version.
struct Say {
  std::string text;
};

using Command = std::variant<Serve, Simulate, Check, Say, config::Problem>;

/// A wrong flag is a Problem that names it, its value and what is allowed.
Command parse_command_line(int argc, const char* const* argv);

}  // namespace tidemark::app
