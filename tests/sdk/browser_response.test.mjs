// What createRecoveringFetch() resolves with in Chromium is a Response as fetch's own: read, cloned, cancelled and aborted
// like one.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { noBrowser, openBrowser, openSite } from "./browser_site.mjs";
import { openLine } from "./line.mjs";
import { openStage } from "./stage.mjs";

describe("a response in Chromium", { skip: noBrowser }, () => {
  const open = [];
  let stage, site, browser;
  before(async () => {
    const config = { cors: { allow_origins: ["*"] } };
    [stage, browser] = await Promise.all([openStage({ proxies: 1, config }), openBrowser()]);
    site = await openSite();
    open.push(browser, site, stage);
  });
  after(() => Promise.all(open.map((each) => each.close())));

  const inPage = (run, ...given) => browser.withPage(site.address, (_, page) => page.evaluate(run, given));

  it("is read in every way, over a cut, with the first leg's head", async () => {
    const line = await openLine(stage.addresses[0], [
      { after: 3000, how: "reset" },
      { after: 0, how: "reset" },
      { after: 2500, how: "end" },
    ]);
    try {
      const seen = await inPage(
        async ([origin, flawless]) => {
          const ask = async (at, key, options) => {
            const response = await createRecoveringFetch({ firstRetryDelayMs: 5, ...options })(
              `${at}/v1/chat/completions`,
              {
                method: "POST",
                headers: { "Content-Type": "application/json", "Idempotency-Key": key },
                body: JSON.stringify({ stream: true, model: "m", messages: [] }),
              },
            );
            return response;
          };
          const whole = await (await ask(flawless, "an-answer-to-be-read-1")).text();
          // The same answer: what follows attaches to it.
          const response = await ask(origin, "an-answer-to-be-read-1");
          const [copy, other] = [response.clone(), response.clone()];
          const { status, ok, url, redirected, bodyUsed } = response;
          const reader = response.body.getReader({ mode: "byob" });
          const decoder = new TextDecoder();
          let read = "";
          for (let size = 1; ; size = (size * 7) % 1024) {
            const { done, value } = await reader.read(new Uint8Array(size));
            if (done) break;
            read += decoder.decode(value, { stream: true });
          }
          const texts = [read, await copy.text(), await (await other.blob()).text()];
          return {
            same: texts.map((text) => text === whole),
            head: { status, ok, url, redirected, bodyUsed, after: response.bodyUsed },
            named: response.headers.get("Tidemark-Stream"),
          };
        },
        line.address,
        stage.addresses[0],
      );
      assert.deepEqual(seen, {
        same: [true, true, true],
        head: {
          status: 200,
          ok: true,
          url: `${line.address}/v1/chat/completions`,
          redirected: false,
          bodyUsed: false,
          after: true,
        },
        named: "an-answer-to-be-read-1",
      });
      assert.equal(line.posts, 4);
    } finally {
      await line.close();
    }
  });

  /** Till the proxy has nobody who reads this stream. */
  async function unread(key) {
    for (;;) {
      const headers = { Accept: "application/json" };
      const { readers } = await (await fetch(`${stage.addresses[0]}/tidemark/streams/${key}`, { headers })).json();
      if (readers === 0) return;
    }
  }

  for (const [nth, [name, leave]] of Object.entries({
    "its body's cancel()": "response.body.cancel().then(() => 'left')",
    "a reader's cancel() while it waits":
      "(async () => { const reader = response.body.getReader(); await reader.read(); const waiting = reader.read(); await reader.cancel(); return (await waiting).done && 'left' })()",
    "an abort, without a reason":
      "(controller.abort(), response.body.getReader().read().catch(({ name }) => name === 'AbortError' && 'left'))",
    "an abort, with one": "(controller.abort('left'), response.body.getReader().read().catch((reason) => reason))",
    // Of a body that is no network's, Chromium's text() and its like say no more than that.
    "an abort, told by text()":
      "(controller.abort('why'), response.text().catch(({ message }) => message === 'Failed to fetch' && 'left'))",
  }).entries()) {
    it(`is left by ${name}: the proxy has no reader any more`, async () => {
      const key = `an-answer-to-be-left-${nth}`;
      const said = await inPage(
        async ([origin, name, how]) => {
          const controller = new AbortController();
          const { signal } = controller;
          const response = await createRecoveringFetch()(`${origin}/v1/chat/completions`, {
            method: "POST",
            headers: { "Content-Type": "application/json", "Idempotency-Key": name, "X-Simulate": "stall-after=12" },
            body: JSON.stringify({ stream: true, model: name, messages: [] }),
            signal,
          });
          return new Function("response", "controller", `return ${how}`)(response, controller);
        },
        stage.addresses[0],
        key,
        leave,
      );
      assert.equal(said, "left");
      await unread(key);
    });
  }

  it("is rejected with the signal's reason before its head", async () => {
    const silent = createServer((request, response) => {
      response.setHeader("Access-Control-Allow-Origin", "*").setHeader("Access-Control-Allow-Headers", "*");
      if (request.method === "OPTIONS") response.end();
      else silent.emit("asked");
    }).listen(0, "127.0.0.1");
    try {
      await browser.withPage(site.address, async (_, page) => {
        const asked = once(silent, "asked");
        await page.evaluate((origin) => {
          globalThis.controller = new AbortController();
          const init = {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: '{"stream":true}',
            signal: controller.signal,
          };
          globalThis.failed = createRecoveringFetch()(origin, init).catch((error) => [
            error instanceof DOMException,
            error.name,
          ]);
        }, `http://127.0.0.1:${silent.address().port}`);
        await asked;
        assert.deepEqual(await page.evaluate(() => (controller.abort(), failed)), [true, "AbortError"]);
      });
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  it("holds the network up while nobody reads", async () => {
    // More than all buffers hold.
    const data = `data: {"choices":[{"index":0,"delta":{"content":"${"x".repeat(1 << 20)}"}}]}\n\n`;
    const all = 400;
    let poured = 0;
    const pouring = createServer(async (request, response) => {
      response.setHeader("Access-Control-Allow-Origin", "*").setHeader("Access-Control-Allow-Headers", "*");
      if (request.method !== "POST") return response.end();
      response.setHeader("Content-Type", "text/event-stream");
      for (; poured < all && !response.destroyed; ++poured)
        if (!response.write(data)) await once(response, "drain").catch(() => {});
    }).listen(0, "127.0.0.1");
    try {
      await browser.withPage(site.address, async (_, page) => {
        await page.evaluate(async (origin) => {
          const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"stream":true}' };
          const response = await createRecoveringFetch()(`${origin}/v1/chat/completions`, init);
          globalThis.reader = response.body.getReader();
          await reader.read();
          globalThis.elsewhere = async () => {
            for (let i = 0; i < 50; ++i) await (await fetch(origin)).text();
          };
        }, `http://127.0.0.1:${pouring.address().port}`);
        // Whoever wanted to go on has had its turns when so many others have come and gone.
        for (let before; before !== poured;) {
          before = poured;
          await page.evaluate(() => elsewhere());
        }
        assert.ok(poured < all / 2, `${poured} of ${all} were taken`);
        await page.evaluate(() => reader.cancel());
      });
    } finally {
      pouring.closeAllConnections();
      pouring.close();
    }
  });
});
