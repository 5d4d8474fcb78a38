// The command line: every flag read, every wrong one named in one line.
#include "native/app/command_line.hpp"

#include "tests/catch.hpp"

using namespace tidemark;
using namespace tidemark::app;

namespace {

Command parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tidemark");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

std::string problem(const Command& command) {
  const auto* found = std::get_if<config::Problem>(&command);
  return found == nullptr ? "no problem" : found->line();
}

}  // namespace

TEST_CASE("serve takes its flags") {
  const Command plain = parse({"serve"});
  REQUIRE(std::holds_alternative<Serve>(plain));
  CHECK_FALSE(std::get<Serve>(plain).config_file);
  CHECK_FALSE(std::get<Serve>(plain).flags.listen);

  const Command full = parse({"serve", "--config", "c.json", "--listen", "127.0.0.1:0", "--upstream=http://u", "--log",
                              "memory:", "--log-level", "debug"});
  REQUIRE(std::holds_alternative<Serve>(full));
  const Serve& serve = std::get<Serve>(full);
  CHECK(serve.config_file == "c.json");
  CHECK(serve.flags.listen == "127.0.0.1:0");
  CHECK(serve.flags.upstream == "http://u");
  CHECK(serve.flags.log == "memory:");
  CHECK(serve.log_level == observe::Level::Debug);
}

TEST_CASE("simulate takes its flags, faults in their order") {
  const Command full = parse({"simulate", "--listen", "127.0.0.1:0", "--recording", "r.jsonl", "--dialect",
                              "openai-chat", "--interval", "0", "--fault", "status=500", "--fault", "reset-after=3"});
  REQUIRE(std::holds_alternative<Simulate>(full));
  const Simulate& simulate = std::get<Simulate>(full);
  CHECK(simulate.listen == "127.0.0.1:0");
  CHECK(simulate.recording == "r.jsonl");
  CHECK(simulate.dialect == "openai-chat");
  CHECK(simulate.interval_ms == 0);
  CHECK(simulate.faults == std::vector<std::string>{"status=500", "reset-after=3"});
}

TEST_CASE("check wants a file") {
  const Command right = parse({"check", "--config", "c.json"});
  REQUIRE(std::holds_alternative<Check>(right));
  CHECK(std::get<Check>(right).config_file == "c.json");
  CHECK(problem(parse({"check"})).find("--config") != std::string::npos);
}

TEST_CASE("help and version are said, whatever else is there") {
  for (const auto& arguments : {std::vector<const char*>{"--help"}, std::vector<const char*>{"serve", "--help"}}) {
    const Command command = parse(arguments);
    REQUIRE(std::holds_alternative<Say>(command));
    CHECK(std::get<Say>(command).text.find("--help") != std::string::npos);
  }
  const Command version = parse({"--version"});
  REQUIRE(std::holds_alternative<Say>(version));
  CHECK(std::get<Say>(version).text.rfind("tidemark ", 0) == 0);
}

TEST_CASE("a wrong command line is one line that names what is wrong and what is allowed") {
  struct Case {
    std::vector<const char*> arguments;
    const char* names;
    const char* allows;
  };
  for (const Case& c : {
           Case{{}, "command", "serve"},
           Case{{"run"}, "run", "serve"},
           Case{{"serve", "--port", "1"}, "--port", "--listen"},
           Case{{"serve", "extra"}, "extra", "--listen"},
           Case{{"serve", "--listen"}, "--listen", "--listen"},
           Case{{"serve", "--log-level", "verbose"}, "--log-level: verbose", "debug, info, warning, error, off"},
           Case{{"simulate", "--interval", "soon"}, "--interval", "--fault"},
           Case{{"simulate", "--interval", "-1"}, "--interval", "--fault"},
       }) {
    const std::string line = problem(parse(c.arguments));
    INFO(line);
    CHECK(line.find(c.names) != std::string::npos);
    CHECK(line.find(c.allows) != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
}
