// What is said first on a connection.
#include "native/redis/greeting.hpp"

#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

namespace tidemark::redis {
namespace {

constexpr std::size_t kLineBytes = 200;

// The value of a line `NAME:VALUE` of INFO; empty where it is missing.
std::string_view field(std::string_view info, std::string_view name) {
  while (!info.empty()) {
    const std::size_t end = info.find('\n');
    std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (line.substr(0, name.size()) != name || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }
  return {};
}

}  // namespace

std::string one_line(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  if (text.size() > kLineBytes) text = text.substr(0, kLineBytes) + "...";
  return text;
}

Greeting::Greeting(const Endpoint& endpoint, const std::string& client_name) : secret_(endpoint.password) {
  if (!endpoint.user.empty() || !endpoint.password.empty()) {
    std::vector<std::string> auth{"AUTH"};
    if (!endpoint.user.empty()) auth.push_back(endpoint.user);
    auth.push_back(endpoint.password);
    commands_.push_back(std::move(auth));
  }
  if (endpoint.database != 0) commands_.push_back({"SELECT", std::to_string(endpoint.database)});
  if (!client_name.empty()) commands_.push_back({"CLIENT", "SETNAME", client_name});
  // The first that a server refuses which is still reading its data.
  commands_.push_back({"PING"});
  commands_.push_back({"CLIENT", "ID"});
  commands_.push_back({"INFO", "server"});
}

std::string Greeting::take(const Reply& reply) {
  const std::vector<std::string>& command = commands_[taken_++];
  if (reply.is(Reply::Kind::Error)) {
    std::string said = reply.text;
    // Some servers repeat what they don't understand.
    if (!secret_.empty()) {
      for (std::size_t at = said.find(secret_); at != std::string::npos; at = said.find(secret_, at + 3)) {
        said.replace(at, secret_.size(), "***");
      }
    }
    return "the server says " + one_line(std::move(said));
  }
  if (command[0] == "INFO") {
    const std::string_view uptime = field(reply.text, "uptime_in_seconds");
    std::from_chars(uptime.data(), uptime.data() + uptime.size(), facts_.uptime_ms);
    facts_.uptime_ms *= 1000;
    facts_.run_id = field(reply.text, "run_id");
    facts_.version = field(reply.text, "redis_version");
    if (facts_.run_id.empty()) return "the server does not say its run_id";
  } else if (command.back() == "ID") {
    facts_.client_id = reply.integer;
  }
  return {};
}

}  // namespace tidemark::redis
