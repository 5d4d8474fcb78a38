// The command line, read by CLI11.
#include "native/app/command_line.hpp"

#include <CLI/CLI.hpp>

#include "native/simulate/fault.hpp"

namespace tidemark::app {
namespace {

constexpr std::int64_t kHourMs = 3600000;

std::string flags_of(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) out += (out.empty() ? "" : ", ") + option->get_name();
  return out;
}

/// CLI11's error as one line of ours: FLAG, what was given, what is allowed.
config::Problem problem_of(const CLI::App& root, const CLI::ParseError& error) {
  const auto chosen = root.get_subcommands();
  const CLI::App& command = chosen.empty() ? root : *chosen.front();
  std::string what = error.what();
  for (char& c : what) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  const auto extras = root.remaining(true);
  if (chosen.empty()) {
    return {"command", extras.empty() ? "none" : extras.front(),
            "must be one of serve, simulate, check; or --help, --version"};
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extras.empty()) {
    return {command.get_name(), extras.front(), "not known here; allowed: " + flags_of(command)};
  }
  return {command.get_name(), what, "allowed: " + flags_of(command)};
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  CLI::App root("Keeps streamed answers whole, whatever happens to the connections in between.", "tidemark");
  root.set_version_flag("--version", "tidemark " TIDEMARK_VERSION);
  root.require_subcommand(1);
  root.fallthrough(false);

  Serve serve;
  std::string log_level = "info";
  CLI::App* serve_command = root.add_subcommand("serve", "Run the proxy");
  serve_command->add_option("--config", serve.config_file, "Configuration file")->type_name("FILE");
  serve_command->add_option("--listen", serve.flags.listen, "Address to listen on; port 0 takes a free one")
      ->type_name("HOST:PORT");
  serve_command->add_option("--upstream", serve.flags.upstream, "Base URL of the upstream")->type_name("URL");
  serve_command
      ->add_option(
          "--log", serve.flags.log,
          "Where streams are kept: memory:, file:DIR or redis://HOST:PORT/DB; env:NAME where it holds a password")
      ->type_name("URL");
  serve_command->add_option("--log-level", log_level, "debug, info, warning, error or off")->type_name("LEVEL");

  Simulate simulate;
  CLI::App* simulate_command = root.add_subcommand("simulate", "Run an upstream that fails on cue");
  simulate_command->add_option("--listen", simulate.listen, "Address to listen on; port 0 takes a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  simulate_command->add_option("--recording", simulate.recording, "JSON lines, one event's data a line")
      ->type_name("FILE");
  simulate_command->add_option("--dialect", simulate.dialect, "The recording's dialect")->type_name("NAME");
  simulate_command->add_option("--interval", simulate.interval_ms, "Milliseconds between events")
      ->type_name("MS")
      ->check(CLI::Range(std::int64_t{0}, kHourMs))
      ->capture_default_str();
  simulate_command
      ->add_option("--fault", simulate.faults,
                   "A fault, or several separated by commas, taken in turn; may be given several times: " +
                       std::string(simulate::allowed_faults()))
      ->type_name("SPEC")
      ->allow_extra_args(false);

  Check check;
  CLI::App* check_command = root.add_subcommand("check", "Say whether a configuration file is right");
  check_command->add_option("--config", check.config_file, "Configuration file")->type_name("FILE")->required();

  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = root.get_subcommands();
    return Say{chosen.empty() ? root.help() : chosen.front()->help()};
  } catch (const CLI::CallForVersion& version) {
    return Say{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return problem_of(root, error);
  }

  if (check_command->parsed()) return check;
  if (simulate_command->parsed()) return simulate;
  const auto level = observe::level_from_name(log_level);
  if (!level) return config::Problem{"--log-level", log_level, "must be one of debug, info, warning, error, off"};
  serve.log_level = *level;
  return serve;
}

}  // namespace tidemark::app
