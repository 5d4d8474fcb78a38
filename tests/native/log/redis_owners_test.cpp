// Who feeds a stream, and who goes on with it when that replica is gone, held up, or does not know that it was taken
// over.
#include "native/log/redis_log.hpp"
#include "tests/native/log/replicas.hpp"

using namespace tidemark;
using namespace tidemark::log;
using Answer = LookUp::Answer;

TEST_CASE("a stream goes on with another replica when the one that fed it is gone") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim("facts"));
  all.append(*a, fed, 5);
  all.reads(*b, 5);
  a->kill();
  LookUp found;
  all.until([&] { return (found = all.look_up(*b)).answer == Answer::Here && !found.fed; });
  CHECK(read_all(**b, found.stream) == Replicas::texts(0, 5));

  const auto term = all.take_over(*b, found.stream);
  REQUIRE(term);
  CHECK(term->epoch == "1001");
  CHECK(term->first == 5);
  CHECK((*b)->describe(found.stream, "facts of the second"));
  all.append(*b, found.stream, 4);
  (*b)->end(found.stream, all.loop.now_ms(), "facts at the end");
  const auto c = all.replica();
  LookUp whole;
  all.until([&] { return (whole = all.look_up(*c)).ended; });
  CHECK(read_all(**c, whole.stream) == Replicas::texts(0, 9));
  REQUIRE(whole.terms.size() == 2);
  CHECK(whole.terms[1].first == 5);
  CHECK(whole.facts == "facts at the end");
}

TEST_CASE("of two replicas that take a stream over one has it") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  auto a = all.replica();
  const auto b = all.replica();
  const auto c = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  const StreamId too_early = all.reads(*b, 2).stream;
  CHECK_FALSE(all.take_over(*b, too_early));
  CHECK(b->lost_streams == std::vector<StreamId>{too_early});
  a->kill();
  LookUp at_b;
  all.until([&] { return (at_b = all.look_up(*b)).answer == Answer::Here && !at_b.fed; });
  const LookUp at_c = all.reads(*c, 2);
  int taken = 0;
  int refused = 0;
  const auto count = [&](const std::optional<Term>& term) { term ? ++taken : ++refused; };
  (*b)->take_over(at_b.stream, count);
  (*c)->take_over(at_c.stream, count);
  all.until([&] { return taken + refused == 2; });
  CHECK(taken == 1);
}

TEST_CASE("a replica that has lost a stream without knowing can't write to it any more") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  const bool some = GENERATE(true, false);
  if (some) all.append(*a, fed, 2);
  LookUp found;
  all.until([&] {
    all.server.run({"DEL", "tidemark:replica:" + std::string(31, '0') + "a"});
    found = all.look_up(*b);
    return found.answer == Answer::Here && !found.fed;
  });
  std::optional<Term> term;
  all.until([&] {
    all.server.run({"DEL", "tidemark:replica:" + std::string(31, '0') + "a"});
    if (!term && (found = all.look_up(*b)).answer == Answer::Here) term = all.take_over(*b, found.stream);
    return term.has_value();
  });
  all.append(*b, found.stream, 1);
  all.append(*a, fed, 3);
  all.until([&] { return !a->lost_streams.empty(); });
  CHECK(a->lost_streams[0] == fed);
  CHECK_FALSE((*a)->contains(fed));
  all.until([&] { return (*a)->reachable(); });
  all.append(*b, found.stream, 1);
  const auto c = all.replica();
  const Seq count = some ? 4 : 2;
  LookUp whole;
  all.until([&] { return (*c)->next_seq((whole = all.look_up(*c)).stream) == count; });
  CHECK(read_all(**c, whole.stream) == Replicas::texts(0, count));
  all.reads(*a, count);
}

TEST_CASE("who reads a stream elsewhere reads on when another replica has taken it over") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  auto a = all.replica();
  const auto b = all.replica();
  const auto c = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  const LookUp at_b = all.reads(*b, 2);
  const LookUp at_c = all.reads(*c, 2);
  Counter reader;
  (*b)->follow(at_b.stream, reader);
  (*c)->follow(at_c.stream, reader);
  a->kill();
  all.until([&] { return !b->left_streams.empty() && !c->left_streams.empty(); });
  CHECK(b->left_streams[0] == at_b.stream);
  const auto term = all.take_over(*b, at_b.stream);
  REQUIRE(term);
  CHECK_FALSE(all.take_over(*c, at_c.stream));
  all.append(*b, at_b.stream, 3);
  all.until([&] { return (*c)->next_seq(at_c.stream) == 5; });
  CHECK(read_all(**c, at_c.stream) == Replicas::texts(0, 5));
  CHECK(c->moves == std::vector{std::pair(at_c.stream, std::string("1001"))});

  b->kill();
  all.until([&] { return c->left_streams.size() == 2; });
  REQUIRE(all.take_over(*c, at_c.stream));
  all.append(*c, at_c.stream, 1);
  CHECK(b->lost_streams.empty());
  CHECK(c->lost_streams.empty());
  const auto d = all.replica();
  const LookUp whole = all.reads(*d, 6);
  CHECK(read_all(**d, whole.stream) == Replicas::texts(0, 6));
  CHECK(whole.terms.size() == 3);
  (*c)->unfollow(at_c.stream, reader);
}

