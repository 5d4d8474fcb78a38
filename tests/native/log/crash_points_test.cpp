// A journal that ends at any byte, or has another value at it: what counts is what was acknowledged before.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/native/log/journal_model.hpp"

using namespace tidemark;
using namespace tidemark::log;

namespace {

/// A run and, after each of its operations, how far the files had come.
struct Recording {
  struct Moment {
    std::string last_file;
    std::size_t size = 0;
    Model model;
  };
  std::vector<Moment> moments;
  std::map<std::string, std::string> files;  // all that there ever were, as they were at last

  void note(const std::filesystem::path& directory, const Model& model) {
    for (const auto& [name, bytes] : journal_files(directory)) files[name] = bytes;
    moments.push_back({files.rbegin()->first, files.rbegin()->second.size(), model});
  }

  /// The state that was written before `size` bytes of the file were.
  const Model& before(const std::string& file, std::size_t size) const {
    const auto after = std::find_if(moments.begin(), moments.end(), [&](const Moment& moment) {
      return std::pair(moment.last_file, moment.size) > std::pair(file, size);
    });
    static const Model kEmpty;
    return after == moments.begin() ? kEmpty : (after - 1)->model;
  }
};

Recording record(std::uint64_t seed, int operations, FileWorld& world, const std::filesystem::path& directory) {
  Recording recording;
  REQUIRE(world.open(directory) == "");
  Operator some(seed, 60);
  Model model;
  recording.note(directory, model);
  for (int i = 0; i < operations; ++i) {
    some.step(*world.log, model);
    recording.note(directory, model);
    // What the log does in turns of its own: copies, which change nothing.
    while (world.loop.run_one(0)) recording.note(directory, model);
  }
  world.log.reset();
  return recording;
}

/// Goes on after the crash, dies again, and comes back.
void go_on(FileWorld& world, const std::filesystem::path& directory, Model model) {
  for (auto& [id, stream] : model) {
    if (stream.ended) continue;
    REQUIRE(world.log->append(id, static_cast<Seq>(stream.events.size()), "more") == Append::Done);
    stream.events.emplace_back("more");
  }
  const auto id = world.log->open("new");
  REQUIRE(id);
  REQUIRE(model.count(*id) == 0);
  REQUIRE(world.log->append(*id, 0, "first") == Append::Done);
  model[*id] = {"new", {"first"}, false};
  REQUIRE(world.open(directory) == "");
  check_is(*world.log, model);
}

void cut_everywhere(const Recording& recording) {
  TemporaryDirectory scratch;
  FileWorld world;
  std::map<std::string, std::string> whole;  // segments before the one that is cut
  std::size_t cuts = 0;
  for (const auto& [name, bytes] : recording.files) {
    for (std::size_t size = 0; size <= bytes.size(); ++size, ++cuts) {
      CAPTURE(name, size);
      world.log.reset();
      auto files = whole;
      files[name] = bytes.substr(0, size);
      put_files(scratch.path(), files);
      REQUIRE(world.open(scratch.path()) == "");
      const Model& expected = recording.before(name, size);
      check_is(*world.log, expected);
      if (size % 16 == 0) go_on(world, scratch.path(), expected);
    }
    whole[name] = bytes;
  }
  CHECK(cuts > 4000);
}

}  // namespace

TEST_CASE("a journal cut at any byte gives all that was acknowledged before, and goes on") {
  TemporaryDirectory directory;
  FileWorld world;
  world.options.segment_bytes = 2000;
  const Recording recording = record(7, 90, world, directory.path());
  CHECK(recording.files.size() >= 3);
  cut_everywhere(recording);
}

TEST_CASE("so does one whose streams are written again to make room") {
  TemporaryDirectory directory;
  FileWorld world;
  world.options.segment_bytes = 1000;
  world.options.limits.max_total_bytes = 1500;
  world.options.limits.max_stream_bytes = 1500;
  TemporaryDirectory scratch;
  // Every segment is held on to by a link: a crash may come before one is removed.
  Recording recording;
  REQUIRE(world.open(directory.path()) == "");
  Model model;
  recording.note(directory.path(), model);
  const auto id = world.log->open("kept");
  model[*id].facts = "kept";
  recording.note(directory.path(), model);
  for (int i = 0; i < 60; ++i) {
    if (i % 10 == 0) {
      const std::string event = "data: " + std::to_string(i) + "\n\n";
      REQUIRE(world.log->append(*id, static_cast<Seq>(model[*id].events.size()), event) == Append::Done);
      model[*id].events.push_back(event);
      recording.note(directory.path(), model);
    }
    const std::string facts = "described " + std::to_string(i) + std::string(std::size_t{100}, 'f');
    REQUIRE(world.log->describe(*id, facts));
    model[*id].facts = facts;
    recording.note(directory.path(), model);
    while (world.loop.run_one(0)) recording.note(directory.path(), model);
  }
  world.log.reset();
  const auto left = journal_files(directory.path());
  REQUIRE(left.size() < recording.files.size());
  std::size_t copies = 0;
  for (const auto& [name, bytes] : recording.files) {
    RecordReader reader(bytes);
    while (const auto one = reader.next())
      if (one->kind == RecordKind::Copied) ++copies;
  }
  CHECK(copies >= 2);
  cut_everywhere(recording);
}

TEST_CASE("a byte that has changed never makes a wrong event, nor lets a stream go on that lacks one") {
  TemporaryDirectory directory;
  FileWorld world;
  world.options.segment_bytes = 2000;
  const Recording recording = record(11, 90, world, directory.path());
  std::map<StreamId, ModelStream> all;  // every stream, with all that it ever had
  std::map<StreamId, std::vector<std::string>> facts;
  for (const Recording::Moment& moment : recording.moments) {
    for (const auto& [id, stream] : moment.model) {
      all[id] = stream;
      facts[id].push_back(stream.facts);
    }
  }
  TemporaryDirectory scratch;
  std::size_t stopped = 0;
  for (const auto& [name, bytes] : recording.files) {
    for (std::size_t at = 0; at < bytes.size(); at += 1 + at % 3) {
      const int flip = at % 2 == 0 ? 0x01 : 0xff;
      CAPTURE(name, at, flip);
      world.log.reset();
      auto files = recording.files;
      char& byte = files[name][at];
      byte = static_cast<char>(byte ^ flip);
      put_files(scratch.path(), files);
      const std::string problem = world.open(scratch.path());
      REQUIRE(problem == "");
      for (const Restored& one : world.log->take_restored()) {
        REQUIRE(all.count(one.stream) == 1);
        const std::string text = read_all(*world.log, one.stream);
        REQUIRE(all[one.stream].text().substr(0, text.size()) == text);
        REQUIRE(std::count(facts[one.stream].begin(), facts[one.stream].end(), one.facts) > 0);
        if (one.ended || one.may_go_on) REQUIRE(text == all[one.stream].text());
        if (one.ended) REQUIRE(all[one.stream].ended);
        if (!one.may_go_on) {
          ++stopped;
          REQUIRE(world.log->append(one.stream, world.log->next_seq(one.stream), "x") == Append::OutOfOrder);
        }
      }
    }
  }
  CHECK(stopped > 100);
}
