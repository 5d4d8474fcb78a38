// The program: serve, simulate, check.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <variant>

#include "native/app/command_line.hpp"
#include "native/config/config.hpp"
#include "native/loop/loop.hpp"
#include "native/observe/logger.hpp"
#include "native/proxy/serve.hpp"
#include "native/simulate/run.hpp"

namespace tidemark::app {
namespace {

// Contract § 2.
constexpr int kOk = 0;
constexpr int kOtherFailure = 1;
constexpr int kBadConfiguration = 2;

int complain(const config::Problem& problem) {
  std::fprintf(stderr, "tidemark: %s\n", problem.line().c_str());
  return kBadConfiguration;
}

int say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? kOk : kOtherFailure;
}

int run(const Serve& command) {
  const auto environment = config::process_environment();
  const auto loaded = command.config_file ? config::load_file(*command.config_file, command.flags, environment)
                                          : config::load("{}", command.flags, environment);
  if (!loaded.ok()) return complain(loaded.error());
  const config::Config& config = loaded.value();

  observe::Logger logger(command.log_level);
  // A file that may not grow is the log's trouble, which goes on without it, and not the program's end.
  std::signal(SIGXFSZ, SIG_IGN);
  loop::Loop loop;
  proxy::Service service(loop, config, logger);
  if (const std::string error = service.listen(); !error.empty()) {
    std::fprintf(stderr, "tidemark: %s\n", error.c_str());
    return kOtherFailure;
  }
  loop.on_termination([&] { service.drain([&loop] { loop.stop(); }); });
  const config::HostPort bound{config.listen.host, service.port()};
  if (say("tidemark listening on http://" + bound.text() + "\n") != kOk) return kOtherFailure;
  logger.write(observe::Level::Info, observe::Line("listening").text("address", bound.text()));
  loop.run();
  logger.write(observe::Level::Info, observe::Line("closed"));
  return kOk;
}

int run(const Simulate& command) {
  const auto address = config::parse_host_port(command.listen);
  if (!address) return complain({"--listen", command.listen, "must be HOST:PORT, for example 127.0.0.1:8788"});
  simulate::RunOptions options;
  options.host = address->host;
  options.port = address->port;
  options.recording = command.recording;
  options.dialect = command.dialect;
  options.interval_ms = command.interval_ms;
  options.faults = command.faults;
  return simulate::run(options);
}

int run(const Check& command) {
  const auto loaded = config::load_file(command.config_file, {}, config::process_environment());
  if (!loaded.ok()) return complain(loaded.error());
  return say("ok\n");
}

int run(const Say& command) { return say(command.text); }

int run(const config::Problem& problem) { return complain(problem); }

int run(int argc, const char* const* argv) {
  const Command command = parse_command_line(argc, argv);
  return std::visit([](const auto& one) { return run(one); }, command);
}

}  // namespace
}  // namespace tidemark::app

int main(int argc, char** argv) {
  try {
    return tidemark::app::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tidemark: %s\n", error.what());
    return 1;
  }
}
