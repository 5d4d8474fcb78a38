// A real Redis server for tests, on a port and in a directory of its own, which end with it.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/native/loop/raw_socket.hpp"

namespace tidemark::testing {

class RedisServer {
 public:
  struct Options {
    std::string password{};                // of the user `default`; empty: none is needed
    bool keeps_data = false;               // a start after stop() or kill() finds what was written
    bool tls = false;                      // on the port: only TLS
    std::string certificate{};             // of `tls`: FILE.pem
    std::string key{};                     // and FILE.key
    std::vector<std::string> arguments{};  // further ones: "--NAME", "VALUE"
  };

  /// Tests ask first, and return where there is none: `if (!RedisServer::available()) return;`. Says so once a program.
  static bool available() {
    static const bool kAvailable = [] {
      if (std::system("command -v redis-server >/dev/null && command -v redis-cli >/dev/null") == 0) return true;
      std::fputs("WARNING: redis-server or redis-cli is missing; tests that need a Redis server are skipped\n", stderr);
      return false;
    }();
    if (!kAvailable) WARN("skipped: redis-server or redis-cli is missing");
    return kAvailable;
  }

  RedisServer() : RedisServer(Options{}) {}
  /// Runs, and answers.
  explicit RedisServer(Options options) : options_(std::move(options)) {
    std::string made = (std::filesystem::temp_directory_path() / "tidemark-redis-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = made;
    // Somebody else may take the port between the look and the start.
    for (int tries = 0; tries < 20 && !is_running(); ++tries) {
      port_ = free_port();
      launch();
      wait_until_it_answers();
    }
    if (!is_running()) throw std::runtime_error("redis-server does not start: " + log());
  }
  ~RedisServer() {
    if (is_running()) kill();
    std::filesystem::remove_all(folder_);
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::uint16_t port() const { return port_; }
  bool is_running() const { return pid_ > 0; }

  /// In an orderly way: it writes what it keeps, and closes its connections.
  void stop() { end(SIGTERM); }
  void kill() { end(SIGKILL); }
  /// On the same port, until it answers.
  void start() {
    start_without_waiting();
    wait_until_it_answers();
    if (!is_running()) throw std::runtime_error("redis-server does not start again: " + log());
  }
  void start_without_waiting() {
    if (!is_running()) launch();
  }
  /// What it kept is gone. Precondition: it does not run.
  void forget() { std::filesystem::remove_all(folder_ / "data"); }
  /// It stays where it is (SIGSTOP): connections are still made by the kernel, and nothing is answered.
  void pause() {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
  }
  void resume() { ::kill(pid_, SIGCONT); }

  /// What redis-cli prints for a command, without the last end of line.
  std::string run(const std::vector<std::string>& words) const {
    std::string command = "redis-cli -s " + quoted((folder_ / "socket").string());
    if (!options_.password.empty()) command += " --no-auth-warning -a " + quoted(options_.password);
    for (const std::string& word : words) command += " " + quoted(word);
    command += " 2>&1";
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("popen");
    std::string out;
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, got);
    ::pclose(pipe);
    if (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
  }

  /// What the server wrote to its log.
  std::string log() const {
    std::ifstream file(folder_ / "log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::string quoted(const std::string& word) {
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
  }

  // Below those that the kernel gives to whoever connects: a client that tries again and again while the server is away
  // could get the server's own port there, and connect to itself.
  static std::uint16_t free_port() {
    std::random_device random;
    for (;;) {
      const auto port = static_cast<std::uint16_t>(10'000 + random() % 20'000);
      const RawSocket probe(::socket(AF_INET, SOCK_STREAM, 0));
      const sockaddr_in here = RawSocket::loopback(port);
      if (::bind(probe.fd(), reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0) return port;
    }
  }

  void launch() {
    std::filesystem::create_directories(folder_ / "data");
    std::vector<std::string> words{"redis-server",
                                   "--bind",
                                   "127.0.0.1",
                                   "--dir",
                                   (folder_ / "data").string(),
                                   "--unixsocket",
                                   (folder_ / "socket").string(),
                                   "--logfile",
                                   (folder_ / "log").string(),
                                   "--save",
                                   "",
                                   "--daemonize",
                                   "no"};
    const auto add = [&](const std::string& name, const std::string& value) {
      words.push_back(name);
      words.push_back(value);
    };
    add("--appendonly", options_.keeps_data ? "yes" : "no");
    if (!options_.password.empty()) add("--requirepass", options_.password);
    add("--port", options_.tls ? "0" : std::to_string(port_));
    if (options_.tls) {
      add("--tls-port", std::to_string(port_));
      add("--tls-cert-file", options_.certificate);
      add("--tls-key-file", options_.key);
      add("--tls-ca-cert-file", options_.certificate);
      add("--tls-auth-clients", "no");
    }
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ != 0) return;
    // A test that is killed leaves no server behind.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }

  void wait_until_it_answers() {
    for (int waited = 0; waited < kPatienceMs; waited += 2) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return;
      }
      if (answers()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    throw std::runtime_error("redis-server does not answer: " + log());
  }

  // The socket is there after the port, and PING is refused while data is read.
  bool answers() const { return std::filesystem::exists(folder_ / "socket") && run({"PING"}) == "PONG"; }

  void end(int signal) {
    ::kill(pid_, signal);
    ::kill(pid_, SIGCONT);
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    std::filesystem::remove(folder_ / "socket");
  }

  Options options_;
  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace tidemark::testing
