// The program as its user starts it: exit statuses, the line it prints when ready, and a signal.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/native/proxy/bodies.hpp"
#include "tests/native/proxy/http_client.hpp"

using namespace tidemark::test;

namespace {

class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    int to_out[2];
    int to_err[2];
    REQUIRE(::pipe(to_out) == 0);
    REQUIRE(::pipe(to_err) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to_out[1], 1);
      ::dup2(to_err[1], 2);
      for (const int fd : {to_out[0], to_out[1], to_err[0], to_err[1]}) ::close(fd);
      std::string name = TIDEMARK_PROGRAM;
      std::vector<char*> argv{name.data()};
      for (std::string& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      ::execv(name.c_str(), argv.data());
      ::_exit(127);
    }
    ::close(to_out[1]);
    ::close(to_err[1]);
    out_ = to_out[0];
    err_ = to_err[0];
  }
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string read_line() {
    std::string line;
    char c = 0;
    while (::read(out_, &c, 1) == 1 && c != '\n') line += c;
    return line;
  }
  std::uint16_t port_when_ready() {
    const std::string line = read_line();
    const std::string start = "tidemark listening on http://127.0.0.1:";
    if (line.rfind(start, 0) != 0) FAIL("printed '" << line << "'; " << rest(err_));
    return static_cast<std::uint16_t>(std::stoi(line.substr(start.size())));
  }
  void signal(int number) const { ::kill(pid_, number); }
  int exit_status() {
    out = rest(out_);
    err = rest(err_);
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string out;
  std::string err;

 private:
  static std::string rest(int fd) {
    std::string text;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::read(fd, bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(count));
    return text;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

std::string configuration(const std::string& text) {
  const auto path =
      std::filesystem::temp_directory_path() / ("tidemark-program-test-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << text;
  return path.string();
}

}  // namespace

TEST_CASE("help and version are printed, and nothing else happens") {
  Program version({"--version"});
  CHECK(version.exit_status() == 0);
  CHECK(version.out.rfind("tidemark ", 0) == 0);
  Program help({"serve", "--help"});
  CHECK(help.exit_status() == 0);
  CHECK(help.out.find("--upstream") != std::string::npos);
}

TEST_CASE("a wrong flag or configuration is status 2 and one line") {
  const std::string file = configuration(R"({"upstreams":[{"base_url":"http://127.0.0.1:1"}],"keepalive_ms":0})");
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"serve", "--port", "1"},
                                                                     {"serve"},
                                                                     {"serve", "--upstream", "nonsense"},
                                                                     {"serve", "--config", file},
                                                                     {"check", "--config", file},
                                                                     {"check", "--config", "no/such/file"},
                                                                     {"simulate", "--listen", "nonsense"}}) {
    Program program(arguments);
    CHECK(program.exit_status() == 2);
    INFO(program.err);
    CHECK(program.out.empty());
    CHECK(program.err.rfind("tidemark: ", 0) == 0);
    CHECK(std::count(program.err.begin(), program.err.end(), '\n') == 1);
  }
  std::filesystem::remove(file);
}

TEST_CASE("check accepts what serve accepts") {
  const std::string file = configuration(R"({"upstreams":[{"base_url":"http://127.0.0.1:1"}] /* fine */})");
  Program check({"check", "--config", file});
  CHECK(check.exit_status() == 0);
  CHECK(check.out == "ok\n");
  std::filesystem::remove(file);
}

TEST_CASE("serve and simulate together, to their end by a signal") {
  Program upstream({"simulate", "--listen", "127.0.0.1:0", "--interval", "0"});
  const std::string base = "http://127.0.0.1:" + std::to_string(upstream.port_when_ready());
  Program proxy({"serve", "--listen", "127.0.0.1:0", "--upstream", base});
  const std::uint16_t port = proxy.port_when_ready();
  {
    HttpClient client(port);
    const Reply reply = client.ask("POST", kChatPath, with_key(), kChatBody);
    CHECK(reply.status == 200);
    CHECK(reply.body.size() > kCompleteEnd.size());
    CHECK(reply.body.substr(reply.body.size() - kCompleteEnd.size()) == kCompleteEnd);
  }
  Program taken({"serve", "--listen", "127.0.0.1:" + std::to_string(port), "--upstream", base});
  CHECK(taken.exit_status() == 1);
  CHECK(taken.err == "tidemark: listen: 127.0.0.1:" + std::to_string(port) + ": Address already in use\n");

  proxy.signal(SIGTERM);
  CHECK(proxy.exit_status() == 0);
  CHECK(proxy.out.empty());
  std::istringstream lines(proxy.err);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(nlohmann::json::accept(line));
  CHECK(count >= 2);
  upstream.signal(SIGINT);
  CHECK(upstream.exit_status() == 0);
}
