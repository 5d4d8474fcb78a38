// Streams through nginx and through haproxy, as deploy/ sets them up.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect as connect2 } from "node:http2";
import { Agent, request } from "node:https";
import { after, before, describe, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { recordedText, textOfEvents } from "../e2e/stage.mjs";
import { missing, openHaproxy, openNginx, openSite, secrets, until } from "./site.mjs";

const { recoverStream } = await import(new URL("../../web/dist/index.js", import.meta.url));

const headers = { Authorization: `Bearer ${secrets.CHAT_TOKEN}`, "Content-Type": "application/json" };
const question = { model: "simulated", stream: true, messages: [{ role: "user", content: "What moves the tides?" }] };
const body = JSON.stringify(question);
const path = "/v1/chat/completions";
// Of an answer's 50 kB: less than any buffer holds back.
const fewBytes = 1500;
const midwayBytes = 12000;

let site;
let recorded;
before(async () => {
  if (missing("redis-server")) return;
  site = await openSite();
  recorded = await recordedText(site.upstream.address);
});
after(() => site?.close());

/** What each replica says in its status. */
const told = async (what) => (await Promise.all(site.replicas.map((replica) => replica.status()))).map(what);
const readers = async () => (await told((status) => status.readers)).reduce((sum, count) => sum + count);
const post = (front, more = {}) => fetch(front.address + path, { method: "POST", headers: { ...headers, ...more.headers }, body, ...more.options });

for (const [name, open] of Object.entries({ nginx: openNginx, haproxy: openHaproxy })) {
  describe(`through ${name}`, { skip: missing("redis-server") || missing(name), timeout: 60000 }, () => {
    let front;
    before(async () => {
      front = await open(site);
    });
    after(() => site.go());

    test("an event is there when the model has said it, packed for nobody", async () => {
      const held = site.holdAfter(fewBytes);
      const response = await post(front, { headers: { "Accept-Encoding": "gzip" } });
      assert.equal(response.headers.get("content-encoding"), null);
      assert.equal(response.headers.get("x-accel-buffering"), "no");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let events = "";
      while (textOfEvents(events.slice(0, events.lastIndexOf("\n\n") + 1)) === "") events += (await reader.read()).value;
      await held;
      assert.ok(events.length < 3 * fewBytes);
      site.go();
      for (let read; !(read = await reader.read()).done; ) events += read.value;
      assert.equal(textOfEvents(events), recorded);
      assert.match(events, /: tidemark end=complete reason=terminal-marker\n\n$/);
    });

    test("by HTTP/2, too", async () => {
      const held = site.holdAfter(fewBytes);
      const session = connect2(front.address, { ca: readFileSync(process.env.TIDEMARK_CERTIFICATE) });
      const stream = session.request({ ":method": "POST", ":path": path, authorization: headers.Authorization, "content-type": "application/json" });
      stream.setEncoding("utf8").end(body);
      let events = "";
      for await (const text of stream) {
        if (!events.includes('"content":"') && (events + text).includes('"content":"')) {
          await held;
          site.go();
        }
        events += text;
      }
      assert.equal(session.alpnProtocol, "h2");
      session.close();
      assert.equal(textOfEvents(events), recorded);
    });

    test("while the model is silent, the connection is kept by comments", async () => {
      const held = site.holdAfter(fewBytes);
      const response = await post(front);
      await held;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let events = "";
      while (events.split(": keepalive\n\n").length <= 3) events += (await reader.read()).value;
      site.go();
      for (let read; !(read = await reader.read()).done; ) events += read.value;
      assert.equal(textOfEvents(events), recorded);
    });

    test("a reader that goes away is gone for the replica", async () => {
      const leaving = new AbortController();
      const held = site.holdAfter(fewBytes);
      const response = await post(front, { headers: { "Idempotency-Key": `left-by-${name}` }, options: { signal: leaving.signal } });
      await response.body.getReader().read();
      await held;
      assert.equal(await readers(), 1);
      leaving.abort();
      await until(async () => (await readers()) === 0);
      site.go();
    });

    test("so is one that has not been answered yet", async () => {
      const leaving = new AbortController();
      const waiting = async () => (await told(({ streams }) => streams.waiting)).some((count) => count > 0);
      const answer = post(front, { headers: { "X-Simulate": "silence" }, options: { body: JSON.stringify({ ...question, user: name }), signal: leaving.signal } });
      await until(waiting);
      leaving.abort();
      await assert.rejects(answer, { name: "AbortError" });
      await until(async () => !(await waiting()));
    });

    test("a request of 31 MiB passes, one of 33 MiB is 413", async () => {
      const sized = (size) => JSON.stringify({ ...question, messages: [{ role: "user", content: "x".repeat(size << 20) }] });
      const large = await post(front, { options: { body: sized(31) } });
      assert.equal(large.status, 200);
      assert.equal(textOfEvents(await large.text()), recorded);
      assert.equal(await statusOfLarge(front, sized(33)), 413);
    });

    test("who comes back comes to the same replica, by the request and by its name", async () => {
      const keys = Array.from({ length: 8 }, (_, i) => `the-same-${name}/${i}`);
      const ask = (key) => post(front, { headers: { "Idempotency-Key": key } });
      await Promise.all(keys.map(async (key) => (await ask(key)).text()));
      const before = await told(({ log }) => log.streams);
      for (const key of keys) {
        const again = await ask(key);
        assert.equal(again.headers.get("tidemark-resumed"), "true");
        assert.equal(textOfEvents(await again.text()), recorded);
        const followed = await fetch(`${front.address}/tidemark/streams/${encodeURIComponent(key)}`, { headers: { ...headers, Accept: "text/event-stream" } });
        assert.equal(textOfEvents(await followed.text()), recorded);
      }
      assert.deepEqual(await told(({ log }) => log.streams), before);
    });

    test("answers are spread over the replicas", async () => {
      const attempts = () => told(({ upstreams }) => upstreams[0].attempts);
      const before = await attempts();
      await until(async () => {
        await (await post(front)).body.cancel();
        return (await attempts()).every((count, i) => count > before[i]);
      });
    });

    test("of the proxy's own pages there is readyz, and the answers by name", async () => {
      assert.equal((await fetch(`${front.address}/tidemark/readyz`)).status, 200);
      const host = new URL(front.address).host;
      const forms = (page) => [page, `${page}?a=b`, `/${page}`, `/v1/..${page}`, `/v1/%2e%2e${page}`, page.replace("m", "%6d"), `https://${host}${page}`, page.replace("mark/", "mark//")];
      for (const page of ["/tidemark/metrics", "/tidemark/status", "/tidemark/healthz"]) {
        // What is there to be hidden.
        assert.equal((await site.replicas[0].get(page)).status, 200);
        for (const target of forms(page)) {
          const answer = await rawGet(front, target);
          assert.doesNotMatch(answer, /^HTTP\/1.1 2/, target);
          assert.doesNotMatch(answer, /tidemark_|draining/, target);
        }
      }
    });

    test("its log names no answer, and nothing that stands in a query", async () => {
      await rawGet(front, "/tidemark/streams/a-name-that-is-a-secret");
      await rawGet(front, "/v1beta/models/m:generateContent?key=a-key-in-the-query");
      await until(() => front.access().includes("/v1beta/models/m:generateContent"));
      assert.match(front.access(), /GET \/tidemark\/streams\/ 404/);
      assert.doesNotMatch(front.access(), /secret|a-key-in|the-same/);
    });

    test("Redis has refused the replicas nothing", () => assert.deepEqual(site.redis.refusals(), []));
  });
}

/** The status of a request that is refused before it is all there. */
function statusOfLarge(front, text) {
  return new Promise((resolve, reject) => {
    const sent = request(front.address + path, { method: "POST", headers: { ...headers, "Content-Length": text.length }, ca: readFileSync(process.env.TIDEMARK_CERTIFICATE), agent: new Agent() });
    sent.on("response", (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

/** What a GET is answered whose target no client library would send. */
function rawGet(front, target) {
  const { hostname: host, port } = new URL(front.address);
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connectTls({ host, port, ca: readFileSync(process.env.TIDEMARK_CERTIFICATE) }, () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${headers.Authorization}\r\nConnection: close\r\n\r\n`);
    });
    socket.on("data", (bytes) => (answer += bytes)).on("end", () => resolve(answer)).on("error", reject);
  });
}
