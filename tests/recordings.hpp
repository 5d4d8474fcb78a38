// The recorded streams of ../shared/recordings, where they are; a test that needs them is skipped, visibly, elsewhere.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/dialect/dialect.hpp"

namespace tidemark::test {

struct Recording {
  std::string file;  // "openai-chat/openai-text.jsonl"
  dialect::Dialect dialect = dialect::Dialect::Opaque;
  std::vector<std::string> data;  // one event's data each, as recorded

  /// The stream as the provider framed it: with event lines where the dialect has them, and [DONE] for openai-chat.
  std::string framed() const {
    using dialect::Dialect;
    std::string out;
    for (const std::string& line : data) {
      if (dialect == Dialect::OpenaiResponses || dialect == Dialect::AnthropicMessages) {
        out += "event: " + type_of(line) + "\n";
      }
      out += "data: " + line + "\n\n";
    }
    if (dialect == Dialect::OpenaiChat) out += "data: [DONE]\n\n";
    return out;
  }

 private:
  static std::string type_of(const std::string& line) {
    return nlohmann::json::parse(line).at("type").get<std::string>();
  }
};

inline std::filesystem::path recordings_directory() {
  const char* given = std::getenv("TIDEMARK_RECORDINGS");
  return given != nullptr ? std::filesystem::path(given) : std::filesystem::path("../shared/recordings");
}

/// All recordings, sorted by name; empty, with a line on standard error, where the directory is absent.
inline std::vector<Recording> recordings() {
  std::vector<Recording> all;
  const std::filesystem::path root = recordings_directory();
  if (!std::filesystem::is_directory(root)) {
    std::fprintf(stderr, "SKIPPED: no recordings at %s (set TIDEMARK_RECORDINGS)\n", root.string().c_str());
    return all;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".jsonl") continue;
    Recording recording;
    const std::string folder = entry.path().parent_path().filename().string();
    const auto known = dialect::from_name(folder);
    if (!known) continue;
    recording.file = folder + "/" + entry.path().filename().string();
    recording.dialect = *known;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (!line.empty()) recording.data.push_back(line);
    }
    all.push_back(std::move(recording));
  }
  std::sort(all.begin(), all.end(), [](const Recording& a, const Recording& b) { return a.file < b.file; });
  return all;
}

}  // namespace tidemark::test
