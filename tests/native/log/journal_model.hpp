// What a journal ought to give back: a run of random operations, and the state of all streams after each of them.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "tests/native/log/logs.hpp"

namespace tidemark::log {

struct ModelStream {
  std::string facts;
  std::vector<std::string> events;
  bool ended = false;

  std::string text() const {
    std::string out;
    for (const std::string& event : events) out += event;
    return out;
  }
};
using Model = std::map<StreamId, ModelStream>;

/// The files of a directory that hold records, by name.
inline std::map<std::string, std::string> journal_files(const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".log") continue;
    std::string bytes;
    const int error = read_file(entry.path().string(), bytes);
    if (error == ENOENT) continue;  // removed meanwhile, by the log's thread
    REQUIRE(error == 0);
    files[entry.path().filename().string()] = bytes;
  }
  return files;
}

inline void put_files(const std::filesystem::path& directory, const std::map<std::string, std::string>& files) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) std::filesystem::remove(entry.path());
  for (const auto& [name, bytes] : files) {
    int error = 0;
    const auto file = SegmentFile::create((directory / name).string(), error);
    REQUIRE(error == 0);
    REQUIRE(file->append(bytes) == 0);
  }
}

/// Random operations on a log, done on a model alike.
class Operator {
 public:
  Operator(std::uint64_t seed, std::size_t longest_event) : random_(seed), longest_(longest_event) {}

  void step(StreamLog& log, Model& model) {
    const std::uint64_t choice = random_.next() % 20;
    const auto running = pick(model, false);
    if (!running || choice < 2) {
      const std::string facts = "facts " + std::to_string(++counter_);
      const auto id = log.open(facts);
      REQUIRE(id);
      model[*id].facts = facts;
    } else if (choice < 16) {
      ModelStream& stream = model[*running];
      const std::string event =
          "data: " + std::to_string(++counter_) + std::string(random_.next() % longest_, 'x') + "\n\n";
      REQUIRE(log.append(*running, static_cast<Seq>(stream.events.size()), event) == Append::Done);
      stream.events.push_back(event);
    } else if (choice < 17) {
      model[*running].facts = "described " + std::to_string(++counter_);
      REQUIRE(log.describe(*running, model[*running].facts));
    } else if (choice < 19) {
      model[*running].facts = "ended " + std::to_string(++counter_);
      model[*running].ended = true;
      log.end(*running, 0, model[*running].facts);
    } else if (const auto over = pick(model, true)) {
      log.drop(*over);
      model.erase(*over);
    }
  }

 private:
  std::optional<StreamId> pick(const Model& model, bool ended) {
    std::vector<StreamId> ids;
    for (const auto& [id, stream] : model) {
      if (stream.ended == ended) ids.push_back(id);
    }
    if (ids.empty()) return std::nullopt;
    return ids[random_.next() % ids.size()];
  }

  Random random_;
  std::size_t longest_;
  int counter_ = 0;
};

/// The log holds these streams, all of them able to go on, and nothing else.
inline void check_is(FileLog& log, const Model& model) {
  const std::vector<Restored> restored = log.take_restored();
  REQUIRE(restored.size() == model.size());
  for (const Restored& one : restored) {
    const auto expected = model.find(one.stream);
    REQUIRE(expected != model.end());
    REQUIRE(one.facts == expected->second.facts);
    REQUIRE(one.ended == expected->second.ended);
    REQUIRE(one.may_go_on);
    REQUIRE(log.next_seq(one.stream) == static_cast<Seq>(expected->second.events.size()));
    REQUIRE(read_all(log, one.stream) == expected->second.text());
  }
  REQUIRE(log.usage().streams == model.size());
}

}  // namespace tidemark::log
