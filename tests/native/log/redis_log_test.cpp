// What replicas see of each other's streams through Redis.
#include "native/log/redis_log.hpp"

#include <algorithm>
#include <deque>

#include "tests/native/log/replicas.hpp"

using namespace tidemark;
using namespace tidemark::log;
using Answer = LookUp::Answer;

TEST_CASE("a stream that one replica feeds is read by another as it comes") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim("facts"));
  all.append(*a, fed, 3);

  const LookUp found = all.reads(*b, 1);
  CHECK(found.facts == "facts");
  CHECK(found.digest == kClaim.digest);
  CHECK(found.fed);
  CHECK_FALSE(found.ended);
  REQUIRE(found.terms.size() == 1);
  CHECK(found.terms[0].epoch == "1000");
  Counter reader;
  (*b)->follow(found.stream, reader);
  all.append(*a, fed, 40);
  all.until([&] { return (*b)->next_seq(found.stream) == 43; });
  CHECK(read_all(**b, found.stream) == Replicas::texts(0, 43));
  CHECK(reader.changes > 0);
  CHECK((*b)->append(found.stream, 43, "not here") == Append::OutOfOrder);
  CHECK_FALSE((*b)->describe(found.stream, "not here"));

  (*a)->end(fed, all.loop.now_ms(), "facts at the end");
  all.until([&] { return !b->ended.empty(); });
  CHECK(b->ended[0] == std::pair(found.stream, std::string("facts at the end")));
  CHECK((*b)->read(found.stream, Replicas::texts(0, 43).size()).state == Read::State::Ended);
  (*b)->unfollow(found.stream, reader);

  SECTION("one that has ended is found too, for the rest of its time") {
    const auto c = all.replica();
    const LookUp late = all.look_up(*c);
    REQUIRE(late.answer == Answer::Here);
    CHECK(late.ended);
    CHECK(late.facts == "facts at the end");
    CHECK(read_all(**c, late.stream) == Replicas::texts(0, 43));
    for (const char* key : {"tidemark:{abc}:stream", "tidemark:{abc}:events:1000"}) {
      const int left = std::stoi(all.server.run({"PTTL", key}));
      CHECK(left > 0);
      CHECK(left <= 60000);
    }
  }
}

TEST_CASE("an entry's id is that of its last event, and events of one turn share an entry of at most 4 kB") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  for (Seq seq = 0; seq < 3; ++seq) REQUIRE((*a)->append(fed, seq, Replicas::text(seq)) == Append::Done);
  all.until([&] { return all.events() == "1"; });
  CHECK(all.server.run({"XRANGE", "tidemark:{abc}:events:1000", "-", "+"}).substr(0, 6) == "1000-2");
  for (Seq seq = 3; seq < 13; ++seq) REQUIRE((*a)->append(fed, seq, std::string(1000, 'x')) == Append::Done);
  all.until([&] { return all.events() == "3"; });
  const auto b = all.replica();
  const LookUp found = all.reads(*b, 13);
  CHECK(read_all(**b, found.stream) == Replicas::texts(0, 3) + std::string(10000, 'x'));
}

TEST_CASE("a name is claimed by one replica at a time") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  auto a = all.replica();
  const auto b = all.replica();
  CHECK(all.look_up(*b).answer == Answer::Unknown);
  REQUIRE(all.look_up(*a, kClaim).answer == Answer::Yours);

  SECTION("others are told by what request") {
    const LookUp found = all.look_up(*b, SharedLog::Claim{"2000", "another", ""});
    CHECK(found.answer == Answer::Claimed);
    CHECK(found.digest == kClaim.digest);
    CHECK(found.facts == kClaim.facts);
    CHECK(all.look_up(*b).answer == Answer::Claimed);
    (*b)->ask_to_stop("abc", found.owner);
    all.until([&] { return !a->names_to_stop.empty(); });
    CHECK(a->names_to_stop == std::vector<std::string>{"abc"});
  }
  SECTION("until it is released") {
    (*a)->release("abc");
    all.until([&] { return all.server.run({"EXISTS", "tidemark:{abc}:stream"}) == "0"; });
    CHECK(all.look_up(*b, SharedLog::Claim{"2000", "another", ""}).answer == Answer::Yours);
    (*a)->release("abc");
    CHECK(all.look_up(*a).answer == Answer::Claimed);
  }
  SECTION("or until its process is gone") {
    a->kill();
    std::optional<Answer> answer;
    all.until([&] {
      return (answer = all.look_up(*b, SharedLog::Claim{"2000", "another", ""}).answer) != Answer::Claimed;
    });
    CHECK(*answer == Answer::Yours);
    const auto c = all.replica();
    CHECK(all.look_up(*c, kClaim).digest == "another");
  }
  SECTION("of two who ask at once, one has it") {
    int yours = 0;
    int claimed = 0;
    for (Replica* one : {a.get(), b.get()}) {
      (*one)->look_up("def", kClaim, [&](LookUp found) {
        yours += found.answer == Answer::Yours;
        claimed += found.answer == Answer::Claimed;
      });
    }
    all.until([&] { return yours + claimed == 2; });
    CHECK(yours == 1);
  }
}

