// What became of the streams of a run, and whether the model was asked too often.

// As long as a connection that is over may seem open: its end and the next one's beginning come by different sockets.
const sameTimeMs = 100;

/**
 * `requests`: the upstream's, by stream. `kills`: when, in ms since 1970, sorted. `faults` are sentences about requests that should
 * not have been: more than one for each life of a process that the stream has seen (an empty continuation is repeated once:
 * contract § 4, rule 3), or two at a time.
 */
export function tally(streams, requests, kills) {
  const faults = [];
  const sum = { streams: streams.length, complete: 0, truncated: 0, faulty: 0, requests: 0, takeovers: 0, begunAgain: 0, emptyContinuations: 0, readerAttempts: 0, events: 0 };
  const reasons = {};
  for (const { number, from, to, stream, end, reason, attempts, told, events, faults: own } of streams) {
    const asked = requests.get(number) ?? [];
    if (own.length > 0) ++sum.faulty;
    else ++sum[end];
    if (end === "truncated") reasons[reason] = (reasons[reason] ?? 0) + 1;
    sum.requests += asked.length;
    sum.readerAttempts += attempts;
    sum.events += events;
    const empty = (told?.seam_list ?? []).filter(({ verdict }) => verdict === "empty").length;
    const takeovers = (told?.attempts ?? 1) - 1 - empty;
    sum.takeovers += takeovers;
    sum.emptyContinuations += empty;
    // Those of which no log knows: the process was killed before there was anything to keep.
    sum.begunAgain += Math.max(0, asked.length - 1 - takeovers - empty);
    const within = kills.filter((at) => at >= from && at <= to);
    const history = () =>
      `stream ${number} (${stream}, told ${told?.attempts} attempts), ms from its beginning: asked ${asked.map((each) => `${each.from - from} to ${(each.to ?? NaN) - from} (${each.error ?? each.status}${each.whole ? ", whole" : ""})`).join(", ")}; kills at ${within.map((at) => at - from).join(", ")}`;
    if (asked.length > 1 + within.length + empty) faults.push(`${asked.length} upstream requests for ${within.length} kills: ${history()}`);
    if (asked.some((each, i) => i > 0 && !(asked[i - 1].to <= each.from + sameTimeMs))) faults.push(`two upstream requests at a time: ${history()}`);
  }
  return { ...sum, reasons, faults };
}
