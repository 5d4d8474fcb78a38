// What became of the streams of a run, and whether the model was asked too often.

// As long as a connection that is over may seem open: its end and the next one's beginning come by different sockets.
const sameTimeMs = 250;

/** Whether two upstream requests were answered at a time. One that its killed process never saw answered may come late. */
function atATime(asked) {
  const answered = asked.filter(({ status }) => status !== undefined);
  return answered.some(({ from }, i) => answered.slice(0, i).some(({ to }) => !(to <= from + sameTimeMs)));
}

/**
 * `streams` as startLoad() has them; `requests` the upstream's, by stream; `kills`: when, in ms since 1970; `outages` of the log:
 * from when to when. `faults` are sentences, about streams and about requests that should not have been: more than one for each
 * life of a process that the stream has seen (but an empty continuation is repeated once: contract § 4, rule 3), or two at a time.
 */
export function tally(streams, requests, kills, outages = []) {
  const faults = [];
  const sum = { streams: streams.length, complete: 0, truncated: 0, refused: 0, faulty: 0, others: 0, othersRefused: 0 };
  Object.assign(sum, { requests: 0, takeovers: 0, begunAgain: 0, emptyContinuations: 0, readerAttempts: 0, events: 0 });
  for (const stream of streams) {
    const became = outcome(stream, outages);
    ++sum[became];
    const say = (fault) => faults.push(`stream ${stream.number} (${stream.stream}): ${fault}`);
    if (became === "faulty") stream.faults.forEach(say);
    for (const other of stream.others) {
      const got = outcome({ ...stream, ...other }, outages);
      if (got === "faulty") other.faults.forEach((fault) => say(`${other.how}: ${fault}`));
      else if (got === "refused") ++sum.othersRefused;
      else if (became !== "refused" && (got !== became || (other.events !== stream.events && !within(outages, stream)))) {
        say(`${other.how}: ${got} after ${other.events} events, the first reader ${became} after ${stream.events}`);
      }
      ++sum.others;
    }
    sum.readerAttempts += stream.attempts;
    sum.events += stream.events;

    const asked = requests.get(stream.number) ?? [];
    const empty = (stream.told?.seam_list ?? []).filter(({ verdict }) => verdict === "empty").length;
    const takeovers = (stream.told?.attempts ?? 1) - 1 - empty;
    sum.requests += asked.length;
    sum.takeovers += takeovers;
    sum.emptyContinuations += empty;
    // Those of which no log knows: the process was killed before there was anything to keep.
    sum.begunAgain += Math.max(0, asked.length - 1 - takeovers - empty);

    const deaths = kills.filter((at) => at >= stream.from && at <= stream.to);
    // Nor has the proxy always lived to say that an answer was empty: all that is asked after the end was sent is.
    const ended = asked.findIndex(({ whole }) => whole);
    const repeated = Math.max(empty, ended < 0 ? 0 : asked.length - 1 - ended);
    if (asked.length > 1 + deaths.length + repeated) {
      faults.push(`${asked.length} upstream requests for ${deaths.length} kills: ${history(stream, asked, deaths)}`);
    }
    if (atATime(asked)) {
      faults.push(`two upstream requests at a time: ${history(stream, asked, deaths)}`);
    }
  }
  return { ...sum, faults };
}

/** The log was away in that time. */
const within = (outages, { from, to }) => outages.find((outage) => outage.from <= to && outage.to >= from);

// What readers are told of what is gone; where the log has come back empty, more is.
const lost = ["resume_ahead", "resume_mismatch"];
const forgotten = [...lost, "resume_expired", "stream_not_found"];

/** What a replica showed from memory while the log was away died with it: then its readers are told so, and that is `refused`. */
function outcome({ from, to, end, code, faults }, outages) {
  const away = within(outages, { from, to });
  if (away && (away.empty ? forgotten : lost).includes(code)) return "refused";
  return faults.length > 0 ? "faulty" : end;
}

function history({ number, stream, from, told }, asked, kills) {
  const legs = asked.map((leg) => `${leg.from - from} to ${leg.to - from} (${leg.error ?? leg.status}${leg.whole ? ", whole" : ""})`);
  const deaths = kills.map((at) => at - from);
  return `stream ${number} (${stream}, told ${told?.attempts} attempts), ms from its beginning: asked ${legs.join(", ")}; kills at ${deaths.join(", ")}`;
}
