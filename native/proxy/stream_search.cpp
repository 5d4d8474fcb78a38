// Look-ups under way, by name.
#include "native/proxy/stream_search.hpp"

#include <algorithm>
#include <utility>

#include "native/proxy/random_name.hpp"
#include "native/proxy/stream_facts.hpp"

namespace tidemark::proxy {
namespace {

using Answer = Sought::Answer;

// A stream that another replica is about to begin: when to look again.
constexpr TimeMs kAskAgainMs = 100;

log::SharedLog::Claim claim_of(const Seeker& seeker, std::int64_t unix_now_ms) {
  Stream stream;
  stream.principal = seeker.principal;
  stream.id = seeker.id;
  stream.terms.push_back({draw_number_epoch(), 0});
  stream.request = *seeker.request;
  stream.dialect = seeker.dialect;
  stream.created_unix_ms = unix_now_ms;
  return {stream.epoch(), tls::to_hex(stream.request), to_facts(stream, nullptr, {})};
}

void tell(Seeker& seeker, const std::shared_ptr<Stream>& stream) {
  const bool reused = seeker.request && *seeker.request != stream->request;
  seeker.done(reused ? Sought{Answer::Reused} : Sought{Answer::Found, stream});
}

void tell_all(std::vector<Seeker>& seekers, Answer answer) {
  for (Seeker& seeker : seekers) seeker.done({answer});
}

}  // namespace

std::string shared_name(std::string_view principal, std::string_view id) {
  return tls::to_hex(tls::sha256({principal, std::string_view("\0", 1), id}));
}

void StreamSearch::seek(Seeker seeker) {
  if (seeker.exchange->closed()) return;
  if (const auto stream = context_.registry.find(seeker.principal, seeker.id)) return tell(seeker, stream);
  const std::string name = shared_name(seeker.principal, seeker.id);
  const auto [search, first] = searches_.try_emplace(name);
  search->second.seekers.push_back(std::move(seeker));
  if (first) ask(name);
}

void StreamSearch::ask(const std::string& name) {
  Search& search = searches_.at(name);
  search.claim.reset();
  for (const Seeker& seeker : search.seekers) {
    if (!seeker.begins || seeker.exchange->closed()) continue;
    search.claim = claim_of(seeker, context_.loop.unix_now_ms());
    break;
  }
  context_.shared->look_up(name, search.claim, [this, name](log::LookUp found) { answered(name, std::move(found)); });
}

void StreamSearch::answered(const std::string& name, log::LookUp found) {
  Search search = std::move(searches_.extract(name).mapped());
  std::vector<Seeker>& seekers = search.seekers;
  seekers.erase(
      std::remove_if(seekers.begin(), seekers.end(), [](const Seeker& seeker) { return seeker.exchange->closed(); }),
      seekers.end());
  switch (found.answer) {
    case log::LookUp::Answer::Yours:
      return claimed_for_us(name, std::move(search));
    case log::LookUp::Answer::Claimed:
      return claimed_elsewhere(name, std::move(search), found);
    case log::LookUp::Answer::Here: {
      if (seekers.empty()) return;
      const auto stream = adopt_(seekers.front(), std::move(found));
      if (!stream) return tell_all(seekers, Answer::Away);
      for (Seeker& seeker : seekers) tell(seeker, stream);
      return;
    }
    case log::LookUp::Answer::Unknown:
      for (Seeker& seeker : seekers) {
        // Who would begin it came after the question had gone out.
        if (seeker.begins) {
          seek(std::move(seeker));
        } else {
          seeker.done({Answer::Absent});
        }
      }
      return;
    case log::LookUp::Answer::Unreachable:
      return tell_all(seekers, Answer::Away);
    case log::LookUp::Answer::NoRoom:
      return tell_all(seekers, Answer::Full);
  }
}

void StreamSearch::claimed_for_us(const std::string& name, Search search) {
  std::vector<Seeker>& seekers = search.seekers;
  const auto who = std::find_if(seekers.begin(), seekers.end(), [&search](const Seeker& seeker) {
    return seeker.begins && tls::to_hex(*seeker.request) == search.claim->digest;
  });
  if (who == seekers.end()) {
    context_.shared->release(name);
  } else {
    const Seeker first = std::move(*who);
    seekers.erase(who);
    first.done({Answer::Free, nullptr, search.claim->epoch});
  }
  for (Seeker& seeker : seekers) seek(std::move(seeker));
}

void StreamSearch::claimed_elsewhere(const std::string& name, Search search, const log::LookUp& found) {
  Search waiting;
  for (Seeker& seeker : search.seekers) {
    if (seeker.unopened == Seeker::Unopened::Stop) context_.shared->ask_to_stop(name, found.owner);
    if (seeker.request && tls::to_hex(*seeker.request) != found.digest) {
      seeker.done({Answer::Reused});
    } else if (auto stream = seeker.unopened == Seeker::Unopened::Tell ? from_facts(found.facts) : nullptr) {
      seeker.done({Answer::Claimed, std::move(stream)});
    } else if (context_.loop.now_ms() >= seeker.give_up_at) {
      seeker.done({Answer::Away});
    } else {
      waiting.seekers.push_back(std::move(seeker));
    }
  }
  if (waiting.seekers.empty()) return;
  waiting.again = std::make_unique<loop::Timer>(context_.loop);
  waiting.again->set(context_.loop.now_ms() + kAskAgainMs, [this, name] { ask(name); });
  searches_.emplace(name, std::move(waiting));
}

}  // namespace tidemark::proxy
