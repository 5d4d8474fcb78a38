// Replicas that are told to stop, or are gone, behind nginx and behind haproxy.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openLine } from "../e2e/line.mjs";
import { recordedText } from "../e2e/stage.mjs";
import { missing, openHaproxy, openNginx, openSite, secrets, until } from "./site.mjs";

const { recoverStream } = await import(new URL("../../web/dist/index.js", import.meta.url));

const path = "/v1/chat/completions";
const headers = { Authorization: `Bearer ${secrets.CHAT_TOKEN}` };
const body = { model: "simulated", stream: true, messages: [{ role: "user", content: "What moves the tides?" }] };
// Of an answer's 50 kB, and more than 200 characters of its text.
const midwayBytes = 12000;

let site;
let recorded;
before(async () => {
  if (missing("redis-server")) return;
  site = await openSite();
  recorded = await recordedText(site.upstream.address);
});
after(() => site?.close());

/** In the middle of an answer, where it stays until go(); `rest` is over when the answer is, `replica` feeds it. */
async function midway(address) {
  const held = site.holdAfter(midwayBytes);
  const answer = recoverStream(address + path, { body, headers });
  const rest = (async () => {
    for await (const event of answer) assert.ok(event);
  })();
  rest.catch(() => {});
  const replica = await held;
  while (answer.text.length < 200) await new Promise(setImmediate);
  return { answer, rest, replica };
}

const page = async (front, { stream }) => (await fetch(`${front.address}/tidemark/streams/${stream}`, { headers })).json();
const attempts = async (replica) => (await replica.status()).upstreams[0].attempts;
const ready = () => Promise.all(site.replicas.map((replica) => replica.isReady()));
const states = (front) => Promise.all(site.replicas.map((replica) => front.state(replica)));

/** New requests, of which none may be refused. */
async function askOften(front) {
  for (let i = 0; i < 10; ++i) {
    const answer = await fetch(front.address + path, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 200);
    await answer.body.cancel();
  }
}

for (const [name, open] of Object.entries({ nginx: openNginx, haproxy: openHaproxy })) {
  describe(`behind ${name}`, { skip: missing("redis-server") || missing(name), timeout: 60000 }, () => {
    let front;
    before(async () => {
      front = await open(site);
    });

    test("a replica that is not there is not missed", async () => {
      await site.replicas[0].process.kill();
      await askOften(front);
      await site.replicas[0].restart();
    });

    test("a replica is killed: its readers go on through the other one", async () => {
      const { answer, rest, replica } = await midway(front.address);
      await replica.process.kill();
      await rest;
      site.go();
      assert.equal(answer.text, recorded);
      assert.equal(answer.end, "complete");
      const { attempts, seams } = await page(front, answer);
      assert.deepEqual([attempts, seams], [2, 1]);
      await replica.restart();
    });

    test("the other replica gives an answer that this one is getting, and stops it", async () => {
      const { answer, rest, replica } = await midway(front.address);
      const other = site.replicas.find((each) => each !== replica);
      const followed = recoverStream(`${other.address}/tidemark/streams/${answer.stream}`, { headers });
      for await (const event of followed) {
        assert.ok(event);
        if (followed.text.length >= answer.text.length) break;
      }
      assert.ok(recorded.startsWith(followed.text));
      await fetch(`${other.address}/tidemark/streams/${answer.stream}`, { method: "DELETE", headers });
      await rest;
      assert.equal(answer.end, "stopped");
      site.go();
    });

    // Redis forgets them with the next test.
    test("Redis has refused the replicas nothing", () => assert.deepEqual(site.redis.refusals(), []));

    test("Redis is gone: who comes back finds the replica that has the answer, and what has no key is answered", async () => {
      if (name === "haproxy") await until(async () => (await states(front)).every((state) => state === "UP"));
      const line = await openLine(front.address);
      const { answer, rest } = await midway(line.address.replace("http:", "https:"));
      await site.redis.process.kill();
      await until(async () => (await ready()).every((is) => !is));
      if (name === "haproxy") await until(async () => (await states(front)).every((state) => state === "DOWN"));
      line.cut();
      site.go();
      await rest;
      await askOften(front);
      line.close();
      assert.equal(answer.text, recorded);
      assert.equal(answer.end, "complete");
      await site.redis.start();
      await until(async () => (await ready()).every((is) => is));
      assert.equal((await page(front, answer)).attempts, 1);
    });

    test("a replica is taken out, drains and is started again: no request is refused, and its readers read to the end", async () => {
      const { answer, rest, replica } = await midway(front.address);
      await front.takeOut(replica);
      await until(async () => {
        const before = await attempts(replica);
        await askOften(front);
        return (await attempts(replica)) === before;
      });
      const stopped = replica.process.stop();
      await until(async () => !(await replica.isReady()));
      await askOften(front);
      site.go();
      await rest;
      assert.equal(answer.text, recorded);
      assert.equal(answer.end, "complete");
      assert.equal((await page(front, answer)).attempts, 1);
      await stopped;
      await askOften(front);
      await replica.restart();
      await front.takeBack(replica);
    });

    if (name !== "haproxy") return;
    test("it sees by readyz that a replica drains", async () => {
      await until(async () => (await states(front)).every((state) => state === "UP"));
      const { rest, replica } = await midway(front.address);
      const stopped = replica.process.stop();
      await until(async () => (await front.state(replica)).startsWith("DOWN"));
      await askOften(front);
      site.go();
      await rest;
      await stopped;
      await replica.restart();
      await until(async () => (await front.state(replica)) === "UP");
    });
  });
}
