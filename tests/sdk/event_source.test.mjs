// @microsoft/fetch-event-source with createRecoveringFetch(), in Node: with the two objects of a page that it asks for.
import { after, before, describe } from "node:test";
import { recorded } from "./ask.mjs";
import { listen } from "./event_source.mjs";
import { eventSourceTests } from "./event_source_seen.mjs";
import { openStage } from "./stage.mjs";

globalThis.window = globalThis;
globalThis.document = new EventTarget();

describe("fetchEventSource in Node", () => {
  let quick, paced, says;
  before(async () => {
    [quick, paced] = await Promise.all([openStage({ proxies: 1 }), openStage({ proxies: 0, interval: 20 })]);
    says = await recorded(quick);
  });
  after(() => Promise.all([quick?.close(), paced?.close()]));
  const stage = () => ({ upstream: quick.upstream, paced: paced.upstream, proxy: quick.addresses[0], says });
  eventSourceTests(stage, (asked) => Promise.all(asked.map(({ site, ...asking }) => listen(site, asking))));
});