TEST_CASE("who reads a stream is not forgotten where nobody can tell who feeds it") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  const LookUp found = all.reads(*b, 2);
  Counter reader;
  (*b)->follow(found.stream, reader);
  const bool gone = GENERATE(true, false);
  CAPTURE(gone);
  if (gone) a->kill();
  // Its lease is not there, and that says nothing: after each loss of the connection for as long as a lease lasts.
  for (int cut = 0; cut < 3; ++cut) {
    CHECK_FALSE(all.take_over(*b, found.stream));
    all.server.run({"CLIENT", "KILL", "TYPE", "normal"});
    all.until([&] { return !(*b)->reachable(); });
    all.until([&] { return (*b)->reachable(); });
  }
  if (gone) {
    all.until([&] { return !b->left_streams.empty(); });
    CHECK(all.take_over(*b, found.stream));
  } else {
    all.append(*a, fed, 3);
    all.until([&] { return (*b)->next_seq(found.stream) == 5; });
  }
  CHECK(b->lost_streams.empty());
  (*b)->unfollow(found.stream, reader);
}

TEST_CASE("who reads a stream that is gone from Redis is cut off") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  all.append(*a, fed, 2);
  const LookUp found = all.reads(*b, 2);
  Counter reader;
  (*b)->follow(found.stream, reader);
  a->kill();
  all.server.run({"DEL", "tidemark:{abc}:stream", "tidemark:{abc}:events:1000"});
  all.until([&] { return !b->lost_streams.empty(); });
  CHECK(b->lost_streams[0] == found.stream);
  CHECK_FALSE((*b)->contains(found.stream));
  CHECK(reader.changes > 0);
}

TEST_CASE("a wish reaches the replica that feeds the stream") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  const LookUp found = all.reads(*b, 0);
  (*b)->keep_fed(found.stream);
  (*b)->ask_to_stop(found.stream);
  all.until([&] { return !a->to_stop.empty(); });
  CHECK(a->to_stop == std::vector<StreamId>{fed});
  CHECK(a->wanted_streams == std::vector<StreamId>{fed});
}

TEST_CASE("a replica that leaves hands over what it has written and its lease") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  all.defaults.lease_ms = 60000;
  all.server.run({"CONFIG", "SET", "appendonly", "no"});
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  REQUIRE((*a)->append(fed, 0, Replicas::text(0)) == Append::Done);
  (*a)->leave();
  CHECK(all.server.run({"EXISTS", "tidemark:replica:" + std::string(31, '0') + "a"}) == "0");
  CHECK(all.events() == "1");
  CHECK_FALSE((*a)->reachable());
}

TEST_CASE("a process that was held up longer than its lease shows nothing before Redis has said whose the stream is") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const StreamId fed = *(*a)->open_shared("abc", claim(""));
  const bool taken = GENERATE(true, false);
  CAPTURE(taken);
  // Another process, on a loop of its own: this one's does not turn meanwhile.
  loop::Loop other_loop;
  RedisLogOptions options = all.defaults;
  options.replica = "0b";
  RedisLog b(other_loop, nullptr, options, all.logger);
  all.append(*a, fed, 2);
  all.until([&] { return all.events() == "2"; });
  std::optional<std::optional<Term>> term;
  const auto look = [&] {
    std::optional<LookUp> found;
    b.look_up("abc", std::nullopt, [&found](LookUp result) { found = std::move(result); });
    REQUIRE(testing::run_until(other_loop, [&] { return found.has_value(); }));
    return *found;
  };
  LookUp found;
  REQUIRE(testing::run_until(other_loop, [&] { return !(found = look()).fed && found.answer == Answer::Here; }));
  if (taken) {
    b.take_over(found.stream, [&term](std::optional<Term> result) { term = std::move(result); });
    REQUIRE(testing::run_until(other_loop, [&] { return term.has_value(); }));
    REQUIRE(*term);
  }
  REQUIRE((*a)->append(fed, 2, Replicas::text(2)) == Append::Done);
  bool shown = false;
  all.until([&] {
    shown |= read_all(**a, fed) == Replicas::texts(0, 3);
    return shown || !a->lost_streams.empty();
  });
  CHECK(shown != taken);
}

TEST_CASE("a name that became this process's without its knowing is free") {
  if (!testing::RedisServer::available()) return;
  Replicas all;
  const auto a = all.replica();
  const auto b = all.replica();
  const std::string owner = std::string(31, '0') + "a";
  // As when the connection is lost between a script and its reply.
  SECTION("claimed") {
    all.server.run({"HSET", "tidemark:{abc}:stream", "owner", owner, "epoch", "7", "digest", "d"});
    CHECK(all.look_up(*b, kClaim).answer == Answer::Claimed);
    const bool here = GENERATE(true, false);
    if (here) {
      CHECK(all.look_up(*a, kClaim).answer == Answer::Yours);
    } else {
      all.server.run({"XADD", "tidemark:replica:" + owner + ":asked", "*", "stop", "abc"});
      all.until([&] { return all.look_up(*b, kClaim).answer == Answer::Yours; });
    }
  }
  SECTION("taken over") {
    all.server.run({"HSET", "tidemark:{abc}:stream", "owner", owner, "epoch", "7", "digest", "d", "terms", "6:0 7:1"});
    all.server.run({"XADD", "tidemark:{abc}:events:6", "6-0", "e", "one"});
    const LookUp at_b = all.reads(*b, 1);
    CHECK(at_b.fed);
    const bool here = GENERATE(true, false);
    if (here) {
      const LookUp at_a = all.reads(*a, 1);
      CHECK_FALSE(at_a.fed);
      const auto term = all.take_over(*a, at_a.stream);
      REQUIRE(term);
      CHECK(term->epoch == "8");
    } else {
      Counter reader;
      (*b)->follow(at_b.stream, reader);
      (*b)->keep_fed(at_b.stream);
      all.until([&] { return !b->left_streams.empty(); });
      CHECK(all.take_over(*b, at_b.stream));
      (*b)->unfollow(at_b.stream, reader);
    }
  }
}