TEST_CASE("who reads a stream is not given another one's events that has got its name") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const auto c = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  const LookUp found = all.reads(*b, 2);
  Counter reader;
  (*b)->follow(found.stream, reader);
  all.server.run({"DEL", "tidemark:{abc}:stream", "tidemark:{abc}:events:1000"});
  const StreamId other = *(*c)->open_shared("abc", {"2000", "digest", ""});
  for (Seq seq = 0; seq < 5; ++seq) REQUIRE((*c)->append(other, seq, "other\n\n") == Append::Done);
  all.until([&] { return !b->lost_streams.empty(); });
  CHECK(b->lost_streams[0] == found.stream);
  all.append(*a, fed, 1);
  all.until([&] { return !a->lost_streams.empty(); });
}

TEST_CASE("what somebody has deleted in Redis is written again by who feeds it") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  all.defaults.lease_ms = 60000;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim("facts"));
  all.append(*a, fed, 3);
  all.until([&] { return all.events() == "3"; });
  const auto keys =
      GENERATE(std::vector<std::string>{"DEL", "tidemark:{abc}:stream", "tidemark:{abc}:events:1000"},
               std::vector<std::string>{"DEL", "tidemark:{abc}:events:1000"}, std::vector<std::string>{"FLUSHALL"});
  const bool at_the_end = GENERATE(true, false);
  CAPTURE(keys, at_the_end);
  all.server.run(keys);
  if (!at_the_end) {
    all.append(*a, fed, 2);
    // Who finds it again finds the replica that feeds it alive.
    all.until([&] { return all.server.run({"EXISTS", "tidemark:{abc}:stream"}) == "1"; });
    CHECK(all.server.run({"EXISTS", "tidemark:replica:" + std::string(31, '0') + "a"}) == "1");
  }
  (*a)->end(fed, all.loop.now_ms(), "the end");
  all.until([&] { return all.server.run({"HEXISTS", "tidemark:{abc}:stream", "ended"}) == "1"; });
  const LookUp whole = all.look_up(*b);
  CHECK(whole.ended);
  CHECK(read_all(**b, whole.stream) == Replicas::texts(0, at_the_end ? 3 : 5));
  CHECK(a->lost_streams.empty());
}

TEST_CASE("many streams are read as they come, whenever more of them are looked for") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  std::vector<StreamId> fed;
  std::vector<StreamId> read;
  std::deque<Counter> readers;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 5; ++i) fed.push_back(*(*a)->open_shared("a" + std::to_string(fed.size()), claim("")));
    for (const StreamId one : fed) all.append(*a, one, 1);
    all.reads(*b, 1, ("a" + std::to_string(fed.size() - 1)).c_str());
    // All at once, while events come.
    std::size_t found = read.size();
    read.resize(fed.size());
    for (std::size_t i = found; i < fed.size(); ++i) {
      (*b)->look_up("a" + std::to_string(i), std::nullopt, [&, i](const LookUp& result) {
        CHECK(result.answer == Answer::Here);
        read[i] = result.stream;
        (*b)->follow(result.stream, readers.emplace_back());
        ++found;
      });
    }
    all.until([&] {
      const Seq next = (*a)->next_seq(fed[0]);
      REQUIRE((*a)->append(fed[0], next, Replicas::text(next)) == Append::Done);
      return found == fed.size();
    });
    all.until([&] {
      return std::equal(fed.begin(), fed.end(), read.begin(),
                        [&](StreamId one, StreamId other) { return (*a)->next_seq(one) == (*b)->next_seq(other); });
    });
  }
  for (std::size_t i = 0; i < fed.size(); ++i) (*b)->drop(read[i]);
}

TEST_CASE("a stream that nobody reads here any more is forgotten, and found again") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  all.defaults.unread_ms = 0;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  const LookUp found = all.reads(*b, 0);
  Counter reader;
  (*b)->follow(found.stream, reader);
  all.append(*a, fed, 2);
  all.until([&] { return (*b)->next_seq(found.stream) == 4; });
  (*b)->unfollow(found.stream, reader);
  all.until([&] { return !b->lost_streams.empty(); });
  CHECK_FALSE((*b)->contains(found.stream));
  CHECK((*a)->contains(fed));
  CHECK(read_all(**b, all.reads(*b, 4).stream) == Replicas::texts(0, 4));
}
